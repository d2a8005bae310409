#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX's

#include <optional>

#include "util/status.hpp"
#include "util/system/descriptor.hpp"

namespace rmarun {

/// The signals that ask rmarun to end. SIGHUP does so only if rmarun was not started to ignore it (nohup).
inline constexpr int kEndingSignals[] = {SIGHUP, SIGINT, SIGTERM};

/// The signal that asks rmarun what the ranks wait for.
inline constexpr int kExplainingSignal = SIGQUIT;

/// The signals that are for the ranks, and that rmarun passes on. SIGTSTP and SIGCONT also stop and continue
/// rmarun itself.
inline constexpr int kPassedSignals[] = {SIGUSR1, SIGUSR2, SIGXCPU, SIGTSTP, SIGCONT};

/// Returns all signals that both processes of rmarun block and wait for: these kinds, and SIGCHLD.
sigset_t awaited_signals();

/// Returns a descriptor from which these signals are read, without waiting, as signalfd_siginfo. From here a
/// reader of output that goes away, and the limit on the size of a file (ulimit -f), are errors of write(2)
/// and no signals. The ranks do not inherit this. `more` is a further signal, which is blocked from here.
/// @return RMA_ERR_SYSTEM if the system refuses it.
librma::Result<librma::Descriptor> open_signals(std::optional<int> more = std::nullopt);

/// Takes the next signal that waits in the descriptor of open_signals(), if there is one.
std::optional<int> next_signal(const librma::Descriptor& signals);

bool is_passed_on(int signal);

}  // namespace rmarun
