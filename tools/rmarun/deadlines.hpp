#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>

namespace rmarun {

/// A time at which something is due, if anything is.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Returns the earliest of several deadlines.
[[nodiscard]] Deadline earliest(std::initializer_list<Deadline> deadlines);
/// Returns the timeout of poll(2) that ends when a deadline has passed: -1 without a deadline.
[[nodiscard]] int poll_timeout_until(const Deadline& deadline);

/// Returns a number of seconds as a duration of the clock.
[[nodiscard]] constexpr std::chrono::steady_clock::duration seconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace rmarun
