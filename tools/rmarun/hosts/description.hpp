#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "rmarun/environment.hpp"
#include "rmarun/hosts/frames.hpp"
#include "rmarun/options.hpp"
#include "util/status.hpp"

namespace rmarun {

/// All that the keeper of a rank on another host needs to start it.
struct Description {
  std::string version;    ///< of the rmarun that started the job
  std::string origin;     ///< the host of that rmarun
  std::string directory;  ///< in which that rmarun runs
  Carriage carriage = Carriage::kTagged;
  int descriptor = STDOUT_FILENO;  ///< to which keepers write their frames
  Bind bind = Bind::kNone;
  bool stdin_for_first = true;           ///< rank 0 reads rmarun's stdin
  std::vector<std::string> environment;  ///< as NAME=VALUE: what the ranks get of rmarun's
  std::vector<Program> programs;
  std::vector<std::string> hosts;  ///< by rank: the name in the host list
};

/// Returns the variables that carry `description`, as NAME=VALUE. Their values have letters, digits, '+', '/'
/// and '=' only, so no engine, shell or list of variables changes them, and each is short enough for
/// execve(2).
std::vector<std::string> packed(const Description& description);
/// Reads what packed() has written from this process's environment.
/// @return RMA_ERR_LAUNCH if it is not there, or not whole.
librma::Result<Description> unpacked();

/// Names of the variables of packed() begin so.
constexpr std::string_view kDescriptionVariable = "RMARUN_JOB";

/// On this host engines have their files in rmarun's directory, by TMPDIR. This variable has the TMPDIR that
/// the ranks of this host get, empty if none. It does not go to other hosts, on which that directory does not
/// exist.
constexpr const char* kTmpdirVariable = "RMARUN_JOB_TMPDIR";

/// Whether a variable of rmarun's is for the ranks of other hosts: not if it belongs to this host, to a
/// session, or to a job of which rmarun itself is a part.
bool goes_to_other_hosts(std::string_view name);

}  // namespace rmarun
