#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "util/status.hpp"
#include "util/system/background_thread.hpp"

namespace librma {

/// Addresses of this process, [begin, end).
struct AddressSpan {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] std::size_t bytes() const noexcept { return end - begin; }
  friend bool operator==(const AddressSpan&, const AddressSpan&) = default;
};

/// The span of all addresses.
inline constexpr AddressSpan kEverywhere{0, std::numeric_limits<std::uintptr_t>::max()};

/// Notes when an address range of this process loses its pages: by munmap, by mmap over it, by mremap, brk,
/// madvise(MADV_DONTNEED) and the like. It notices the call of any thread, from inside any function.
///
/// The watch is a userfaultfd. Its ranges are registered in write-protect mode, but nothing is protected: no
/// page fault changes, and only the events about mappings arrive. The kernel holds the thread that unmaps
/// until the event has been read. That thread may hold any lock, for example the allocator's. So the thread
/// that reads takes no lock and does not allocate; it only writes the range into a ring. If the ring is full,
/// it notes kEverywhere.
///
/// The kernel sends no event for holes punched into a shared file, for shmdt, or for shmat with SHM_REMAP
/// over other memory. This watch is therefore not used for shared memory (see PrivatePages).
///
/// **Why a note cannot be missed.** Let `settle()` return P. Claim: if the kernel took a watched range away
/// before settle() began, a thread that has seen P gets a note of that range from take().
///
/// 1. The kernel raises a counter of the userfaultfd under the lock of the address space, before it changes
///    the mapping. It lowers the counter in the thread that unmaps, after the event was read and before the
///    system call returns. So a thread that has unmapped a range, or has mapped a range anew that another
///    thread is still unmapping, comes after the raise. settle() reads the counter (any request on memory
///    answers EAGAIN while it is not 0). It goes on only at 0. That is after the lowering, and so after the
///    read began.
/// 2. The reading thread makes `sequence_` odd before it reads, and even after it has written the notes. By
///    1, settle() loads `sequence_` when it is at least that odd value, because these steps form a chain: the
///    reader's store, its system call, the kernel's lock around the event, the lowering, settle()'s system
///    call and its load. If the value is odd, settle() tries again. If it is even, the notes are written,
///    because the load acquires and the store of the even value released.
/// 3. Notes leave the ring only through take().
///
/// Thread-safe, except that only one thread at a time may call take().
class UnmapWatch {
 public:
  /// Starts the watch, and tests that it really notices unmapping. RMA_ERR_UNSUPPORTED, with the reason, if
  /// the system does not support it.
  static Result<std::unique_ptr<UnmapWatch>> start();

  /// Ends the watch over all ranges. Does nothing in a forked child, which has no watching thread.
  ~UnmapWatch();
  UnmapWatch(const UnmapWatch&) = delete;
  UnmapWatch& operator=(const UnmapWatch&) = delete;

  /// Watches the memory in `span`, which consists of whole pages, from now on until it is unmapped. Returns
  /// false if a part of it cannot be watched: a mapped file, SysV shared memory, or a hole.
  [[nodiscard]] bool watch(const AddressSpan& span) const;

  /// Waits until everything that was unmapped before this call is among the notes. Returns the position
  /// of the notes: an even number that changes only when something was noted. Returns no value if this
  /// is unknown: the kernel or the watching thread did not get that far during many yields, or this is
  /// a forked child.
  [[nodiscard]] std::optional<std::uint64_t> settle() const;

  /// Takes and returns the next note; no value if there is none, kEverywhere after notes were lost.
  [[nodiscard]] std::optional<AddressSpan> take();

  /// The number of notes that the ring holds.
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
  int stop_ = -1;                // an eventfd; one write ends the thread
  pid_t owner_ = 0;
  BackgroundThread thread_;

  std::atomic<std::uint64_t> sequence_{0};  // written by the watching thread only
  std::atomic<std::uint64_t> head_{0};      // number of notes ever written; written by the watching thread
                                            // only
  std::atomic<bool> lost_{false};           // a note found no room; take() clears it
  std::atomic<std::uint64_t> tail_{0};      // number of notes ever taken; written by take() only
  std::array<AddressSpan, kNotes> ring_ = {};
};

}  // namespace librma
