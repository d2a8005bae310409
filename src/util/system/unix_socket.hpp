#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <string_view>

#include "util/system/descriptor.hpp"

namespace librma {

/// The address of a UNIX socket.
struct SocketName {
  sockaddr_un address = {};
  socklen_t bytes = 0;  ///< 0: the text is too long

  /// An abstract name, valid in one network namespace.
  static SocketName abstract(std::string_view text);
  /// A file, which every process reaches that sees it, whatever network namespace it is in.
  static SocketName file(std::string_view path);

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

/// Makes a socket that keeps messages apart (SOCK_SEQPACKET). `flags` are those of socket(2), such as
/// SOCK_NONBLOCK. Not open, with errno set, on failure, as with the next functions.
[[nodiscard]] Descriptor make_socket(int flags = 0);
/// Makes such a socket and connects it. ENAMETOOLONG if `name` is too long.
[[nodiscard]] Descriptor connect_to(const SocketName& name, int flags = 0);
/// Makes such a socket, which does not block, and listens there.
[[nodiscard]] Descriptor listen_at(const SocketName& name);

/// Receives the next message as recvmsg(2) does, also if signals interrupt it. Returns 0 only at the end of
/// the connection: Linux may see no message, then that the other end has closed, and report the end although
/// the last message came in between. The end is final, so a second look tells.
[[nodiscard]] ssize_t receive_message(const Descriptor& socket, msghdr& message, int flags);

/// Returns who is at the other end; as this process's user and PID namespaces see it.
[[nodiscard]] ucred other_end(const Descriptor& socket);

}  // namespace librma
