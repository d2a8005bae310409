#include "malloc/alias.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "malloc/page_contents.hpp"
#include "malloc/sealed_file.hpp"
#include "util/round.hpp"
#include "util/system/interruptions.hpp"
#include "util/system/page_size.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

constinit Alias alias;            // empty until make_alias() succeeds; a child empties it
constinit std::mutex alias_lock;  // guards it; held over fork()
// Of the thread that forks. If this library is linked into the executable, its variables may be aliased
// memory, which the child shares until it has its copy; its thread's own variables are not.
constinit thread_local std::byte* copy_for_child = nullptr;

// mmap and mremap by their numbers. Sanitizers intercept the functions and forget what they know about the
// addresses: AddressSanitizer, that there are red zones between the variables.
std::byte* map_memory(void* address, std::size_t bytes, int flags, int file, std::size_t offset) noexcept {
  const long mapped =
      ::syscall(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE, flags, file, static_cast<off_t>(offset));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a system call returns a number
  return mapped == -1 ? nullptr : reinterpret_cast<std::byte*>(mapped);
}

/// Returns whether the file's descriptor still is the file's: a program may have closed it and opened another
/// file.
bool has_file(const Alias& of) noexcept {
  struct stat about {};
  return ::fstat(of.fd, &about) == 0 && about.st_dev == of.device && about.st_ino == of.inode;
}

/// Reads [at, end) of the file `from` into `to`.
bool read_all(int from, off_t at, off_t end, std::byte* to) noexcept {
  while (at < end) {
    const long got = uninterrupted(
        [&] { return ::syscall(SYS_pread64, from, to, static_cast<std::size_t>(end - at), at); });
    if (got <= 0) return false;
    at += got;
    to += got;
  }
  return true;
}

/// Fills `to`, which is zeros, with the alias's memory. Skips the holes of the file, because a read from
/// their addresses would take memory.
bool read_file(std::byte* to) noexcept {
  const auto begin = static_cast<off_t>(alias.offset);
  const auto end = static_cast<off_t>(alias.offset + alias.bytes);
  for (off_t at = begin; at < end;) {
    at = ::lseek(alias.fd, at, SEEK_DATA);
    if (at < 0) return errno == ENXIO;  // only a hole follows
    if (at >= end) return true;
    const off_t hole = std::min(end, ::lseek(alias.fd, at, SEEK_HOLE));
    if (hole < at || !read_all(alias.fd, at, hole, to + (at - begin))) return false;
    at = hole;
  }
  return true;
}

/// Does the same without the file.
bool read_addresses(std::byte* to) noexcept {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) return false;
  const auto begin = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(alias.address));
  const bool read = read_all(memory, begin, begin + static_cast<off_t>(alias.bytes), to);
  ::close(memory);
  return read;
}

// The handlers of fork(). The child must neither see what its parent and other ranks store later nor change
// their data. So it gets a copy that its parent made before.

void before_fork() {
  alias_lock.lock();
  if (alias.address == nullptr) return;
  copy_for_child = map_memory(nullptr, alias.bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy_for_child == nullptr) return;
  if (!(has_file(alias) ? read_file(copy_for_child) : read_addresses(copy_for_child))) {
    ::munmap(copy_for_child, alias.bytes);
    copy_for_child = nullptr;
  }
}

void after_fork_in_parent() {
  if (copy_for_child != nullptr) ::munmap(copy_for_child, alias.bytes);
  copy_for_child = nullptr;
  alias_lock.unlock();
}

void after_fork_in_child() {
  const bool private_now =
      alias.address == nullptr ||
      (copy_for_child != nullptr && ::syscall(SYS_mremap, copy_for_child, alias.bytes, alias.bytes,
                                              MREMAP_MAYMOVE | MREMAP_FIXED, alias.address) != -1);
  if (!private_now) {
    constexpr std::string_view kText =
        "librma: no memory for a forked child's copy of the aliased memory (rma_alias)\n";
    static_cast<void>(::write(STDERR_FILENO, kText.data(), kText.size()));
    ::abort();
  }
  copy_for_child = nullptr;
  alias = {};
  alias_lock.unlock();
}

/// Returns the number of threads of this process, or 0 if the system does not tell it.
std::size_t count_threads() {
  struct stat tasks {};
  // A folder has a link from its parent, one from itself, and one from each folder in it.
  if (::stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink < 2) return 0;
  return tasks.st_nlink - 2;
}

