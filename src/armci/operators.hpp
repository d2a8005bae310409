#pragma once

#include <cstddef>

#include "rma/rma.h"

namespace rma::armci {

/// What an operator's name and an element type of message.h mean to the runtime.
struct Operator {
  /// What is done to each element first. The runtime then needs no operators of that kind, and a group of one
  /// process gets what larger ones get.
  enum class Prepare { nothing, absolute, truth };

  rma_reduction_t reduction = RMA_SUM;
  Prepare prepare = Prepare::nothing;
  rma_type_t type = RMA_INT;

  /// The job ends for what is none, or does not go with the type.
  [[nodiscard]] static Operator of(const char* name, int type, const char* call);

  /// Does what comes first, in place.
  void apply(void* elements, std::size_t count) const;
};

/// The runtime's name of ARMCI_INT ... ARMCI_DOUBLE; the job ends for anything else.
[[nodiscard]] rma_type_t element_type(int type, const char* call);

}  // namespace rma::armci
