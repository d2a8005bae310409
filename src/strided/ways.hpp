#pragma once

#include "core/job/job.hpp"
#include "core/one_sided/device.hpp"
#include "strided/noncontiguous.hpp"

namespace rma {

/// The objects that carry noncontiguous transfers.
struct Ways {
  Job& job;
  Device& device;
  Noncontiguous* noncontiguous;  ///< null if there is no helper; then transfers to other hosts go by segments
};

}  // namespace rma
