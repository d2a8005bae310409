#include "util/system/file_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "util/system/interruptions.hpp"

namespace librma {
namespace {

/// One call takes at most this much, because signals are held back meanwhile if they have interrupted it.
constexpr std::size_t kStep = std::size_t{64} << 20U;

}  // namespace

int take_file_memory(int file, std::size_t offset, std::size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t step = std::min(bytes - done, kStep);
    const auto take = [&] {
      return ::fallocate(file, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset + done),
                         static_cast<off_t>(step));
    };
    int result = take();
    if (result != 0 && errno == EINTR) {
      // A signal makes the kernel undo the whole call (before Linux 6.16). A call that takes longer than the
      // interval of a timer would never succeed.
      const SignalsHeldBack held_back;
      result = uninterrupted(take);
    }
    if (result != 0) return errno;
    done += step;
  }
  return 0;
}

void give_file_memory(int file, std::size_t offset, std::size_t bytes) noexcept {
  // Nothing but a signal makes this fail.
  static_cast<void>(uninterrupted([&] {
    return ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                       static_cast<off_t>(bytes));
  }));
}

std::byte* map_sparse_file(int file, std::size_t bytes, std::byte* address) noexcept {
  const int flags = MAP_SHARED | MAP_NORESERVE | (address != nullptr ? MAP_FIXED : 0);
  // The kernel makes no pages for a mapping without access, so mlockall() takes no memory before munlock().
  void* const mapped = ::mmap(address, bytes, PROT_NONE, flags, file, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (::munlock(mapped, bytes) == 0 && ::mprotect(mapped, bytes, PROT_READ | PROT_WRITE) == 0)
    return static_cast<std::byte*>(mapped);
  const int error_number = errno;
  // Addresses that the caller named were its own before the call, and stay so.
  if (address == nullptr) ::munmap(mapped, bytes);
  errno = error_number;
  return nullptr;
}

}  // namespace librma
