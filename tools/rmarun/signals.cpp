#include "rmarun/signals.hpp"

#include <algorithm>
#include <iterator>

namespace rmarun {

sigset_t awaited_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGCHLD);
  ::sigaddset(&signals, kExplainingSignal);
  for (const int signal : kPassedSignals) ::sigaddset(&signals, signal);
  for (const int signal : kEndingSignals) {
    struct sigaction action {};
    const bool ignored =
        ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;  // NOLINT: a C union
    // A shell without job control ignores SIGINT for what runs in its background. One that is sent to rmarun
    // is meant for it all the same.
    if (signal != SIGHUP || !ignored) ::sigaddset(&signals, signal);
  }
  return signals;
}

bool is_passed_on(int signal) {
  return std::find(std::begin(kPassedSignals), std::end(kPassedSignals), signal) != std::end(kPassedSignals);
}

}  // namespace rmarun
