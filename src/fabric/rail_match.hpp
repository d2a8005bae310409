#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fabric/registrar.hpp"

namespace rma {

/// Which of a rank's rails each rail of this process talks to. Rails of the same name are in the same
/// network: a host of which one port is down numbers its rails differently, and names them as before. Those
/// whose names the other side does not have are paired in their order, as between hosts that name devices
/// differently. Both sides come to the same pairs.
class RailMatch {
 public:
  RailMatch() { theirs_.fill(kNone); }
  RailMatch(std::span<const std::string> mine, std::span<const std::string> theirs);

  [[nodiscard]] bool has(std::size_t mine) const { return theirs_[mine] != kNone; }
  /// The rank's number for what this process calls rail `mine`, which is paired.
  [[nodiscard]] std::size_t theirs(std::size_t mine) const { return theirs_[mine]; }
  /// This process's number for the rank's rail `theirs`; kMaxRails when it is paired with none.
  [[nodiscard]] std::size_t mine(std::size_t theirs) const;
  /// Keys by the rank's rails, ordered by this process's; 0 where there is no pair.
  [[nodiscard]] RailKeys by_mine(const RailKeys& keys) const;

 private:
  static constexpr std::uint8_t kNone = 0xff;
  std::array<std::uint8_t, kMaxRails> theirs_;
};

}  // namespace rma
