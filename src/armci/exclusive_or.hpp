#pragma once

#include "armci.h"

namespace librma::armci {

/// The accumulate of ARMCI_ACC_RA: dst ^= src for each long, by an atomic of the runtime. There are
/// contiguous, strided and vector forms. The operation is complete when the function returns, and the result
/// is that of the call. These functions check all arguments, except for those that the strided and vector
/// calls check for every type.
[[nodiscard]] int exclusive_or(const void* src, void* dst, int bytes, int process, const char* call);
[[nodiscard]] int exclusive_or(void* src, const int* src_strides, void* dst, const int* dst_strides,
                               const int* counts, int levels, int process, const char* call);
[[nodiscard]] int exclusive_or(const armci_giov_t* list, int count, int process, const char* call);

/// Returns `result` for a nonblocking call whose operation is complete.
[[nodiscard]] inline int over(armci_hdl_t* handle, int result) {
  if (handle != nullptr) handle->operation = 0;
  return result;
}

}  // namespace librma::armci
