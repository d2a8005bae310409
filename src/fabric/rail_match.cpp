#include "fabric/rail_match.hpp"

#include <algorithm>

namespace librma {

RailMatch::RailMatch(std::span<const std::string> mine, std::span<const std::string> theirs) : RailMatch() {
  std::array<bool, kMaxRails> taken = {};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    for (std::size_t j = 0; j < theirs.size() && !has(i); ++j) {
      if (taken[j] || theirs[j] != mine[i]) continue;
      theirs_[i] = static_cast<std::uint8_t>(j);
      taken[j] = true;
    }
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (has(i)) continue;
    while (next < theirs.size() && taken[next]) ++next;
    if (next == theirs.size()) return;
    theirs_[i] = static_cast<std::uint8_t>(next++);
  }
}

std::size_t RailMatch::mine(std::size_t theirs) const {
  const auto found = std::find(theirs_.begin(), theirs_.end(), static_cast<std::uint8_t>(theirs));
  return static_cast<std::size_t>(found - theirs_.begin());
}

RailKeys RailMatch::by_mine(const RailKeys& keys) const {
  RailKeys ordered = {};
  for (std::size_t i = 0; i < kMaxRails; ++i) {
    if (has(i)) ordered[i] = keys[theirs_[i]];
  }
  return ordered;
}

}  // namespace librma
