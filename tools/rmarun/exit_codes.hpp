#pragma once

namespace rmarun {

/// Exit codes of rmarun itself, as the shell and timeout(1) use them.
constexpr int kExitFailure = 1;          ///< the job or rmarun failed without a code of its own
constexpr int kExitUsage = 2;            ///< the command line is wrong
constexpr int kExitTimeout = 124;        ///< --timeout
constexpr int kExitNotExecutable = 126;  ///< the program is there but cannot be executed
constexpr int kExitNotFound = 127;       ///< there is no such program
constexpr int kExitSignal = 128;         ///< plus the signal's number

}  // namespace rmarun
