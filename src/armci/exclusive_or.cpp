// The accumulate of ARMCI_ACC_RA.

#include "armci/exclusive_or.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "armci/errors.hpp"
#include "rma/rma.h"

namespace librma::armci {

int exclusive_or(const void* src, void* dst, int bytes, int process, const char* call) {
  if (bytes < 0 || static_cast<std::size_t>(bytes) % sizeof(std::uint64_t) != 0) return kBadSize;
  if (process < 0 || process >= rma_size()) return kBadProcess;
  if (bytes > 0 && (src == nullptr || dst == nullptr)) return kNullArgument;
  const auto* const from = static_cast<const std::byte*>(src);
  auto* const to = static_cast<std::byte*>(dst);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); i += sizeof(std::uint64_t)) {
    std::uint64_t operand = 0;
    std::memcpy(&operand, from + i, sizeof operand);
    const rma_status_t status =
        rma_atomic64(RMA_XOR, reinterpret_cast<std::uint64_t*>(to + i), operand, 0, nullptr, process);
    if (status != RMA_SUCCESS) return failure(status, call);
  }
  return 0;
}

int exclusive_or(void* src, const int* src_strides, void* dst, const int* dst_strides, const int* counts,
                 int levels, int process, const char* call) {
  if (levels == 0) return exclusive_or(src, dst, counts[0], process, call);
  const int outermost = levels - 1;
  if (counts[levels] < 0) return kBadSize;
  for (int i = 0; i < counts[levels]; ++i) {
    const int result =
        exclusive_or(static_cast<std::byte*>(src) + std::ptrdiff_t{i} * src_strides[outermost], src_strides,
                     static_cast<std::byte*>(dst) + std::ptrdiff_t{i} * dst_strides[outermost], dst_strides,
                     counts, outermost, process, call);
    if (result != 0) return result;
  }
  return 0;
}

int exclusive_or(const armci_giov_t* list, int count, int process, const char* call) {
  for (int i = 0; i < count; ++i) {
    const armci_giov_t& pieces = list[i];
    if (pieces.ptr_array_len > 0 && (pieces.src_ptr_array == nullptr || pieces.dst_ptr_array == nullptr)) {
      return kNullArgument;
    }
    for (int k = 0; k < pieces.ptr_array_len; ++k) {
      const int result =
          exclusive_or(pieces.src_ptr_array[k], pieces.dst_ptr_array[k], pieces.bytes, process, call);
      if (result != 0) return result;
    }
  }
  return 0;
}

}  // namespace librma::armci
