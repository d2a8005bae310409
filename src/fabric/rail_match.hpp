#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fabric/registrar.hpp"

namespace librma {

/// Says which rail of another rank each rail of this process talks to. Rails of the same name are paired,
/// because they are in the same network. (A host with one port down numbers its rails differently, but their
/// names stay.) The remaining rails are paired in their order, for hosts that name their devices differently.
/// Both sides compute the same pairs.
class RailMatch {
 public:
  RailMatch() { theirs_.fill(kNone); }
  RailMatch(std::span<const std::string> mine, std::span<const std::string> theirs);

  [[nodiscard]] bool has(std::size_t mine) const { return theirs_[mine] != kNone; }
  /// Returns the rank's number of the rail that is paired with this process's rail `mine`. has(mine) is true.
  [[nodiscard]] std::size_t theirs(std::size_t mine) const { return theirs_[mine]; }
  /// Returns this process's number of the rail that is paired with the rank's rail `theirs`; kMaxRails
  /// if none is.
  [[nodiscard]] std::size_t mine(std::size_t theirs) const;
  /// Takes keys in the order of the rank's rails and returns them in the order of this process's rails; 0 for
  /// a rail without a pair.
  [[nodiscard]] RailKeys by_mine(const RailKeys& keys) const;

 private:
  static constexpr std::uint8_t kNone = 0xff;
  std::array<std::uint8_t, kMaxRails> theirs_;
};

}  // namespace librma
