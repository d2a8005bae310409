#pragma once

#include <ISO_Fortran_binding.h>

#include "util/status.hpp"

namespace rma::fortran {

/// Where a Fortran caller wants to hear how its call ended: the dummy arguments `stat` and `errmsg`, either
/// of which may be absent (null).
struct Listener {
  int* stat;
  CFI_cdesc_t* errmsg;
};

/// The failure of a call of the C interface that just ended in this thread, with its text; or success.
[[nodiscard]] Status outcome(rma_status_t status);

/// Ends a Fortran call as Fortran's own statements end: `stat` becomes the code, and on failure `errmsg` the
/// text, padded or cut. A failure that no `stat` is there to take ends the job with the text.
void conclude(const char* call, const Status& status, const Listener& listener);

/// conclude() for a call that does no more than one of the C interface, whose texts name themselves.
void conclude(rma_status_t status, const Listener& listener);

}  // namespace rma::fortran
