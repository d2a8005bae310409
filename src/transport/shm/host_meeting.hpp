#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/shm/host_peers.hpp"
#include "util/status.hpp"
#include "util/system/unix_socket.hpp"

namespace librma::transport {

/// The exchange of descriptors between one process and all others of its host, which do the same at the same
/// time. Each two processes have one connection: the one of the higher rank calls. It says who it is, shows
/// that it knows the other's secret, and hands its descriptors over in one message. The other answers in the
/// same way.
///
/// A process that waits for an answer answers others meanwhile, so no circle of processes waits for each
/// other. It leaves when it has met all, and then nobody needs it any more. So a process whose socket has
/// gone before it was met has ended.
class HostMeeting {
 public:
  struct Self {
    int rank;
    int socket;  ///< listens
    const HostCard& card;
    const std::array<int, kHanded>& files;  ///< -1 for what it does not hand over
    const std::string& directory;           ///< of the sockets' files; empty: they have abstract names
  };
  /// The words that a process sends in front of its descriptors. This is a wire format.
  struct Words {
    static constexpr std::uint64_t kMagic = 0x7465'656d'2d61'6d72;  // "rma-meet"
    std::uint64_t magic = kMagic;
    std::array<std::uint64_t, 2> secret = {};  ///< that of the process that it talks to
    std::int32_t rank = -1;                    ///< of the process that speaks
    std::uint32_t kinds = 0;  ///< a bit for each kind of descriptor that follows, in this order
  };
  static_assert(sizeof(Words) == 32);
  using Met = std::function<Status(int rank, HostPeer peer)>;

  /// `met` is called for each partner as soon as its descriptors are here. All arguments outlive this.
  HostMeeting(const Self& self, std::span<const HostPeers::Partner> partners, Met met);

  /// Meets all partners. Fails as HostPeers::meet() does.
  [[nodiscard]] Status run();

 private:
  struct Connection {
    Descriptor socket;
    std::optional<std::size_t> partner;  ///< whom it leads to; no value until a caller has said it
    bool calling = false;                ///< this process has called
    bool said = false;                   ///< this process has handed its descriptors over
    std::optional<HostPeer> heard;       ///< what the other has handed over
    bool over = false;                   ///< nothing remains to be done here
  };
  struct Message;

  [[nodiscard]] Status call_next();
  [[nodiscard]] Status accept_callers();
  [[nodiscard]] Status serve(Connection& connection);
  [[nodiscard]] Status say(Connection& connection);
  [[nodiscard]] Status hear(Connection& connection);
  /// Makes a HostPeer of a message, if it comes from a partner that was not met yet and hands over what its
  /// card says.
  [[nodiscard]] Result<HostPeer> check(const Connection& connection, std::size_t partner, Message& message);
  /// Ends a connection over which something came that does not belong here. That is a failure if a partner
  /// must be at its other end.
  [[nodiscard]] Status refuse(Connection& connection, Status why);
  [[nodiscard]] SocketName name_of(const HostPeers::Partner& partner) const;
  /// Fails if a partner that has not called yet has ended.
  [[nodiscard]] Status look_for_ended() const;
  [[nodiscard]] Status lost(std::size_t partner) const;

  const Self self_;
  const std::span<const HostPeers::Partner> partners_;
  const Met met_;
  std::vector<Connection> connections_;
  std::vector<bool> done_;  ///< by partner
  std::size_t left_;        ///< partners that are not done
  std::size_t next_ = 0;    ///< the partner to call next, if its rank is lower
  std::size_t calls_ = 0;   ///< own calls under way
  bool crowded_ = false;    ///< the system has no room now for a call or for descriptors on their way
};

}  // namespace librma::transport
