#pragma once

#include "armci.h"

namespace rma::armci {

/// The accumulate of ARMCI_ACC_RA: dst ^= src, by longs, each an atomic of the runtime. Contiguous, strided,
/// of a list. Complete when they return, with what the calls return. `bytes` and all of the list and the
/// shape may be wrong but for what armci.h's strided and vector calls check alike.
[[nodiscard]] int exclusive_or(const void* src, void* dst, int bytes, int process, const char* call);
[[nodiscard]] int exclusive_or(void* src, const int* src_strides, void* dst, const int* dst_strides,
                               const int* counts, int levels, int process, const char* call);
[[nodiscard]] int exclusive_or(const armci_giov_t* list, int count, int process, const char* call);

/// `result`, of a nonblocking call whose operation is over.
[[nodiscard]] inline int over(armci_hdl_t* handle, int result) {
  if (handle != nullptr) handle->operation = 0;
  return result;
}

}  // namespace rma::armci
