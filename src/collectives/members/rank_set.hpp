#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace librma {

/// Finds ranks that a list has twice, in a time that grows with the length of the list. Allocates when it is
/// made and not later, so that a member without memory gets far enough to tell the others. Thread-safe.
class RankSet {
 public:
  explicit RankSet(int ranks) : listed_(static_cast<std::size_t>(ranks)) {}

  /// Returns a rank that is in the list before, or no value. All ranks exist.
  [[nodiscard]] std::optional<int> find_twice(std::span<const int> ranks);

 private:
  std::mutex lock_;
  std::vector<bool> listed_;  ///< none is set, except while the lock is held
};

}  // namespace librma
