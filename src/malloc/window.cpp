#include "malloc/window.hpp"

#include <fcntl.h>
#include <linux/mman.h>  // MADV_COLLAPSE, which glibc 2.36 does not define
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "malloc/sealed_file.hpp"
#include "util/clock.hpp"
#include "util/range_check.hpp"
#include "util/round.hpp"
#include "util/system/file_memory.hpp"
#include "util/system/page_size.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

constexpr std::size_t kSpareAddresses = std::size_t{64} << 20U;
constexpr std::size_t kMaxLimit = std::size_t{1}
                                  << 46U;  // twice this and the spare fit into 47 bits of user addresses
constexpr unsigned kHugePageLog = 21;
constexpr unsigned kHugeShift = MAP_HUGE_SHIFT;  // memfd_create encodes page sizes like mmap
static_assert(kHugePageBytes == std::size_t{1} << kHugePageLog);

Status no_huge_pages(std::size_t asked, int error_number) {
  return system_failure(RMA_ERR_NO_MEMORY,
                        text("no huge pages for {} bytes of heap; reserve pages of {} bytes in "
                             "/proc/sys/vm/nr_hugepages, or set RMA_HUGE_PAGES to transparent or off",
                             asked, kHugePageBytes),
                        error_number);
}

/// Whether a window has the addresses in front of the process heap.
constinit std::atomic<bool> front_taken = false;

/// Checks that a file is as large as its owner says. Its size must be sealed, because pages beyond the end of
/// a file cannot be touched.
Status check_size(const PeerFile& file) {
  struct stat about {};
  const int seals = ::fcntl(file.fd, F_GET_SEALS);
  if (::fstat(file.fd, &about) != 0 || about.st_size < 0 ||
      static_cast<std::size_t>(about.st_size) < file.bytes || seals < 0 ||
      (static_cast<unsigned>(seals) & kSizeSeals) != kSizeSeals) {
    return {RMA_ERR_SYSTEM,
            text("it hands over something else than a heap window of {} addresses", file.bytes)};
  }
  return {};
}

}  // namespace

