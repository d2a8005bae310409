#pragma once

#include <cstddef>

#include "rma/rma.h"

namespace librma::armci {

/// Translates an operator's name and an element type of message.h for the runtime.
struct Operator {
  /// The preparation of each element before the reduction. With it the runtime needs no operators of this
  /// kind, and a group of one process gets the same result as a larger group.
  enum class Prepare { nothing, absolute, truth };

  rma_reduction_t reduction = RMA_SUM;
  Prepare prepare = Prepare::nothing;
  rma_type_t type = RMA_INT;

  /// Ends the job if `name` is not an operator, or is not defined for the type.
  [[nodiscard]] static Operator of(const char* name, int type, const char* call);

  /// Prepares the elements, in place.
  void apply(void* elements, std::size_t count) const;
};

/// Returns the runtime's type for ARMCI_INT ... ARMCI_DOUBLE. Ends the job for any other number.
[[nodiscard]] rma_type_t element_type(int type, const char* call);

}  // namespace librma::armci
