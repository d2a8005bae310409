#include "process_heap/populated.hpp"

#include <sys/mman.h>

#include <atomic>

#include "process_heap/next.hpp"

namespace librma::process_heap {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;

}  // namespace

constinit Populated populated;

void Populated::watch(std::byte* base, std::size_t bytes) noexcept {
  void* const marks = ::mmap(nullptr, bytes / kPiece + 1, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (marks == MAP_FAILED) return;
  base_ = base;
  marks_ = static_cast<unsigned char*>(marks);
}

void Populated::use([[maybe_unused]] std::byte* address, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (marks_ == nullptr) return;
  const auto begin = static_cast<std::size_t>(address - base_);
  const std::size_t end = (begin + bytes - 1) / kPiece + 1;
  for (std::size_t at = begin / kPiece; at < end;) {
    std::size_t after = at;
    // Relaxed: a mark only saves a system call. Whoever is late finds the pages, or has them at a touch.
    while (after < end && std::atomic_ref(marks_[after]).exchange(1, std::memory_order_relaxed) == 0) ++after;
    // A piece may reach beyond what the range has mapped, and the system may have no memory. The program
    // then gets its pages, or the system's answer, when it touches them.
    if (after != at) {
      static_cast<void>(next().madvise(base_ + at * kPiece, (after - at) * kPiece, MADV_POPULATE_WRITE));
    }
    at = after + 1;
  }
#endif
}

void Populated::forget(std::byte* address, std::size_t bytes) noexcept {
  if (marks_ == nullptr) return;
  const auto begin = static_cast<std::size_t>(address - base_);
  const std::size_t end = (begin + bytes) / kPiece;
  for (std::size_t at = (begin + kPiece - 1) / kPiece; at < end; ++at) {
    std::atomic_ref(marks_[at]).store(0, std::memory_order_relaxed);  // as above
  }
}

}  // namespace librma::process_heap
