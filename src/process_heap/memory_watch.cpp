#include "process_heap/memory_watch.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace librma::process_heap {

constinit MemoryWatch memory_watch;

void MemoryWatch::begin(const char* usage, std::uint64_t limit) noexcept {
  const std::size_t bytes = std::strlen(usage) + 1;
  if (limit_.load(std::memory_order_relaxed) != 0 || bytes > file_.size()) return;
  std::memcpy(file_.data(), usage, bytes);
  // Release: pairs with the acquire in is_short(), which reads the name behind it.
  limit_.store(limit, std::memory_order_release);
}

bool MemoryWatch::is_short(std::size_t bytes) noexcept {
  const std::uint64_t limit = limit_.load(std::memory_order_acquire);
  if (limit == 0) return false;
  // Relaxed: a count that decides only when somebody looks.
  if (unseen_.fetch_add(bytes, std::memory_order_relaxed) + bytes < limit / kLooks) return false;
  unseen_.store(0, std::memory_order_relaxed);
  const std::uint64_t used = usage();
  return used != 0 && used + bytes > limit - limit / kFreeParts;
}

/// Returns how many bytes the group uses; 0 if the file does not say. malloc calls it, so it keeps errno, and
/// a thread that is being canceled must not end in open() or read().
std::uint64_t MemoryWatch::usage() const noexcept {
  const int error_number = errno;
  int cancelable = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
  std::uint64_t bytes = 0;
  if (const int file = ::open(file_.data(), O_RDONLY | O_CLOEXEC); file >= 0) {
    std::array<char, 32> text = {};
    const ssize_t length = ::read(file, text.data(), text.size());
    if (length > 0) std::from_chars(text.data(), text.data() + length, bytes);
    ::close(file);
  }
  pthread_setcancelstate(cancelable, nullptr);
  errno = error_number;
  return bytes;
}

}  // namespace librma::process_heap
