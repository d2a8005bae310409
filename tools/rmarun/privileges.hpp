#pragma once

#include <sys/types.h>

#include <string>

namespace rmarun {

/// The users and groups as whom a process runs.
struct Identity {
  uid_t real_user = 0;
  uid_t effective_user = 0;
  gid_t real_group = 0;
  gid_t effective_group = 0;

  /// Returns this process's.
  static Identity own();
};

/// Returns why a process must not start a job with this identity, or an empty text. rmarun with the rights of
/// its file (setuid, setgid) would lend them to all programs, libraries and remote shells that its caller
/// names.
std::string why_refused(const Identity& identity);

/// Prints that, if there is something, and exits with the code of a wrong command line.
void refuse_lent_rights();

}  // namespace rmarun
