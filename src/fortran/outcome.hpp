#pragma once

#include <ISO_Fortran_binding.h>

#include "util/status.hpp"

namespace librma::fortran {

/// The dummy arguments `stat` and `errmsg`, through which a Fortran caller learns how its call ended. Either
/// may be absent (null).
struct Listener {
  int* stat;
  CFI_cdesc_t* errmsg;
};

/// Returns the Status of a call of the C interface that has just ended in this thread, with its error text.
[[nodiscard]] Status outcome(rma_status_t status);

/// Ends a Fortran call as Fortran's own statements end. Stores the code into `stat` and, after a failure, the
/// text into `errmsg`, padded or truncated. If there is no `stat`, a failure ends the job with the text.
void conclude(const char* call, const Status& status, const Listener& listener);

/// Does the same for a call that only makes one call of the C interface.
inline void conclude(const char* call, rma_status_t status, const Listener& listener) {
  conclude(call, outcome(status), listener);
}

}  // namespace librma::fortran
