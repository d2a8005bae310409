#include "rmarun/deadlines.hpp"

#include <algorithm>

namespace rmarun {

Deadline earliest(std::initializer_list<Deadline> deadlines) {
  Deadline first;
  for (const Deadline& each : deadlines) {
    if (each) first = first ? std::min(*first, *each) : *each;
  }
  return first;
}

int poll_timeout_until(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now()).count();
  // The caller looks again at a deadline that is further away.
  constexpr decltype(left) kLongest = 1 << 30;
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, kLongest));
}

}  // namespace rmarun