AddressRange::~AddressRange() {
  if (start_ == nullptr) return;
  if (!lent_) {
    ::munmap(start_, reserved_);
    return;
  }
  // The addresses stay the process heap's. If the call fails, they keep their old mappings, which harms
  // nobody.
  static_cast<void>(
      ::mmap(start_, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
  front_taken.store(false, std::memory_order_release);  // pairs with the exchange in in_front_of()
}

AddressRange::AddressRange(AddressRange&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)),
      reserved_(std::exchange(other.reserved_, 0)),
      base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      lent_(std::exchange(other.lent_, false)) {}

AddressRange& AddressRange::operator=(AddressRange&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(reserved_, other.reserved_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(lent_, other.lent_);
  return *this;
}

Result<AddressRange> AddressRange::reserve(std::size_t bytes) {
  // Huge pages can be mapped, here and at peers, only if address and file offset agree modulo their size. The
  // page that is left over is the guard behind the range.
  const std::size_t reserved = bytes + kHugePageBytes + page_bytes();
  void* start = ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    return system_failure(
        RMA_ERR_NO_MEMORY,
        text("cannot reserve {} bytes of addresses for a heap window (see ulimit -v); lower "
             "RMA_HEAP_SIZE",
             reserved),
        errno);
  }
  AddressRange range;
  range.start_ = static_cast<std::byte*>(start);
  range.reserved_ = reserved;
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  range.base_ = range.start_ + (round_up(address, kHugePageBytes) - address);
  range.bytes_ = bytes;
  return range;
}

AddressRange AddressRange::in_front_of(const ProcessHeap& heap, std::size_t bytes) {
  AddressRange range;
  if (bytes > static_cast<std::size_t>(heap.base - heap.front)) return range;
  if (front_taken.exchange(true, std::memory_order_acquire)) return range;
  range.start_ = range.base_ = heap.base - bytes;
  range.reserved_ = range.bytes_ = bytes;
  range.lent_ = true;
  return range;
}

Status AddressRange::map(int fd, std::size_t offset, std::size_t bytes) const {
  if (map_sparse_file(fd, bytes, base_ + offset) == nullptr) {
    return system_failure(errno == ENOMEM ? RMA_ERR_NO_MEMORY : RMA_ERR_SYSTEM,
                          text("cannot map {} bytes of a heap window", bytes), errno);
  }
  return {};
}

void AddressRange::set_in_core_files(std::size_t offset, std::size_t bytes,
                                     bool in_core_files) const noexcept {
  static_cast<void>(::madvise(base_ + offset, bytes, in_core_files ? MADV_DODUMP : MADV_DONTDUMP));
}

Result<Window> Window::create(const WindowOptions& options, const Alias* alias) {
  if (options.limit == 0 || options.limit > kMaxLimit) {
    return Status(RMA_ERR_SIZE,
                  text("a heap of {} bytes; RMA_HEAP_SIZE can be 1 to {}", options.limit, kMaxLimit));
  }
  const bool huge = options.huge_pages == HugePages::hugetlb;
  Window window;
  window.granule_ = huge ? kHugePageBytes : page_bytes();
  window.limit_ = round_up(options.limit, window.granule_);
  window.huge_pages_ = options.huge_pages;
  window.share_ = options.share;
  const std::size_t reserved = round_up(options.reserved, kHugePageBytes);
  const std::size_t bytes = std::min(2 * round_up(window.limit_, kHugePageBytes) + reserved + kSpareAddresses,
                                     options.addresses / kHugePageBytes * kHugePageBytes);
  if (bytes < window.limit_ + reserved) {
    return Status(
        RMA_ERR_NO_MEMORY,
        text("this process may have {} addresses for a heap of {} bytes (ulimit -v, ulimit -f); raise "
             "that, or lower RMA_HEAP_SIZE",
             bytes, window.limit_));
  }
  if (alias != nullptr) window.alias_ = *alias;
  const std::size_t front = window.alias_.file_bytes;

  RMA_TRY(check_file_size_limit("the heap window", bytes, "lower RMA_HEAP_SIZE"));
  const unsigned flags =
      MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge ? MFD_HUGETLB | (kHugePageLog << kHugeShift) : 0U);
  window.fd_ = ::memfd_create("rma-heap", flags);
  if (window.fd_ < 0) {
    if (huge) return no_huge_pages(options.limit, errno);
    return system_failure(RMA_ERR_SYSTEM, "cannot create the heap window (memfd_create)", errno);
  }
  if (::ftruncate(window.fd_, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(window.fd_, F_ADD_SEALS, kSizeSeals) != 0) {
    return system_failure(RMA_ERR_SYSTEM, text("cannot size the heap window to {} bytes", bytes), errno);
  }
  const ProcessHeap* const heap = find_process_heap();
  auto range = heap != nullptr ? AddressRange::in_front_of(*heap, front + bytes)
                               : Result<AddressRange>(AddressRange());
  if (range->bytes() != 0) {
    window.heap_ = heap;
  } else {
    range = AddressRange::reserve(front + bytes);
  }
  if (!range.ok()) return std::move(range).status();
  if (alias != nullptr) {
    RMA_TRY(range->map(alias->fd, 0, front));
  }
  if (Status status = range->map(window.fd_, front, bytes); !status.ok()) {
    if (huge) return std::move(status).within("huge pages (RMA_HUGE_PAGES, /proc/sys/vm/nr_hugepages)");
    return status;
  }
  window.range_ = std::move(range).value();
  window.range_.set_in_core_files(0, front + bytes, false);

  if (huge) {
    // Finds out now, not at the first allocation, whether the system has reserved any huge page.
    RMA_TRY(window.back(front, window.granule_));
    window.release(front, window.granule_);
  }
  return window;
}

Window::~Window() {
  if (fd_ >= 0) ::close(fd_);
}

Window::Window(Window&& other) noexcept
    : range_(std::move(other.range_)),
      heap_(other.heap_),
      alias_(other.alias_),
      fd_(std::exchange(other.fd_, -1)),
      limit_(other.limit_),
      share_(other.share_),
      granule_(other.granule_),
      huge_pages_(other.huge_pages_),
      used_(other.used()),
      in_core_files_(other.in_core_files_.load(std::memory_order_relaxed)),
      shown_(other.shown_),
      others_(std::move(other.others_)) {}

Window& Window::operator=(Window&& other) noexcept {
  range_ = std::move(other.range_);
  heap_ = other.heap_;
  alias_ = other.alias_;
  std::swap(fd_, other.fd_);
  limit_ = other.limit_;
  share_ = other.share_;
  granule_ = other.granule_;
  huge_pages_ = other.huge_pages_;
  used_.store(other.used(), std::memory_order_relaxed);
  in_core_files_.store(other.in_core_files_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  shown_ = other.shown_;
  others_ = std::move(other.others_);
  return *this;
}

Status Window::back(std::size_t offset, std::size_t bytes) {
  // Relaxed, here and in release(): this is only a count. The allocator's lock orders the memory itself.
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - used || !may_use(used + bytes)) return no_memory(bytes, used, 0);
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  if (shown_ != nullptr) shown_->fetch_add(bytes, std::memory_order_relaxed);

  extend_core_files(offset + bytes);
  if (huge_pages_ == HugePages::transparent && bytes >= kHugePageBytes) take_huge_pages(offset, bytes);
  if (const int error_number = take_file_memory(fd_, offset - alias_.file_bytes, bytes); error_number != 0) {
    punch(offset, bytes);  // the calls may have taken a part of the memory
    forget(bytes);
    return no_memory(bytes, used, error_number);
  }
  return {};
}

void Window::extend_core_files(std::size_t end) noexcept {
  // Whole huge pages: so the system is called rarely, and no mapping ends within a huge page.
  end = std::min(round_up(end, kHugePageBytes), range_.bytes());
  // Relaxed: the number only saves calls. Two threads may tell the system the same.
  std::size_t before = in_core_files_.load(std::memory_order_relaxed);
  while (before < end) {
    const std::size_t begin = std::max(before, alias_.file_bytes);
    range_.set_in_core_files(begin, end - begin, true);
    if (in_core_files_.compare_exchange_weak(before, end, std::memory_order_relaxed)) return;
  }
}

void Window::take_huge_pages([[maybe_unused]] std::size_t offset, [[maybe_unused]] std::size_t bytes) const {
#ifdef MADV_COLLAPSE
  // MADV_COLLAPSE makes a huge page of the pages of 2 MiB, of which one must be there, and fills the rest
  // with zeros. With one page, nothing is copied, and the huge pages take less time than ordinary ones, which
  // the kernel clears one by one when they are first touched. The call is never used for the whole window,
  // because the kernel's own thread would fill the holes between small blocks. A kernel that has no such
  // pages (before Linux 6.1, or without contiguous memory) leaves the range to ordinary ones.
  //
  // To look for contiguous memory may take long. So this ends after kUnnoticed and the time in which memory
  // is cleared at kClearing bytes in a nanosecond, and the rest of the block gets ordinary pages.
  constexpr std::size_t kStep = std::size_t{16} << 20U;
  constexpr std::int64_t kUnnoticed = 100'000'000;
  constexpr std::int64_t kClearing = 4;
  const std::int64_t until =
      monotonic_nanoseconds() + kUnnoticed + static_cast<std::int64_t>(bytes) / kClearing;
  const std::size_t end = (offset + bytes) / kHugePageBytes * kHugePageBytes;
  for (std::size_t at = round_up(offset, kHugePageBytes); at < end && monotonic_nanoseconds() < until;) {
    const std::size_t step_end = std::min(at + kStep, end);
    for (std::size_t page = at; page < step_end; page += kHugePageBytes) {
      if (take_file_memory(fd_, page - alias_.file_bytes, granule_) != 0) return;
    }
    if (::madvise(base() + at, step_end - at, MADV_COLLAPSE) != 0 && errno == EINVAL) return;
    at = step_end;
  }
#endif
}

void Window::share_limit(std::atomic<std::uint64_t>& shown, std::function<std::uint64_t()> others) {
  shown_ = &shown;
  others_ = std::move(others);
  shown_->store(used(), std::memory_order_relaxed);
}

bool Window::may_use(std::size_t bytes) const {
  if (bytes <= share_ || !others_) return true;
  // The sum may be out of date by what others take at this moment, which the limit, half of the memory,
  // bears.
  const std::uint64_t others = others_();
  return others <= limit_ && bytes <= limit_ - others;
}

void Window::forget(std::size_t bytes) {
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  if (shown_ != nullptr) shown_->fetch_sub(bytes, std::memory_order_relaxed);
}

void Window::release(std::size_t offset, std::size_t bytes) {
  punch(offset, bytes);
  forget(bytes);
}

void Window::punch(std::size_t offset, std::size_t bytes) const {
  give_file_memory(fd_, offset - alias_.file_bytes, bytes);
}

std::byte* Window::aliased(const void* address, std::size_t bytes) const noexcept {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(alias_.address);
  if (!range_contains(alias_.bytes, offset, bytes)) return nullptr;
  return base() + alias_.offset + offset;
}

Status Window::no_memory(std::size_t asked, std::size_t used, int error_number) const {
  if (error_number == 0 && !may_use(used + asked)) {
    return {
        RMA_ERR_NO_MEMORY,
        text("the heap has no room for {} bytes more: of {}, which the ranks of this host share, {} are used "
             "here and {} by the others; set RMA_HEAP_SIZE, which is each rank's own",
             asked, limit_, used, others_())};
  }
  if (error_number == 0) {
    return {RMA_ERR_NO_MEMORY,
            text("the heap has no room for {} bytes more: {} of {} are used; raise RMA_HEAP_SIZE", asked,
                 used, limit_)};
  }
  if (huge_pages_ == HugePages::hugetlb) return no_huge_pages(asked, error_number);
  return system_failure(RMA_ERR_NO_MEMORY,
                        text("the system gave no memory for {} bytes of heap: {} of {} (RMA_HEAP_SIZE) are "
                             "used; free memory, or run with less",
                             asked, used, limit_),
                        error_number);
}

Result<PeerWindow> PeerWindow::map(const PeerFile& window, const PeerFile& heap, const PeerFile& alias) {
  RMA_TRY_ASSIGN(range, AddressRange::reserve(alias.bytes + window.bytes + heap.bytes));
  std::size_t at = 0;
  for (const PeerFile* const part : {&alias, &window, &heap}) {
    if (part->bytes == 0) continue;
    RMA_TRY(check_size(*part));
    RMA_TRY(range.map(part->fd, at, part->bytes));
    at += part->bytes;
  }
  // Otherwise a core file of this process would hold the memory of all ranks of the host.
  range.set_in_core_files(0, range.bytes(), false);
  PeerWindow mapped;
  mapped.range_ = std::move(range);
  return mapped;
}

}  // namespace librma
