#include "util/system/unix_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "util/system/interruptions.hpp"

namespace librma {
namespace {

constexpr int kBacklog = 4096;

/// `lead`: bytes in front of the text, which are zero.
SocketName name_of(std::string_view text, std::size_t lead) {
  SocketName name;
  name.address.sun_family = AF_UNIX;
  if (lead + text.size() > sizeof name.address.sun_path - 1) return name;
  std::ranges::copy(text, name.address.sun_path + lead);
  name.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + lead + text.size());
  return name;
}

Descriptor none(int error) {
  errno = error;
  return {};
}

}  // namespace

SocketName SocketName::abstract(std::string_view text) { return name_of(text, 1); }

SocketName SocketName::file(std::string_view path) { return name_of(path, 0); }

Descriptor make_socket(int flags) {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

Descriptor connect_to(const SocketName& name, int flags) {
  if (name.bytes == 0) return none(ENAMETOOLONG);
  Descriptor made = make_socket(flags);
  if (!made.open()) return made;
  if (uninterrupted([&] { return ::connect(made.get(), name.get(), name.bytes); }) != 0) return none(errno);
  return made;
}

Descriptor listen_at(const SocketName& name) {
  if (name.bytes == 0) return none(ENAMETOOLONG);
  Descriptor made = make_socket(SOCK_NONBLOCK);
  if (!made.open()) return made;
  if (::bind(made.get(), name.get(), name.bytes) != 0 || ::listen(made.get(), kBacklog) != 0)
    return none(errno);
  return made;
}

ssize_t receive_message(const Descriptor& socket, msghdr& message, int flags) {
  const msghdr asked = message;
  const auto receive = [&] {
    message = asked;
    return uninterrupted([&] { return ::recvmsg(socket.get(), &message, flags); });
  };
  const ssize_t bytes = receive();
  return bytes != 0 ? bytes : receive();
}

ucred other_end(const Descriptor& socket) {
  ucred who = {.pid = 0, .uid = static_cast<uid_t>(-1), .gid = static_cast<gid_t>(-1)};
  socklen_t bytes = sizeof who;
  static_cast<void>(::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &bytes));
  return who;
}

}  // namespace librma
