#include "process_heap/range.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "process_heap/next.hpp"
#include "process_heap/populated.hpp"
#include "util/range_check.hpp"
#include "util/round.hpp"
#include "util/system/page_size.hpp"

namespace librma::process_heap {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kGibi = std::size_t{1} << 30U;
// A process maps the heaps of all ranks of its host. Half of the 47 bits of user addresses are for them.
constexpr std::size_t kMapped = std::size_t{1} << 46U;
constexpr std::size_t kMostFront = std::size_t{1} << 44U;
// The descriptor gets a high number, so that the program's first file gets the number that it gets elsewhere.
constexpr int kDescriptor = 500;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
// After a fork, holes of the file become fresh memory. Each takes an entry of the kernel's table of mappings,
// which has room for 65530. So there are at most 8192 of them, and shorter ones are copied as if there were
// data.
constexpr std::size_t kMostHoles = 8192;

std::size_t machine_memory() noexcept {
  struct sysinfo about {};
  if (::sysinfo(&about) != 0) return kGibi;
  return static_cast<std::size_t>(about.totalram) * about.mem_unit;
}

// Four times the machine's memory, because a program may ask for more than it touches. Fewer if twice as many
// ranks as this host has processors could not map each other's.
std::size_t heap_bytes(std::size_t memory) noexcept {
  const auto processors = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  return round_up(std::min(4 * memory, kMapped / (2 * processors)), kHugePageBytes);
}

}  // namespace

constinit Range range;

void say(const char* text, int error_number) noexcept {
  constexpr std::string_view kName = "rma: process heap: ";
  // strerror() allocates.
  const char* const reason = error_number != 0 ? ::strerrordesc_np(error_number) : nullptr;
  const std::array<std::string_view, 5> parts = {kName, text, reason != nullptr ? ": " : "",
                                                 reason != nullptr ? reason : "", "\n"};
  std::array<iovec, parts.size()> pieces = {};
  std::transform(parts.begin(), parts.end(), pieces.begin(), [](std::string_view part) {
    return iovec{.iov_base = const_cast<char*>(part.data()), .iov_len = part.size()};
  });
  static_cast<void>(::writev(STDERR_FILENO, pieces.data(), static_cast<int>(pieces.size())));
}

const char* Range::reserve() noexcept {
  const std::size_t memory = machine_memory();
  const std::size_t bytes = heap_bytes(memory);
  const std::size_t front = round_up(std::min(16 * memory + kGibi, kMostFront), kHugePageBytes);
  void* const start = ::mmap(nullptr, front + bytes + kHugePageBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return "the system gives no addresses";
  auto* const first = static_cast<std::byte*>(start);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  std::byte* const base = first + (round_up(address, kHugePageBytes) - address) + front;

  int file = ::memfd_create("rma-process-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (const int high = file >= 0 ? ::fcntl(file, F_DUPFD_CLOEXEC, kDescriptor) : -1; high >= 0) {
    ::close(file);
    file = high;
  }
  struct stat about {};
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file, F_ADD_SEALS, kSeals) != 0 || ::fstat(file, &about) != 0) {
    if (file >= 0) ::close(file);
    ::munmap(start, front + bytes + kHugePageBytes);
    return "the system makes no file for it (memfd_create)";
  }
  file_ = about.st_ino;
  heap_ = {.front = base - front, .base = base, .bytes = bytes, .fd = file};
  return nullptr;
}

std::byte* Range::take(std::size_t bytes, std::size_t alignment) noexcept {
  // A program that closes all descriptors may have opened another file in this one's place.
  if (!owned() && !has_file()) return nullptr;
  // Relaxed: the addresses are only handed out here. jemalloc's locks order the memory itself.
  std::size_t taken = taken_.load(std::memory_order_relaxed);
  std::size_t begin = 0;
  do {
    begin = round_up(taken,
                     alignment);  // base is a multiple of 2 MiB, and so of every alignment that is asked for
    if (!range_contains(heap_.bytes, begin, bytes)) return nullptr;
  } while (!taken_.compare_exchange_weak(taken, begin + bytes, std::memory_order_relaxed));
  std::byte* const address = heap_.base + begin;
  const int flags = owned() ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const mapped = ::mmap(address, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED | MAP_NORESERVE,
                              owned() ? -1 : heap_.fd, owned() ? 0 : static_cast<off_t>(begin));
  return mapped != MAP_FAILED ? address : nullptr;
}

