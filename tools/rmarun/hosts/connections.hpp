#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rmarun {

/// A TCP connection of a process. The ends are texts as proc(5) writes them: ADDRESS:PORT in hexadecimal
/// digits.
struct Connection {
  std::string here;
  std::string there;
  /// The peer's machine has answered none of the last retransmissions, for 12 s or more. A connection on
  /// which nothing is under way is never silent: TCP's keepalive watches it, and the system ends it.
  bool silent = false;
};

/// Returns the established TCP connections of a process of the same user; none if they cannot be read.
std::vector<Connection> connections_of(pid_t process);

}  // namespace rmarun
