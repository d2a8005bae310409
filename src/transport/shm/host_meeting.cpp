#include "transport/shm/host_meeting.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "util/log.hpp"
#include "util/system/network_namespace.hpp"
#include "util/system/unix_socket.hpp"
#include "util/try.hpp"

namespace librma::transport {
namespace {

/// The number of calls that a process makes at once. The system limits the descriptors that are on their way.
constexpr std::size_t kCallsAtOnce = 16;
/// After this many milliseconds a process tries again for which there was no room.
constexpr int kRetry = 2;
/// When nothing has happened for this many milliseconds, a process looks whether its partners still exist.
constexpr int kLull = 1000;

/// Room for the descriptors of one message.
union Room {
  cmsghdr header;
  std::array<std::byte, CMSG_SPACE(kHanded * sizeof(int))> bytes;
};

Status no_descriptors() {
  return {RMA_ERR_NO_MEMORY,
          "this process may not open enough files for the memory of all ranks of this host (ulimit -n)"};
}

/// Returns whether `file` is an eventfd whose writers are never blocked, or something else without a name.
bool is_wakeup(int file) {
  struct stat about {};
  const int flags = ::fcntl(file, F_GETFL);
  return ::fstat(file, &about) == 0 && (about.st_mode & S_IFMT) == 0 && flags >= 0 &&
         (static_cast<unsigned>(flags) & static_cast<unsigned>(O_NONBLOCK)) != 0;
}

}  // namespace

/// A message as it has arrived.
struct HostMeeting::Message {
  Words words;
  bool whole = false;  ///< `words` are there
  bool cut = false;    ///< some descriptors did not fit into this process
  std::vector<Descriptor> files;
};

HostMeeting::HostMeeting(const Self& self, std::span<const HostPeers::Partner> partners, Met met)
    : self_(self),
      partners_(partners),
      met_(std::move(met)),
      done_(partners.size()),
      left_(partners.size()) {}

Status HostMeeting::run() {
  std::vector<pollfd> events;
  while (left_ != 0) {
    RMA_TRY(call_next());
    events.assign(1, {.fd = self_.socket, .events = POLLIN, .revents = 0});
    for (const Connection& connection : connections_) {
      events.push_back({.fd = connection.socket.get(), .events = POLLIN, .revents = 0});
    }
    const int ready = ::poll(events.data(), events.size(), crowded_ ? kRetry : kLull);
    if (ready < 0 && errno != EINTR) return system_failure(RMA_ERR_SYSTEM, "poll", errno);
    if (ready == 0 && !crowded_) {
      RMA_TRY(look_for_ended());
    }
    crowded_ = false;
    RMA_TRY(accept_callers());
    for (Connection& connection : connections_) {
      RMA_TRY(serve(connection));
    }
    std::erase_if(connections_, [](const Connection& connection) { return connection.over; });
  }
  return {};
}

Status HostMeeting::call_next() {
  for (; next_ < partners_.size() && calls_ < kCallsAtOnce; ++next_) {
    if (partners_[next_].rank > self_.rank) continue;
    Descriptor made = connect_to(name_of(partners_[next_]), SOCK_NONBLOCK);
    if (!made.open()) {
      switch (errno) {
        case EAGAIN:  // too many callers wait there already
          crowded_ = true;
          return {};
        case ECONNREFUSED:
        case ENOENT:
          return lost(next_);
        case EMFILE:
        case ENFILE:
          return no_descriptors();
        default:
          return system_failure(RMA_ERR_SYSTEM,
                                fmt::format("calling rank {} of this host over a UNIX socket, by which ranks "
                                            "hand each other their memory",
                                            partners_[next_].rank),
                                errno);
      }
    }
    if (const ucred who = other_end(made); who.uid != ::geteuid()) {
      return {
          RMA_ERR_SYSTEM,
          fmt::format("rank {} of this host runs as user {}, and this process as user {}: ranks of one host "
                      "must be of one user",
                      partners_[next_].rank, who.uid, ::geteuid())};
    }
    connections_.push_back({.socket = std::move(made), .partner = next_, .calling = true, .heard = {}});
    ++calls_;
    RMA_TRY(say(connections_.back()));
  }
  return {};
}

Status HostMeeting::accept_callers() {
  while (true) {
    Descriptor made(::accept4(self_.socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!made.open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return {};
      if (errno == EMFILE || errno == ENFILE) return no_descriptors();
      return system_failure(RMA_ERR_SYSTEM, "accepting a call of another rank of this host", errno);
    }
    if (const ucred who = other_end(made); who.uid != ::geteuid()) {
      log(LogLevel::warn, "process {} of user {} calls, and is no rank", who.pid, who.uid);
      continue;
    }
    connections_.push_back({.socket = std::move(made), .partner = {}, .heard = {}});
  }
}

Status HostMeeting::serve(Connection& connection) {
  if (connection.calling && !connection.said) {
    RMA_TRY(say(connection));
  }
  if (!connection.over && !connection.heard && (connection.said || !connection.calling)) {
    RMA_TRY(hear(connection));
  }
  if (!connection.over && !connection.calling && connection.heard) {
    RMA_TRY(say(connection));
  }
  if (connection.over || !connection.heard || !connection.said) return {};
  connection.over = true;
  if (connection.calling) --calls_;
  const std::size_t partner = *connection.partner;
  HostPeer& peer = *connection.heard;
  const bool both =
      peer.file(Handed::process) >= 0 && self_.files[static_cast<std::size_t>(Handed::process)] >= 0;
  if (!both) peer.connection = std::move(connection.socket);
  done_[partner] = true;
  --left_;
  return met_(partners_[partner].rank, std::move(peer));
}

Status HostMeeting::say(Connection& connection) {
  const HostPeers::Partner& partner = partners_[*connection.partner];
  Words words = {.secret = partner.card.secret, .rank = self_.rank};
  std::array<int, kHanded> files = {};
  std::size_t count = 0;
  for (std::size_t kind = 0; kind < kHanded; ++kind) {
    if (self_.files[kind] < 0) continue;
    words.kinds |= 1U << kind;
    files[count++] = self_.files[kind];
  }
  iovec piece = {.iov_base = &words, .iov_len = sizeof words};
  Room room = {};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (count != 0) {
    message.msg_control = &room;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    room.header.cmsg_level = SOL_SOCKET;
    room.header.cmsg_type = SCM_RIGHTS;
    room.header.cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(&room.header), files.data(), count * sizeof(int));
  }
  while (::sendmsg(connection.socket.get(), &message, MSG_NOSIGNAL) < 0) {
    switch (errno) {
      case EINTR:
        continue;
      case EAGAIN:
      case ETOOMANYREFS:  // as many descriptors of this user are on their way as it may open
        crowded_ = true;
        return {};
      case EPIPE:
      case ECONNRESET:
        return lost(*connection.partner);
      default:
        return system_failure(RMA_ERR_SYSTEM,
                              fmt::format("handing this process's memory to rank {}", partner.rank), errno);
    }
  }
  connection.said = true;
  return {};
}

Status HostMeeting::hear(Connection& connection) {
  Message arrived;
  iovec piece = {.iov_base = &arrived.words, .iov_len = sizeof arrived.words};
  Room room = {};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = &room;
  message.msg_controllen = sizeof room;
  const ssize_t bytes = receive_message(connection.socket, message, MSG_CMSG_CLOEXEC);
  if (bytes < 0 && errno == EAGAIN) return {};
  if (bytes <= 0) {
    connection.over = true;  // the other end has closed the connection
    return connection.partner ? lost(*connection.partner) : Status();
  }
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(part) + at, sizeof file);
      arrived.files.emplace_back(file);
    }
  }
  const auto flags = static_cast<unsigned>(message.msg_flags);
  arrived.whole = static_cast<std::size_t>(bytes) == sizeof arrived.words && (flags & MSG_TRUNC) == 0;
  arrived.cut = (flags & MSG_CTRUNC) != 0;
  const auto sender = std::ranges::find(partners_, arrived.words.rank, &HostPeers::Partner::rank);
  if (!arrived.whole || arrived.words.magic != Words::kMagic || arrived.words.secret != self_.card.secret ||
      sender == partners_.end()) {
    return refuse(connection, {RMA_ERR_LAUNCH, "it does not speak as a rank of this job does"});
  }
  const auto partner = static_cast<std::size_t>(sender - partners_.begin());
  auto peer = check(connection, partner, arrived);
  if (!peer.ok()) return refuse(connection, std::move(peer).status());
  connection.partner = partner;
  connection.heard = std::move(peer).value();
  return {};
}

