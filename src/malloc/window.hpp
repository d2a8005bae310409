#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "malloc/alias.hpp"
#include "malloc/process_heap.hpp"
#include "util/status.hpp"

namespace librma {

/// The kind of pages that the heap window asks for.
enum class HugePages {
  off,          ///< the system's ordinary pages
  transparent,  ///< ordinary pages; the kernel is asked for huge pages if 2 MiB or more are taken at a time,
                ///< and may decline
  hugetlb       ///< pages reserved in /proc/sys/vm/nr_hugepages; RMA_ERR_NO_MEMORY without them
};

struct WindowOptions {
  std::size_t limit = 0;  ///< the maximum of backed bytes (the setting RMA_HEAP_SIZE), above 0
  /// The bytes that this window may back whatever the windows of other processes use; see share_limit().
  std::size_t share = SIZE_MAX;
  std::size_t addresses = SIZE_MAX;  ///< the most addresses that the window may have
  HugePages huge_pages = HugePages::off;
  std::size_t reserved = 0;  ///< addresses that the window has besides those for twice the limit
};

/// A reserved range of addresses without memory, into which shared mappings are put. The base is a multiple
/// of 2 MiB, and at least one inaccessible page follows the range unless it lies before a process heap. The
/// destructor gives the addresses back.
class AddressRange {
 public:
  AddressRange() noexcept = default;
  ~AddressRange();
  AddressRange(AddressRange&& other) noexcept;
  AddressRange& operator=(AddressRange&& other) noexcept;
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  static Result<AddressRange> reserve(std::size_t bytes);
  /// Takes the last `bytes` bytes (a multiple of 2 MiB) in front of the process heap. Empty if another range
  /// has them, or there are too few.
  static AddressRange in_front_of(const ProcessHeap& heap, std::size_t bytes);
  /// Maps the first `bytes` bytes of `fd`, readable, writable and shared, from the byte `offset` on.
  [[nodiscard]] Status map(int fd, std::size_t offset, std::size_t bytes) const;
  /// Says whether core files of this process hold the mappings in [offset, offset + bytes). They do until
  /// this says otherwise. While the system writes a core file, it makes all pages that the file holds, also
  /// those that nobody has touched. If the system refuses the call, core files stay as they were.
  void set_in_core_files(std::size_t offset, std::size_t bytes, bool in_core_files) const noexcept;

  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::byte* start_ = nullptr;  // start of the whole reservation, which contains base_
  std::size_t reserved_ = 0;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  bool lent_ = false;  // it is a part of the process heap's reservation
};

/// The heap window: the one range of addresses that holds all memory that this process allocates for access
/// by others. A memfd backs it, which every process of the host can map.
///
/// The range is sparse. This process and its peers may touch a byte between back() and release() of its page.
/// back() has then taken the memory from the system, so that no access raises SIGBUS. There are more than
/// twice as many addresses as the limit, so that freed blocks of other sizes leave room for a new block,
/// unless the process may not have so many.
///
/// If the program has aliased memory (alias.hpp), the window begins with the file behind that memory. The
/// rest of the window is its own memfd.
///
/// A core file holds the window's own file up to the end of the highest block that was ever backed.
///
/// If the program's malloc uses a process heap, the window lies directly in front of it. Others then map the
/// two as one range.
///
/// back() and release() are thread-safe. Moving is not, and a window must not be moved while others refer to
/// it.
class Window {
 public:
  /// Creates a window. RMA_ERR_NO_MEMORY if the system has too few addresses or reserved huge pages, or
  /// limits the file's size; RMA_ERR_SYSTEM if another system call fails; RMA_ERR_SIZE if the limit is 0 or
  /// too large for the address space. `alias` may be null.
  static Result<Window> create(const WindowOptions& options, const Alias* alias = nullptr);