/// Copies the pages of [wanted.address, wanted.address + wanted.bytes) into the file, and maps the file
/// there.
Status replace(const Alias& wanted) {
  const auto begin = reinterpret_cast<std::uintptr_t>(wanted.address);
  RMA_TRY_ASSIGN(mappings, private_mappings(begin, begin + wanted.bytes));
  RMA_TRY_ASSIGN(pages, PageCopy::open(wanted.fd, begin, wanted.offset));
  // A handler of a signal could store something into pages that are copied already. Nothing below allocates.
  int error_number = 0;
  {
    const SignalsHeldBack held_back;
    for (const Mapping& mapping : mappings) {
      if (error_number == 0) error_number = pages.copy(mapping);
    }
    if (error_number == 0 && map_memory(wanted.address, wanted.bytes, MAP_SHARED | MAP_FIXED, wanted.fd,
                                        wanted.offset) == nullptr) {
      error_number = errno;
    }
  }
  if (error_number == 0) return {};
  const bool full = error_number == ENOMEM || error_number == ENOSPC;
  return system_failure(
      full ? RMA_ERR_NO_MEMORY : RMA_ERR_SYSTEM,
      text("cannot put a file behind {} bytes at {}", wanted.bytes, static_cast<void*>(wanted.address)),
      error_number);
}

/// Makes the file of `wanted`.
Status make_file(Alias& wanted) {
  RMA_TRY(check_file_size_limit("the aliased memory", wanted.file_bytes, "set RMA_ALIAS to 0"));
  wanted.fd = ::memfd_create("rma-alias", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (wanted.fd < 0) return system_failure(RMA_ERR_SYSTEM, "memfd_create", errno);
  if (::ftruncate(wanted.fd, static_cast<off_t>(wanted.file_bytes)) != 0 ||
      ::fcntl(wanted.fd, F_ADD_SEALS, kSizeSeals) != 0) {
    return system_failure(RMA_ERR_SYSTEM, text("cannot make a file of {} bytes", wanted.file_bytes), errno);
  }
  struct stat about {};
  if (::fstat(wanted.fd, &about) != 0) return system_failure(RMA_ERR_SYSTEM, "fstat", errno);
  wanted.device = about.st_dev;
  wanted.inode = about.st_ino;
  return {};
}

/// Registers the handlers of fork(), once.
Status watch_forks() {
  static bool registered = false;  // guarded by alias_lock
  if (registered) return {};
  if (const int error = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
      error != 0) {
    return system_failure(RMA_ERR_NO_MEMORY, "pthread_atfork", error);
  }
  registered = true;
  return {};
}

}  // namespace

Status make_alias(std::byte* address, std::size_t bytes) {
  const std::lock_guard guard(alias_lock);
  const std::size_t page = page_bytes();
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t begin = round_down(first, page);
  Alias wanted = {.address = address - (first - begin), .bytes = round_up(first + bytes, page) - begin};
  if (alias.address != nullptr) {
    if (wanted.address >= alias.address && wanted.address + wanted.bytes <= alias.address + alias.bytes)
      return {};
    return {RMA_ERR_STATE, text("this process has an alias of {} bytes at {}, and can have one only",
                                alias.bytes, static_cast<void*>(alias.address))};
  }
  if (const std::size_t threads = count_threads(); threads != 1) {
    return {RMA_ERR_STATE,
            text("this process has {} threads, which may store to the memory meanwhile; make the call "
                 "before other threads start",
                 threads)};
  }
  // Huge pages can be mapped only if address and file offset agree modulo their size.
  wanted.offset = begin % kHugePageBytes;
  wanted.file_bytes = round_up(wanted.offset + wanted.bytes, kHugePageBytes);
  RMA_TRY(watch_forks());
  Status status = make_file(wanted);
  Undo close_file([&] {
    if (wanted.fd >= 0) ::close(wanted.fd);
  });
  if (status.ok()) status = replace(wanted);
  if (!status.ok()) return status;
  close_file.dismiss();
  alias = wanted;
  return {};
}

const Alias* own_alias() noexcept {
  const std::lock_guard guard(alias_lock);
  return alias.address != nullptr && has_file(alias) ? &alias : nullptr;
}

}  // namespace librma