Result<HostPeer> HostMeeting::check(const Connection& connection, std::size_t partner, Message& message) {
  const auto [rank, card] = partners_[partner];
  const bool expected = connection.calling ? *connection.partner == partner : rank > self_.rank;
  const bool again = std::ranges::any_of(connections_, [&](const Connection& other) {
    return &other != &connection && other.partner == partner;
  });
  if (!expected || done_[partner] || again) {
    return Status(RMA_ERR_LAUNCH, fmt::format("rank {} speaks where another one should", rank));
  }
  HostPeer peer = {.process = other_end(connection.socket).pid, .files = {}, .connection = {}};
  std::size_t next = 0;
  for (std::size_t kind = 0; kind < kHanded; ++kind) {
    if ((message.words.kinds >> kind & 1U) == 0) continue;
    if (next == message.files.size()) break;
    peer.files[kind] = std::move(message.files[next++]);
  }
  if (message.cut) return no_descriptors();
  for (std::size_t kind = 0; kind < kHanded; ++kind) {
    struct stat about {};
    const FileIdentity& wanted = card.files[kind];
    if (wanted == FileIdentity()) continue;
    if (!peer.files[kind].open() || ::fstat(peer.files[kind].get(), &about) != 0 ||
        FileIdentity{.device = about.st_dev, .inode = about.st_ino} != wanted) {
      return Status(RMA_ERR_LAUNCH, fmt::format("rank {} hands over another file than its card says", rank));
    }
  }
  if (const int wakeup = peer.file(Handed::wakeup); wakeup >= 0 && !is_wakeup(wakeup)) {
    return Status(RMA_ERR_LAUNCH, fmt::format("rank {} hands over something that wakes nobody", rank));
  }
  return peer;
}

