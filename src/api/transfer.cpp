// Contiguous put and get. Each call first tries the usual case inline. All other cases, failures included,
// are in a separate function, so that the usual case saves no registers for them. `remote` is always the
// side in the memory of `rank`, whatever the direction.

#include <limits>

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/endings.hpp"
#include "core/one_sided/copy.hpp"
#include "core/one_sided/operation.hpp"
#include "rma/direct.h"
#include "util/try.hpp"

namespace librma {
namespace {

using transport::Direction;

/// Returns where the `bytes` bytes at `remote` of `rank` are mapped here, if the call only has to count and
/// copy them. Returns null in all other cases, for example for a wrong argument.
[[gnu::always_inline]] inline std::byte* usual_case(const void* remote, const void* local, std::size_t bytes,
                                                    int rank) {
  const Runtime* const runtime =
      current_runtime.load(std::memory_order_acquire);  // pairs with the store in rma_init
  if (runtime == nullptr || runtime->trace != nullptr || bytes == 0 || local == nullptr ||
      bytes > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(local)) {
    return nullptr;
  }
  return static_cast<std::byte*>(rma_direct_address(remote, bytes, rank));
}

template <Direction direction>
[[gnu::always_inline]] inline void count_bytes(std::size_t bytes) {
  count(direction == Direction::write ? Counter::put_bytes : Counter::get_bytes, bytes);
}

/// Moves data to or from `here`, where the rank's memory is mapped.
template <Direction direction>
[[gnu::always_inline]] inline void move_mapped(std::byte* here, void* local, std::size_t bytes, int rank) {
  count_bytes<direction>(bytes);
  if constexpr (direction == Direction::write) {
    count(Counter::put_direct);
    copy_bytes(here, local, bytes);
    rma_wake_after_store(rank);
  } else {
    count(Counter::get_direct);
    copy_bytes(local, here, bytes);
  }
}

/// Moves data to or from memory that is not mapped here.
template <Direction direction>
Status move_elsewhere(Runtime& runtime, void* remote, void* local, std::size_t bytes, int rank,
                      const Ending& ending) {
  if (ending.kind == Ending::Kind::implicit &&
      Operation::defer(*runtime.job, *runtime.remote_access, direction, rank, static_cast<std::byte*>(remote),
                       static_cast<std::byte*>(local), bytes)) {
    return {};
  }
  Operation operation(*runtime.job, *runtime.remote_access, rank);
  RMA_TRY(direction == Direction::write ? operation.put(remote, local, bytes)
                                        : operation.get(local, remote, bytes));
  return operation.end(ending);
}

/// Executes all other cases. `name` is the name of the call.
template <Direction direction>
[[gnu::noinline]] rma_status_t move_checked(const char* name, void* remote, void* local, std::size_t bytes,
                                            int rank, const Ending& ending) {
  return call(name, rank, bytes, [&](Runtime& runtime) -> Status {
    constexpr bool kIsPut = direction == Direction::write;
    RMA_TRY(check_ending(ending));
    RMA_TRY(check_transfer(runtime, kIsPut ? remote : local, kIsPut ? local : remote, bytes, rank));
    if (ending.kind == Ending::Kind::request) *ending.request = RMA_REQUEST_NULL;
    if (bytes == 0) return complete(ending);
    if (std::byte* const here = runtime.job->direct(remote, bytes, rank); here != nullptr) {
      move_mapped<direction>(here, local, bytes, rank);
      return complete(ending);
    }
    count_bytes<direction>(bytes);
    return move_elsewhere<direction>(runtime, remote, local, bytes, rank, ending);
  });
}

/// The ending is made for the other cases only, so that the usual case writes nothing to the stack.
template <Direction direction, Ending::Kind kind>
[[gnu::always_inline]] inline rma_status_t move_contiguous(const char* name, const void* remote,
                                                           const void* local, std::size_t bytes, int rank,
                                                           rma_request_t* request = nullptr) {
  auto* const own = const_cast<void*>(local);  // a source is only read
  if (std::byte* const here = usual_case(remote, local, bytes, rank);
      here != nullptr && (kind != Ending::Kind::request || request != nullptr)) [[likely]] {
    move_mapped<direction>(here, own, bytes, rank);
    if (kind == Ending::Kind::request) *request = kCompleteRequest;
    return RMA_SUCCESS;
  }
  return move_checked<direction>(name, const_cast<void*>(remote), own, bytes, rank,
                                 {.kind = kind, .request = request});
}

}  // namespace

extern "C" {

rma_status_t rma_put(void* dst, const void* src, size_t bytes, int rank) {
  return move_contiguous<Direction::write, Ending::Kind::blocking>(__func__, dst, src, bytes, rank);
}

rma_status_t rma_put_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request) {
  return move_contiguous<Direction::write, Ending::Kind::request>(__func__, dst, src, bytes, rank, request);
}

rma_status_t rma_put_nbi(void* dst, const void* src, size_t bytes, int rank) {
  return move_contiguous<Direction::write, Ending::Kind::implicit>(__func__, dst, src, bytes, rank);
}

rma_status_t rma_get(void* dst, const void* src, size_t bytes, int rank) {
  return move_contiguous<Direction::read, Ending::Kind::blocking>(__func__, src, dst, bytes, rank);
}

rma_status_t rma_get_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request) {
  return move_contiguous<Direction::read, Ending::Kind::request>(__func__, src, dst, bytes, rank, request);
}

rma_status_t rma_get_nbi(void* dst, const void* src, size_t bytes, int rank) {
  return move_contiguous<Direction::read, Ending::Kind::implicit>(__func__, src, dst, bytes, rank);
}

}  // extern "C"

}  // namespace librma
