#include "rmarun/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

librma::Result<librma::Descriptor> open_signals(std::optional<int> more) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  sigset_t set = awaited_signals();
  if (more) ::sigaddset(&set, *more);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  librma::Descriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.open()) return librma::system_failure(RMA_ERR_SYSTEM, "signalfd", errno);
  return signals;
}

std::optional<int> next_signal(const librma::Descriptor& signals) {
  signalfd_siginfo info{};
  if (::read(signals.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

bool is_passed_on(int signal) {
  return std::find(std::begin(kPassedSignals), std::end(kPassedSignals), signal) != std::end(kPassedSignals);
}

}  // namespace rmarun
