#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "transport/verbs/ports.hpp"

// Owning handles for the objects of libibverbs. The kernel refuses to destroy an object that another one
// uses. So declare an object before the objects that use it.

namespace librma::transport {

template <auto destroy>
struct Destroyer {
  template <typename Object>
  void operator()(Object* object) const {
    destroy(object);
  }
};

using ProtectionDomain = std::unique_ptr<ibv_pd, Destroyer<&ibv_dealloc_pd>>;
using EventChannel = std::unique_ptr<ibv_comp_channel, Destroyer<&ibv_destroy_comp_channel>>;
using CompletionQueue = std::unique_ptr<ibv_cq, Destroyer<&ibv_destroy_cq>>;
using SharedReceives = std::unique_ptr<ibv_srq, Destroyer<&ibv_destroy_srq>>;
using QueuePair = std::unique_ptr<ibv_qp, Destroyer<&ibv_destroy_qp>>;
using AddressHandle = std::unique_ptr<ibv_ah, Destroyer<&ibv_destroy_ah>>;
using MemoryRegion = std::unique_ptr<ibv_mr, Destroyer<&ibv_dereg_mr>>;

}  // namespace librma::transport