bool Range::has_file() const noexcept {
  struct stat about {};
  return ::fstat(heap_.fd, &about) == 0 && about.st_ino == file_ &&
         static_cast<std::size_t>(about.st_size) == heap_.bytes;
}

bool Range::remove_pages(void* address, std::size_t bytes) const noexcept {
  // In a forked child the pages are private. There, to drop one would bring back the parent's.
  if (owned() || next().madvise(address, bytes, MADV_REMOVE) != 0) return false;
  populated.forget(static_cast<std::byte*>(address), bytes);
  return true;
}

int Range::advise(void* address, std::size_t bytes, int advice) const noexcept {
  switch (advice) {
    case MADV_DONTNEED:
      // Of private memory, the program gets zeros. Shared memory would keep its contents.
      if (remove_pages(address, bytes)) return 0;
      if (!owned() || reinterpret_cast<std::uintptr_t>(address) % kPage != 0) break;
      ::memset(address, 0, std::min(round_up(bytes, kPage), taken() - offset_of(address)));
      return 0;
    case MADV_FREE:
      return 0;  // the system may take the pages later, or never, and refuses the call for shared memory
    default:
      break;
  }
  return next().madvise(address, bytes, advice);
}

void Range::own_after_fork() noexcept {
  const int error_number = errno;
  owned_.store(true, std::memory_order_relaxed);
  const std::size_t end = taken();
  if (!has_file()) {
    copy_all(end);
    errno = error_number;
    return;
  }
  // The mapping keeps its contents, so a stack that the program has put here stays usable. From now on this
  // process writes to pages of its own, and reads those of the file where it has none yet.
  if (end != 0 && ::mmap(heap_.base, end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                         heap_.fd, 0) == MAP_FAILED) {
    say("a forked child cannot get memory of its own", errno);
    std::abort();
  }
  const std::size_t least = std::max(kHugePageBytes, round_up(end / kMostHoles, kPage));
  std::size_t begin = 0;  // all before it is this process's own
  for (std::size_t at = 0; at < end;) {
    const off_t data = ::lseek(heap_.fd, static_cast<off_t>(at), SEEK_DATA);
    const std::size_t next = data < 0 ? end : std::min(end, static_cast<std::size_t>(data));
    if (next - at >= least) {
      own(begin, at);
      own_zeros(at, next);
      begin = next;
    }
    if (next == end) break;
    const off_t hole = ::lseek(heap_.fd, static_cast<off_t>(next), SEEK_HOLE);
    at = hole < 0 ? end : std::min(end, static_cast<std::size_t>(hole));
  }
  own(begin, end);
  ::close(heap_.fd);
  errno = error_number;
}

// Does the work of own_after_fork() for a program that has closed the descriptor.
void Range::copy_all(std::size_t end) const noexcept {
  if (end == 0) return;
  void* const copy =
      ::mmap(nullptr, end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy != MAP_FAILED) {
    ::memcpy(copy, heap_.base, end);
    if (::mremap(copy, end, end, MREMAP_MAYMOVE | MREMAP_FIXED, heap_.base) != MAP_FAILED) return;
  }
  say("a forked child cannot get memory of its own", errno);
  std::abort();
}

// Gives this process copies of the pages of the file.
void Range::own(std::size_t begin, std::size_t end) const noexcept {
  if (begin >= end) return;
#ifdef MADV_POPULATE_WRITE
  int result = 0;
  do {
    result = next().madvise(heap_.base + begin, end - begin, MADV_POPULATE_WRITE);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0) return;
  if (errno != EINVAL) {
    say("a forked child cannot copy its parent's memory", errno);
    std::abort();
  }
#endif
  // Before Linux 5.14: the first store to a page copies it.
  for (std::size_t at = begin; at < end; at += kPage) {
    auto* const byte = reinterpret_cast<volatile std::byte*>(heap_.base + at);
    *byte = *byte;
  }
}

// Puts fresh memory where the file has none.
void Range::own_zeros(std::size_t begin, std::size_t end) const noexcept {
  if (begin >= end) return;
  if (::mmap(heap_.base + begin, end - begin, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
    say("a forked child cannot get memory of its own", errno);
    std::abort();
  }
}

}  // namespace librma::process_heap
