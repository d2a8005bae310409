// Contiguous put and get. Each call first tries the usual case inline: 8 aligned bytes of mapped memory. All
// other cases, failures included, are in functions that the call jumps to, so that the usual case saves no
// registers for them. `remote` is the side in the memory of `rank`, of puts and of gets.

#include <limits>

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/endings.hpp"
#include "core/one_sided/copy.hpp"
#include "core/one_sided/operation.hpp"
#include "rma/direct.h"
#include "util/copy_word.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

using transport::Direction;

/// Returns where the `bytes` bytes at `remote` of `rank` are mapped here, if the call only has to count and
/// copy them. Returns null in all other cases, for example for a wrong argument.
[[gnu::always_inline]] inline std::byte* usual_case(const void* remote, const void* local, std::size_t bytes,
                                                    int rank) {
  // The messages exist as long as the runtime, and are not published if calls are traced.
  if (untraced_messages.load(std::memory_order_acquire) == nullptr ||  // pairs with the store in rma_init
      bytes == 0 || local == nullptr ||
      bytes > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(local)) {
    return nullptr;
  }
  return static_cast<std::byte*>(rma_direct_address(remote, bytes, rank));
}

template <Direction direction>
inline constexpr Counter kTransfers =
    direction == Direction::write ? Counter::put_direct : Counter::get_direct;
template <Direction direction>
inline constexpr Counter kBytes = direction == Direction::write ? Counter::put_bytes : Counter::get_bytes;

[[gnu::noinline]] rma_status_t wake_sleepers(int rank) {
  rma_wake(rank);
  return RMA_SUCCESS;
}

/// Wakes the threads that sleep until a store to memory of the rank (rma_wake_after_store), which this thread
/// has made. It is a jump, so its caller saves nothing.
[[gnu::always_inline]] inline rma_status_t wake_and_return(int rank) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(rma_direct.peers[rank].awaits_stores, __ATOMIC_RELAXED) != 0) [[unlikely]]
    return wake_sleepers(rank);
  return RMA_SUCCESS;
}

/// Copies data to or from `here`, where the rank's memory is mapped. The transfer is counted already.
template <Direction direction>
[[gnu::noinline]] rma_status_t copy_mapped_block(std::byte* here, void* local, std::size_t bytes, int rank) {
  if constexpr (direction == Direction::write) {
    copy_bytes(here, local, bytes);
    return wake_and_return(rank);
  } else {
    copy_bytes(local, here, bytes);
    return RMA_SUCCESS;
  }
}

/// Counts and copies for a thread that does not own the first place of counts.
template <Direction direction>
[[gnu::noinline]] rma_status_t move_and_count_elsewhere(std::byte* here, void* local, std::size_t bytes,
                                                        int rank) {
  count_elsewhere(kTransfers<direction>, 1);
  count_elsewhere(kBytes<direction>, bytes);
  return copy_mapped_block<direction>(here, local, bytes, rank);
}

/// Moves data to or from `here`, where the rank's memory is mapped, and counts that. It looks once which
/// thread this is, for both counters (as count() does).
template <Direction direction>
[[gnu::always_inline]] inline rma_status_t move_mapped(std::byte* here, void* local, std::size_t bytes,
                                                       int rank) {
  constexpr bool kIsPut = direction == Direction::write;
  if (!is_this_thread(first_thread_counts.owner.load(std::memory_order_relaxed))) [[unlikely]]
    return move_and_count_elsewhere<direction>(here, local, bytes, rank);
  first_thread_counts.add(kTransfers<direction>, 1);
  first_thread_counts.add(kBytes<direction>, bytes);
  if (!copy_word<std::uint64_t>(kIsPut ? here : local, kIsPut ? local : here, bytes))
    return copy_mapped_block<direction>(here, local, bytes, rank);
  return kIsPut ? wake_and_return(rank) : RMA_SUCCESS;
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
template <Direction direction, Ending::Kind kind>
[[gnu::noinline]] rma_status_t move_checked(const char* name, void* remote, void* local, std::size_t bytes,
                                            int rank, rma_request_t* request) {
  return call(name, rank, bytes, [&](Runtime& runtime) -> Status {
    const Ending ending = {.kind = kind, .request = request};
    constexpr bool kIsPut = direction == Direction::write;
    RMA_TRY(check_ending(ending));
    RMA_TRY(check_transfer(runtime, kIsPut ? remote : local, kIsPut ? local : remote, bytes, rank));
    if (ending.kind == Ending::Kind::request) *ending.request = RMA_REQUEST_NULL;
    if (bytes == 0) return complete(ending);
    if (std::byte* const here = runtime.job->direct(remote, bytes, rank); here != nullptr) {
      static_cast<void>(move_mapped<direction>(here, local, bytes, rank));
      return complete(ending);
    }
    count(kBytes<direction>, bytes);
    return move_elsewhere<direction>(runtime, remote, local, bytes, rank, ending);
  });
}

template <Direction direction, Ending::Kind kind>
[[gnu::always_inline]] inline rma_status_t move_contiguous(const char* name, const void* remote,
                                                           const void* local, std::size_t bytes, int rank,
                                                           rma_request_t* request = nullptr) {
  auto* const own = const_cast<void*>(local);  // a source is only read
  // In this branch the compiler knows the size, which makes three of the checks shorter.
  if (kind != Ending::Kind::request && bytes == sizeof(std::uint64_t)) [[likely]] {
    if (std::byte* const here = usual_case(remote, local, sizeof(std::uint64_t), rank); here != nullptr)
        [[likely]] {
      return move_mapped<direction>(here, own, sizeof(std::uint64_t), rank);
    }
    return move_checked<direction, kind>(name, const_cast<void*>(remote), own, bytes, rank, request);
  }
  if (std::byte* const here = usual_case(remote, local, bytes, rank);
      here != nullptr && (kind != Ending::Kind::request || request != nullptr)) [[likely]] {
    if (kind == Ending::Kind::request) *request = kCompleteRequest;
    return move_mapped<direction>(here, own, bytes, rank);
  }
  return move_checked<direction, kind>(name, const_cast<void*>(remote), own, bytes, rank, request);
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
