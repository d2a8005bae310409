#pragma once

#include "core/job/job.hpp"
#include "core/one_sided/device.hpp"
#include "strided/noncontiguous.hpp"

namespace rma {

/// How a noncontiguous transfer gets to where it goes.
struct Ways {
  Job& job;
  Device& device;
  Noncontiguous* noncontiguous;  ///< null where no helper reaches ranks of other hosts: then by segments
};

}  // namespace rma
