#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>

#include "util/status.hpp"

namespace rma {

/// What pages the heap window asks for.
enum class HugePages {
  off,          ///< the system's ordinary pages
  transparent,  ///< ordinary pages, which the kernel is asked to join to huge ones where they are
                ///< taken 2 MiB or more at a time: a wish, never an error
  hugetlb       ///< pages reserved beforehand in /proc/sys/vm/nr_hugepages: without them, RMA_ERR_NO_MEMORY
};

struct WindowOptions {
  std::size_t limit = 0;  ///< most bytes that may be backed at once (the setting RMA_HEAP_SIZE), above 0
  HugePages huge_pages = HugePages::off;
};

/// A range of addresses with nothing behind it, which shared mappings are put into. The base is a multiple of
/// 2 MiB, and at least one inaccessible page follows the range. Gives the addresses back when it ends.
class AddressRange {
 public:
  AddressRange() noexcept = default;
  ~AddressRange();
  AddressRange(AddressRange&& other) noexcept;
  AddressRange& operator=(AddressRange&& other) noexcept;
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  static Result<AddressRange> reserve(std::size_t bytes);
  /// Maps the first `bytes()` bytes of `fd` here, readable, writable and shared.
  Status map(int fd);

  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::byte* start_ = nullptr;  // of everything reserved; base_ is inside
  std::size_t reserved_ = 0;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The heap window: the one range of addresses that holds everything this process allocates for others,
/// backed by a memfd that every process of the host can map.
///
/// The range is sparse. A byte of it may be touched, here and by peers, between back() and release() of its
/// page; back() has then taken the memory from the system, so a touch never ends in SIGBUS. Addresses are
/// more than twice the limit, so that freed blocks of other sizes do not get in a new block's way.
///
/// back() and release() are thread-safe. Moving is not, and whoever holds a reference must not see it moved.
class Window {
 public:
  /// RMA_ERR_NO_MEMORY when the addresses, or the huge pages asked for, are not to be had; RMA_ERR_SYSTEM
  /// when a system call fails otherwise; RMA_ERR_SIZE when the limit is 0 or beyond any address.
  static Result<Window> create(const WindowOptions& options);

  ~Window();
  Window(Window&& other) noexcept;
  Window& operator=(Window&& other) noexcept;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] std::byte* base() const noexcept { return range_.base(); }
  [[nodiscard]] std::size_t address_bytes() const noexcept { return range_.bytes(); }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  /// Bytes backed now.
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  /// What offsets and sizes of back() and release() must be multiples of: the size of a page.
  [[nodiscard]] std::size_t granule() const noexcept { return granule_; }

  /// Takes memory for [offset, offset + bytes), none of which may be backed already; it reads as zeros. Past
  /// the limit, or when the system has no more: RMA_ERR_NO_MEMORY, and nothing is backed.
  Status back(std::size_t offset, std::size_t bytes);
  /// Gives the memory of [offset, offset + bytes), all of it backed, to the system; its contents are lost.
  void release(std::size_t offset, std::size_t bytes);

 private:
  Window() noexcept = default;
  [[nodiscard]] Status no_memory(std::size_t asked, std::size_t used, int error_number) const;
  void punch(std::size_t offset, std::size_t bytes) const;

  AddressRange range_;
  int fd_ = -1;
  std::size_t limit_ = 0;
  std::size_t granule_ = 0;
  HugePages huge_pages_ = HugePages::off;
  std::atomic<std::size_t> used_{0};
};

/// The heap window of another process of this host, mapped here. Stays valid when that process ends.
class PeerWindow {
 public:
  PeerWindow() noexcept = default;

  /// `fd` and `address_bytes` are the Window's there. RMA_ERR_SYSTEM when /proc/<pid>/fd/<fd> cannot be
  /// opened or is smaller than said.
  static Result<PeerWindow> map(pid_t pid, int fd, std::size_t address_bytes);

  [[nodiscard]] std::byte* base() const noexcept { return range_.base(); }
  [[nodiscard]] std::size_t address_bytes() const noexcept { return range_.bytes(); }

 private:
  AddressRange range_;
};

}  // namespace rma
