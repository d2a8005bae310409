#pragma once

#include <sys/types.h>

#include <string_view>

namespace librma {

/// The process that is a rank.
///
/// A child that a rank starts inherits the launcher's environment, and with it the rank's place in the job.
/// If the child joined, too, the launcher would have two processes of one rank, and both would wait for ever.
/// So the first process that joins as a rank claims it, until it ends. No process can tell otherwise which
/// one the launcher means: it may have started a shell, a debugger or another wrapper, which starts the
/// program.
///
/// The claim is an abstract UNIX socket that listens. Its name follows from the launcher's environment, its
/// end from the process's, and the system says who made it. Processes in different network namespaces do not
/// see each other's.
struct RankClaim {
  enum class Holder { self, other };
  Holder holder = Holder::self;
  pid_t process = 0;  ///< the other process; 0: not known, as in another PID namespace
};

/// Claims `rank` of `job`, which the environment names, for this process. The answer is the same every time
/// in a process. A process that is forked from one that has claimed a rank gets `other`. Where no claim is
/// possible, the answer is `self`. Thread-compatible.
[[nodiscard]] RankClaim claim_rank(std::string_view job, std::string_view rank);

}  // namespace librma