  ~Window();
  Window(Window&& other) noexcept;
  Window& operator=(Window&& other) noexcept;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] std::byte* base() const noexcept { return range_.base(); }
  [[nodiscard]] std::size_t address_bytes() const noexcept { return range_.bytes(); }
  /// Returns the window's own file, which is mapped from the byte alias().file_bytes of the window on.
  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Returns the aliased memory, with whose file the window begins. It is empty if the program has aliased
  /// none.
  [[nodiscard]] const Alias& alias() const noexcept { return alias_; }
  /// Returns where the aliased bytes [address, address + bytes) lie in the window, or null if they are not
  /// aliased.
  [[nodiscard]] std::byte* aliased(const void* address, std::size_t bytes) const noexcept;
  /// Returns the process heap that follows the window, or null if none does.
  [[nodiscard]] const ProcessHeap* process_heap() const noexcept { return heap_; }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  /// The bytes that this window may back whatever the windows of other processes use.
  [[nodiscard]] std::size_t share() const noexcept { return std::min(share_, limit_); }
  /// Returns the number of bytes that are backed now.
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  /// Returns the page size. Offsets and sizes of back() and release() must be multiples of it.
  [[nodiscard]] std::size_t granule() const noexcept { return granule_; }

  /// From now on the limit is for all windows of the host together: each shows in `shown` what it uses, and
  /// `others` returns what the others show. Beyond its own share this window leaves the others theirs. Both
  /// outlive the window. Called once, by a thread that alone uses the window.
  void share_limit(std::atomic<std::uint64_t>& shown, std::function<std::uint64_t()> others);

  /// Takes memory for [offset, offset + bytes), which lies behind the aliased memory, and none of which may
  /// be backed already. It reads as zeros. RMA_ERR_NO_MEMORY if the limit is reached or the system has no
  /// more memory; then nothing is backed.
  Status back(std::size_t offset, std::size_t bytes);
  /// Gives the memory of [offset, offset + bytes), all of it backed, to the system; its contents are lost.
  void release(std::size_t offset, std::size_t bytes);

 private:
  Window() noexcept = default;
  [[nodiscard]] Status no_memory(std::size_t asked, std::size_t used, int error_number) const;
  /// Returns whether this window may use `bytes` in all.
  [[nodiscard]] bool may_use(std::size_t bytes) const;
  /// Takes huge pages for a part of [offset, offset + bytes), as far as the kernel has them. The caller takes
  /// ordinary pages for the rest.
  void take_huge_pages(std::size_t offset, std::size_t bytes) const;
  void punch(std::size_t offset, std::size_t bytes) const;
  /// Counts `bytes` as not used any more.
  void forget(std::size_t bytes);
  /// From now on core files hold the window's own file up to the byte `end` of the window.
  void extend_core_files(std::size_t end) noexcept;

  AddressRange range_;
  const ProcessHeap* heap_ = nullptr;
  Alias alias_;
  int fd_ = -1;
  std::size_t limit_ = 0;
  std::size_t share_ = 0;
  std::size_t granule_ = 0;
  HugePages huge_pages_ = HugePages::off;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> in_core_files_{0};    ///< core files hold the window's own file up to here
  std::atomic<std::uint64_t>* shown_ = nullptr;  ///< null until share_limit()
  std::function<std::uint64_t()> others_;
};

/// A file of another process, which has handed it over.
struct PeerFile {
  int fd = -1;            ///< the descriptor here
  std::size_t bytes = 0;  ///< a multiple of the page size; 0 if there is no file
};

/// The heap window of another process of this host, with its aliased memory and its process heap, mapped
/// here. It stays valid when that process ends.
class PeerWindow {
 public:
  PeerWindow() noexcept = default;

  /// Maps the window's own file, the aliased memory in front of it, and the process heap behind it. Needs the
  /// descriptors only during the call. RMA_ERR_SYSTEM if one is not open, is smaller than its `bytes`, or
  /// could become smaller.
  static Result<PeerWindow> map(const PeerFile& window, const PeerFile& heap = {},
                                const PeerFile& alias = {});

  [[nodiscard]] std::byte* base() const noexcept { return range_.base(); }
  [[nodiscard]] std::size_t address_bytes() const noexcept { return range_.bytes(); }

 private:
  AddressRange range_;
};

}  // namespace librma