Status HostMeeting::refuse(Connection& connection, Status why) {
  connection.over = true;
  if (connection.calling || why.code() == RMA_ERR_NO_MEMORY) return why;
  log(LogLevel::warn, "process {} calls and is refused: {}", other_end(connection.socket).pid, why.text());
  return {};
}

SocketName HostMeeting::name_of(const HostPeers::Partner& partner) const {
  const auto& name = partner.card.name;
  return self_.directory.empty() ? SocketName::abstract({name.data(), strnlen(name.data(), name.size())})
                                 : SocketName::file(meeting_file(self_.directory, partner.rank));
}

Status HostMeeting::look_for_ended() const {
  for (std::size_t partner = 0; partner < partners_.size(); ++partner) {
    if (done_[partner] || partners_[partner].rank < self_.rank) continue;
    if (connect_to(name_of(partners_[partner]), SOCK_NONBLOCK).open()) continue;
    if (errno == ECONNREFUSED || errno == ENOENT) return lost(partner);
  }
  return {};
}

Status HostMeeting::lost(std::size_t partner) const {
  const auto [rank, card] = partners_[partner];
  if (card.network != self_.card.network && self_.directory.empty()) {
    return {
        RMA_ERR_SYSTEM,
        fmt::format("rank {} is on this host in another network namespace, where this process cannot ask it "
                    "for its memory: run the ranks of a host in one network namespace (containers: with "
                    "the host's network), or set RMA_SHM=off to reach them by the network",
                    rank)};
  }
  return {RMA_ERR_PEER_LOST,
          fmt::format("rank {} has ended, or cannot meet the other ranks of this host", rank)};
}

}  // namespace librma::transport
