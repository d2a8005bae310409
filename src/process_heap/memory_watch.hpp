#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace librma::process_heap {

/// Compares the memory of this process's control group with its limit when the process is about to use more.
/// The kernel cannot take back the freed pages that jemalloc keeps, because they lie in a file, and kills a
/// process of a group that needs more than its limit. So these pages go to the system before.
class MemoryWatch {
 public:
  constexpr MemoryWatch() = default;

  /// Watches a group with a limit of `limit` bytes, of which the file named `usage` says how many are in use.
  /// A second call has no effect.
  void begin(const char* usage, std::uint64_t limit) noexcept;

  /// The process is about to use `bytes` more. Returns whether freed pages should go to the system. Reads the
  /// file once for each kLooks-th part of the limit. Thread-safe.
  [[nodiscard]] bool is_short(std::size_t bytes) noexcept;

  /// Does what is_short() does, for a hook of jemalloc, which must not give pages back. If they should go,
  /// wanted() is true afterwards, and the next call of malloc or free that sees it gives them back.
  void note(std::size_t bytes) noexcept {
    if (is_short(bytes)) wanted_.store(true, std::memory_order_relaxed);
  }
  /// Returns whether freed pages should go to the system since a note(). Relaxed: the next call will see it.
  [[nodiscard]] bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
  /// Returns wanted(), and makes it false.
  [[nodiscard]] bool take_wanted() noexcept { return wanted_.exchange(false, std::memory_order_relaxed); }

 private:
  /// A process looks again when it has used one of so many parts of the limit.
  static constexpr std::uint64_t kLooks = 64;
  /// One of so many parts of the limit stays free. The processes of the group may use it between two looks.
  static constexpr std::uint64_t kFreeParts = 8;

  [[nodiscard]] std::uint64_t usage() const noexcept;

  std::array<char, 4096> file_ = {};
  std::atomic<std::uint64_t> limit_{0};   ///< 0: no group is watched
  std::atomic<std::uint64_t> unseen_{0};  ///< bytes since the last look
  std::atomic<bool> wanted_{false};
};

extern MemoryWatch memory_watch;

}  // namespace librma::process_heap
