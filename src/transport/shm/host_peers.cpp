#include "transport/shm/host_peers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "transport/shm/host_meeting.hpp"
#include "transport/shm/wakeup.hpp"
#include "util/log.hpp"
#include "util/system/network_namespace.hpp"
#include "util/system/unix_socket.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

/// Raises the soft limit on descriptors by those that this process takes for `processes` others, so that the
/// program has as many for itself as before.
void raise_descriptor_limit(std::size_t processes) {
  constexpr rlim_t kKept = 3;  // of each process: its pidfd, its wakeup, and its segment until that is mapped
  constexpr rlim_t kPassing = 64;  // while the processes meet
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  limit.rlim_cur = std::min(limit.rlim_max, limit.rlim_cur + kKept * processes + kPassing);
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // if it fails, a descriptor may be missing later
}

/// Gives a card a secret of its own, and the network namespace of this process.
Status draw_secret(HostCard& card) {
  if (getrandom(card.secret.data(), sizeof card.secret, 0) != sizeof card.secret)
    return system_failure(RMA_ERR_SYSTEM, "getrandom", errno);
  card.network = network_namespace();
  return {};
}

}  // namespace

std::string meeting_file(const std::string& directory, int rank) {
  return fmt::format("{}/meet.{}", directory, rank);
}

HostPeers::HostPeers(int rank, const std::vector<int>& locals, std::string directory)
    : rank_(rank), locals_(locals), directory_(std::move(directory)), entries_(locals.size()) {
  offered_.fill(-1);
}

Status HostPeers::open() {
  raise_descriptor_limit(locals_.size());
  if (directory_.empty()) {
    RMA_TRY_ASSIGN(door, open_door());
    socket_ = std::move(door.socket);
    card_ = door.card;
  } else {
    const std::string file = meeting_file(directory_, rank_);
    unlink(file.c_str());  // that of an earlier process of this rank
    socket_ = listen_at(SocketName::file(file));
    if (!socket_.open()) {
      return system_failure(
          RMA_ERR_SYSTEM,
          fmt::format(
              "making the socket {}, at which the ranks of this host meet that have network namespaces "
              "of their own",
              file),
          errno);
    }
    RMA_TRY(draw_secret(card_));
  }
  process_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (process_.open()) offered_[static_cast<std::size_t>(Handed::process)] = process_.get();
  return {};
}

Result<HostPeers::Door> HostPeers::open_door() const {
  if (!directory_.empty())
    return Status(RMA_ERR_UNSUPPORTED, "ranks of several network namespaces cannot meet later");
  // An address without a name makes the system choose an abstract one, which no other socket has.
  SocketName name = SocketName::abstract({});
  name.bytes = sizeof name.address.sun_family;
  Door door = {.socket = listen_at(name), .card = card_};
  if (!door.socket.open())
    return system_failure(RMA_ERR_SYSTEM, "making the socket at which the ranks of this host meet", errno);
  name.bytes = sizeof name.address;
  if (getsockname(door.socket.get(), reinterpret_cast<sockaddr*>(&name.address), &name.bytes) != 0)
    return system_failure(RMA_ERR_SYSTEM, "getsockname", errno);
  const std::size_t length = name.bytes - offsetof(sockaddr_un, sun_path) - 1;
  if (length >= door.card.name.size())
    return Status(RMA_ERR_SYSTEM, "the system chose a long name for a socket");
  door.card.name = {};
  std::memcpy(door.card.name.data(), name.address.sun_path + 1, length);
  RMA_TRY(draw_secret(door.card));
  return door;
}

Status HostPeers::offer(Handed kind, int file) {
  struct stat about {};
  if (fstat(file, &about) != 0) return system_failure(RMA_ERR_SYSTEM, "memory of this process", errno);
  offered_[static_cast<std::size_t>(kind)] = file;
  if (S_ISREG(about.st_mode)) {
    card_.files[static_cast<std::size_t>(kind)] = {.device = about.st_dev, .inode = about.st_ino};
  }
  return {};
}

Status HostPeers::meet(std::span<const Partner> partners, const Use& use) {
  // Closed at the end, also after a failure, so that no partner goes on waiting for this process.
  const Descriptor socket = std::move(socket_);
  RMA_TRY(add_self());
  if (partners.empty()) return {};
  HostMeeting meeting(
      {.rank = rank_, .socket = socket.get(), .card = card_, .files = offered_, .directory = directory_},
      partners, [&](int rank, HostPeer peer) {
        RMA_TRY(use(rank, peer));
        add(rank, std::move(peer));
        return Status();
      });
  Status met = meeting.run();
  if (!directory_.empty()) unlink(meeting_file(directory_, rank_).c_str());
  return met;
}

Status HostPeers::meet_at(const Door& door, std::span<const Partner> partners, const Use& use) {
  HostMeeting meeting({.rank = rank_,
                       .socket = door.socket.get(),
                       .card = door.card,
                       .files = offered_,
                       .directory = directory_},
                      partners, [&](int rank, HostPeer peer) {
                        RMA_TRY(use(rank, peer));
                        add(rank, std::move(peer));
                        return Status();
                      });
  return meeting.run();
}

Status HostPeers::add_self() {
  HostPeer self = {.process = getpid(), .files = {}, .connection = {}};
  for (const Handed kind : {Handed::process, Handed::segment, Handed::wakeup}) {
    const auto at = static_cast<std::size_t>(kind);
    if (offered_[at] < 0) continue;
    self.files[at] = Descriptor(fcntl(offered_[at], F_DUPFD_CLOEXEC, 0));
    if (!self.files[at].open()) {
      return system_failure(RMA_ERR_NO_MEMORY, "this process has no descriptor left (ulimit -n)", errno);
    }
  }
  add(rank_, std::move(self));
  return {};
}

void HostPeers::add(int rank, HostPeer peer) {
  const auto at = std::ranges::lower_bound(locals_, rank);
  Entry& entry = entries_[static_cast<std::size_t>(at - locals_.begin())];
  const std::lock_guard guard(adding_);
  if (entry.there.load(std::memory_order_relaxed)) return;
  entry.peer = std::move(peer);
  entry.there.store(true, std::memory_order_release);  // publishes the peer; pairs with the load in find()
}

HostPeer* HostPeers::find(int rank) const {
  const auto at = std::ranges::lower_bound(locals_, rank);
  if (at == locals_.end() || *at != rank) return nullptr;
  Entry& entry = entries_[static_cast<std::size_t>(at - locals_.begin())];
  // Pairs with the store in add().
  return entry.there.load(std::memory_order_acquire) ? &entry.peer : nullptr;
}

bool HostPeers::ended(int rank) const {
  const HostPeer* const peer = find(rank);
  if (peer == nullptr || peer->end() < 0 || !has_ended(peer->end())) return false;
  // The system ended the process before it reported the end. The fence orders the caller's next loads after
  // that.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

}  // namespace librma::transport
