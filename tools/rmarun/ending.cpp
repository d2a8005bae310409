#include "rmarun/ending.hpp"

#include <csignal>

#include "rmarun/processes.hpp"

namespace rmarun {
namespace {

/// The time between two rounds of SIGKILL.
constexpr auto kKillPeriod = std::chrono::milliseconds(20);

}  // namespace

void Ending::ask_all(Duration grace) {
  if (begun()) return;
  signal_descendants(SIGTERM);
  signal_descendants(SIGCONT);  // what is stopped could not end
  kill_after(grace);
}

void Ending::kill_after(Duration grace) {
  if (!begun()) kill_at_ = std::chrono::steady_clock::now() + grace;
}

bool Ending::due() const { return begun() && std::chrono::steady_clock::now() >= *kill_at_; }

void Ending::kill() {
  signal_descendants(SIGKILL);
  kill_at_ = std::chrono::steady_clock::now() + kKillPeriod;
}

}  // namespace rmarun
