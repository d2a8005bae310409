#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "util/background_thread.hpp"
#include "util/status.hpp"

namespace rma {

/// Addresses of this process, [begin, end).
struct AddressSpan {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] std::size_t bytes() const noexcept { return end - begin; }
  friend bool operator==(const AddressSpan&, const AddressSpan&) = default;
};

/// All addresses there are.
inline constexpr AddressSpan kEverywhere{0, std::numeric_limits<std::uintptr_t>::max()};

/// Notes when memory of this process stops being what it was: munmap, mmap over it, mremap, brk,
/// madvise(MADV_DONTNEED) and its like, by whichever thread and from inside whichever function.
///
/// It is a userfaultfd whose ranges are registered in write-protect mode without protecting anything, so that
/// no page fault ever changes and only the events about mappings arrive. The thread that unmaps is held by
/// the kernel until the event has been read. It may hold any lock, the allocator's for one, so the thread
/// that reads takes none, allocates nothing and only writes the range into a ring; when the ring is full it
/// notes kEverywhere.
///
/// The kernel sends no event for holes punched into a shared file, for shmdt, nor for shmat with SHM_REMAP
/// over other memory. Shared memory is therefore not for this watch (see PrivatePages).
///
/// **Why a note cannot be missed.** `settle()` returns P. Claim: for each watched range that the kernel took
/// away before settle() began, what take() gives to whoever has seen P includes it.
///
/// 1. The kernel raises a counter of the userfaultfd under the lock of the address space, before it changes
///    the mapping, and lowers it in the thread that unmaps, after the event was read and before the system
///    call returns. So whoever unmapped, or mapped anew what another thread is still busy unmapping, comes
///    after the raise. settle() asks for the counter (any request on memory answers EAGAIN while it is not
///    0) and goes on only at 0, which is after the lowering, and so after the read began.
/// 2. The reading thread makes `sequence_` odd before it reads and even after it has written the notes. By
///    1, settle() loads `sequence_` when it is at least that odd value: the reader's store, its system call,
///    the kernel's lock around the event, the lowering, our system call and our load are a chain. If it is
///    odd, settle() tries again; if it is even, the notes are written, since the load acquires what the
///    store of the even value released.
/// 3. Notes leave the ring only through take().
///
/// Thread-safe but for take(), which one thread at a time may call.
class UnmapWatch {
 public:
  /// Starts watching, and tests that unmapping is really noticed. RMA_ERR_UNSUPPORTED with the reason where
  /// the system does not let us.
  static Result<std::unique_ptr<UnmapWatch>> start();

  /// Ends the watch over all ranges. In a forked child, which has no watching thread, does nothing.
  ~UnmapWatch();
  UnmapWatch(const UnmapWatch&) = delete;
  UnmapWatch& operator=(const UnmapWatch&) = delete;

  /// Watches what is mapped in `span`, whole pages, from now on until it is unmapped. False where some of it
  /// cannot be watched: a file that is mapped, SysV shared memory, nothing at all.
  [[nodiscard]] bool watch(const AddressSpan& span) const;

  /// How far the notes are once everything unmapped until now is among them: an even number that only
  /// changes when something was noted. None when the kernel or the watching thread did not get that far in
  /// the time of many yields, or in a forked child: nothing is known then.
  [[nodiscard]] std::optional<std::uint64_t> settle() const;

  /// The next note that nobody took yet; kEverywhere after notes were lost.
  [[nodiscard]] std::optional<AddressSpan> take();

  /// Notes that the ring holds.
  static constexpr std::size_t kNotes = 1024;

 private:
  UnmapWatch() = default;
  [[nodiscard]] Status open();
  [[nodiscard]] Status self_test();
  [[nodiscard]] bool noted_since_last(const AddressSpan& span);
  static void thread_main(void* watch);
  void watch_loop(int events, int stop);
  void read_events(int events);
  void note(const AddressSpan& span);

  std::atomic<int> events_{-1};  // the userfaultfd; -1 in a forked child
  int stop_ = -1;                // an eventfd: written once, to end the thread
  pid_t owner_ = 0;
  BackgroundThread thread_;

  std::atomic<std::uint64_t> sequence_{0};  // written by the watching thread only
  std::atomic<std::uint64_t> head_{0};      // notes ever written, by the watching thread only
  std::atomic<bool> lost_{false};           // a note found no room; cleared by take()
  std::atomic<std::uint64_t> tail_{0};      // notes ever taken, by take() only
  std::array<AddressSpan, kNotes> ring_ = {};
};

}  // namespace rma
