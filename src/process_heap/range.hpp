#pragma once

#include <atomic>
#include <cstddef>

#include "malloc/process_heap.hpp"

namespace librma::process_heap {

/// The addresses of the process heap. Memory is taken from the lowest address upwards and never given back;
/// freed memory stays with jemalloc, which may give the pages behind it to the system. Only what has been
/// taken is mapped, so that a core file and mlockall() see no more than that.
///
/// Nothing here allocates, because malloc itself calls it.
class Range {
 public:
  constexpr Range() = default;

  /// Reserves the addresses and makes the file. Returns null, or why that is impossible.
  [[nodiscard]] const char* reserve() noexcept;

  /// Maps the first free `bytes` bytes (a multiple of 4096) at a multiple of `alignment`, and returns them,
  /// or null if there is no room. They read as zeros. Thread-safe.
  [[nodiscard]] std::byte* take(std::size_t bytes, std::size_t alignment) noexcept;

  [[nodiscard]] bool holds(const void* address) const noexcept { return offset_of(address) < heap_.bytes; }
  [[nodiscard]] const ProcessHeap& heap() const noexcept { return heap_; }
  /// Returns how many bytes have been taken.
  [[nodiscard]] std::size_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }

  /// Returns whether the descriptor still is that of the file. A program may have closed it.
  [[nodiscard]] bool has_file() const noexcept;

  /// Gives the pages of [address, address + bytes) to the system; the memory then reads as zeros. Returns
  /// false, and leaves the memory as it is, if that is impossible.
  [[nodiscard]] bool remove_pages(void* address, std::size_t bytes) const noexcept;

  /// Does what madvise() does with private memory that the program has from malloc.
  [[nodiscard]] int advise(void* address, std::size_t bytes, int advice) const noexcept;

  /// Makes the memory this process's own, in a child that fork() has made: its contents are copied, and
  /// nothing is shared with the parent any more. Ends the process if that fails.
  void own_after_fork() noexcept;
  /// Returns whether this process has called own_after_fork(), or was forked from one that has.
  [[nodiscard]] bool owned() const noexcept { return owned_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::size_t offset_of(const void* address) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - heap_.base);
  }
  void copy_all(std::size_t end) const noexcept;
  void own(std::size_t begin, std::size_t end) const noexcept;
  void own_zeros(std::size_t begin, std::size_t end) const noexcept;

  ProcessHeap heap_;
  ino_t file_ = 0;
  std::atomic<std::size_t> taken_{0};
  std::atomic<bool> owned_{false};
};

/// The range of this process. It has no bytes while malloc is the C library's.
extern Range range;

/// Writes "rma: process heap: <text>" and the text of `error_number`, unless 0, to standard error.
void say(const char* text, int error_number) noexcept;

}  // namespace librma::process_heap
