#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX's

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

bool is_passed_on(int signal);

}  // namespace rmarun
