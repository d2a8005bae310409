// Contiguous accumulate. A call has read its source when it returns, so its request is complete at once.

#include "atomics/accumulate.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/endings.hpp"
#include "atomics/types.hpp"
#include "core/one_sided/operation.hpp"
#include "rma/direct.h"
#include "util/try.hpp"

namespace librma {
namespace {

// Tables, because a choice among the types takes as long as a short accumulate.
constexpr auto kSizes =
    all_types<std::uint8_t>([](rma_type_t type) { return static_cast<std::uint8_t>(type_size(type)); });
constexpr auto kAlignments =
    all_types<std::uint8_t>([](rma_type_t type) { return static_cast<std::uint8_t>(type_alignment(type)); });

/// Does an accumulate in the usual case: all arguments are plainly right, there is no scale, and the memory
/// is mapped. Returns whether it is done.
[[gnu::always_inline]] inline bool accumulate_at_once(void* dst, const void* src, std::size_t elements,
                                                      rma_type_t type, const void* scale, int rank) {
  const Runtime* const runtime =
      current_runtime.load(std::memory_order_acquire);  // pairs with the store in rma_init
  if (runtime == nullptr || runtime->trace != nullptr || scale != nullptr || !valid_type(type) ||
      elements == 0 || elements > StripeLocks::kStripeBytes || src == nullptr) [[unlikely]]
    return false;
  const std::size_t bytes = elements * kSizes[static_cast<std::size_t>(type)];
  if (bytes > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(src)) [[unlikely]]
    return false;
  auto* const here = static_cast<std::byte*>(rma_direct_address(dst, bytes, rank));
  const std::uintptr_t alignment = kAlignments[static_cast<std::size_t>(type)];
  if (here == nullptr || (reinterpret_cast<std::uintptr_t>(dst) & (alignment - 1)) != 0) [[unlikely]]
    return false;
  return runtime->accumulator->accumulate_at_once(here, dst, src, bytes, type, rank);
}

/// Executes all other cases. `name` is the name of the call. It is not inlined, so that the usual case saves
/// no registers for it.
[[gnu::noinline]] rma_status_t accumulate(const char* name, void* dst, const void* src, std::size_t elements,
                                          rma_type_t type, const void* scale, int rank,
                                          const Ending& ending) {
  // The trace gets the number of bytes before the arguments are checked.
  const std::size_t bytes = valid_type(type) ? elements * type_size(type) : 0;
  return call(name, rank, bytes, [&](Runtime& runtime) RMA_INLINE_BODY -> Status {
    RMA_TRY(check_ending(ending));
    const auto execute = [&]() -> Status {
      RMA_TRY(check_accumulate(runtime, dst, src, elements, type, rank));
      if (elements == 0) return {};
      return runtime.accumulator->accumulate(dst, src, elements * type_size(type), type, scale, rank);
    };
    return complete(ending, execute());
  });
}

}  // namespace

extern "C" {

rma_status_t rma_acc(void* dst, const void* src, size_t count, rma_type_t type, const void* scale, int rank) {
  if (accumulate_at_once(dst, src, count, type, scale, rank)) [[likely]]
    return RMA_SUCCESS;
  return accumulate(__func__, dst, src, count, type, scale, rank, kBlocking);
}

rma_status_t rma_acc_nb(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                        int rank, rma_request_t* request) {
  return accumulate(__func__, dst, src, count, type, scale, rank, by(request));
}

rma_status_t rma_acc_nbi(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                         int rank) {
  if (accumulate_at_once(dst, src, count, type, scale, rank)) [[likely]]
    return RMA_SUCCESS;
  return accumulate(__func__, dst, src, count, type, scale, rank, kImplicit);
}

}  // extern "C"

}  // namespace librma
