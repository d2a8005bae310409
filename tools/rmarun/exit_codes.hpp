#pragma once

namespace rmarun {

/// Exit codes of rmarun itself. The shell and timeout(1) use the same.
constexpr int kExitFailure = 1;          ///< the job or rmarun failed without a code of its own
constexpr int kExitUsage = 2;            ///< the command line is wrong
constexpr int kExitTimeout = 124;        ///< the time limit of --timeout has passed
constexpr int kExitNotExecutable = 126;  ///< the program exists but cannot be executed
constexpr int kExitNotFound = 127;       ///< the program does not exist
constexpr int kExitSignal = 128;         ///< plus the signal's number

}  // namespace rmarun
