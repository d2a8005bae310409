#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "transport/wireup/handshake.hpp"
#include "util/statistics.hpp"
#include "util/status.hpp"

namespace librma::transport {

/// The handshakes of one port, in the formats of `Wire` (handshake.hpp). They use datagrams, which may be
/// lost, duplicated, reordered or forged:
///
///   caller                                     called
///   hello (its end)  ------------------------> binds its own end to the caller's
///   binds its end    <------------------------ welcome (the called's end)
///
/// A process that wants to send to a peer calls it: it repeats its hello until a welcome comes. Then it
/// knows that the peer's end listens. The peer answers each hello by a welcome, however often it comes. If
/// two processes call each other at once, each answers the other. The first handshake datagram that arrives,
/// of either kind, binds the end; later ones do not. So a pair of processes has one connection, whichever of
/// them called. Thread-safe.
template <typename Wire>
class WireupOf {
 public:
  using Address = typename Wire::Address;
  using Endpoint = typename Wire::Endpoint;
  using PortCard = PortCardOf<Wire>;
  using Handshake = HandshakeOf<Wire>;

  /// Sends the datagrams and owns the ends. WireupOf calls send() without its lock, and the other
  /// functions with its lock.
  class WireupExchange {
   public:
    WireupExchange() = default;
    WireupExchange(const WireupExchange&) = delete;
    WireupExchange& operator=(const WireupExchange&) = delete;
    virtual ~WireupExchange() = default;
    /// Returns this side's end of the connection to `peer`. The first call makes it.
    [[nodiscard]] virtual Result<Endpoint> local_end(int peer) = 0;
    /// Connects the local end to the peer's end. Called once for each peer.
    [[nodiscard]] virtual Status bind(int peer, const Endpoint& end) = 0;
    /// Sends a handshake datagram, which may be lost.
    virtual void send(const Address& to, const Handshake& handshake) = 0;
  };

  struct Self {
    int rank = 0;
    int ranks = 1;
    Address address;
    Secret secret = {};
  };

  WireupOf(WireupExchange& exchange, const Self& self, std::chrono::milliseconds timeout)
      : exchange_(exchange), self_(self), timeout_(timeout) {}

  /// Connects to `peer`, which published `card`. After success the peer's end listens. RMA_ERR_PEER_LOST if
  /// no answer came within the timeout; the next call tries again.
  [[nodiscard]] Status call(int peer, const PortCard& card);

  /// Handles a datagram. A datagram that does not come from this job is dropped and counted.
  void receive(std::span<const std::byte> datagram);

 private:
  /// A hello is repeated after kFirstRepeat. Each further wait is twice as long, up to kLastRepeat.
  static constexpr std::chrono::milliseconds kFirstRepeat{20};
  static constexpr std::chrono::milliseconds kLastRepeat{500};

  struct Connection {
    bool made = false;   ///< the local end was made: `here` is valid
    Endpoint here;       ///< this side's end
    bool bound = false;  ///< the local end is connected to `there`
    Endpoint there;
    Status failure;          ///< the error of making or binding this side's end
    std::uint64_t call = 0;  ///< the number of this process's call; 0 before the first
    Secret secret = {};      ///< the peer's secret, once this process has called it
    bool welcomed = false;   ///< the peer's end listens
  };

  [[nodiscard]] bool prepare(int peer, Connection& connection);
  [[nodiscard]] bool bind(int peer, Connection& connection, const Endpoint& end);
  [[nodiscard]] bool genuine(const Handshake& handshake);
  [[nodiscard]] Handshake handshake_to(int peer, const Connection& connection, typename Handshake::Kind kind,
                                       std::uint64_t call, const Secret& secret) const;

  WireupExchange& exchange_;
  const Self self_;
  const std::chrono::milliseconds timeout_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::map<int, Connection> connections_;  ///< by peer; only for peers with which a handshake was exchanged
  std::uint64_t calls_ = 0;
};

template <typename Wire>
bool WireupOf<Wire>::prepare(int peer, Connection& connection) {
  if (connection.made) return true;
  auto end = exchange_.local_end(peer);
  if (!end.ok()) {
    connection.failure = std::move(end).status();
    return false;
  }
  connection.here = end.value();
  connection.made = true;
  return true;
}

template <typename Wire>
bool WireupOf<Wire>::bind(int peer, Connection& connection, const Endpoint& end) {
  if (connection.bound) return std::memcmp(&connection.there, &end, sizeof end) == 0;
  connection.failure = exchange_.bind(peer, end);
  if (!connection.failure.ok()) return false;
  connection.there = end;
  connection.bound = true;
  return true;
}

template <typename Wire>
typename WireupOf<Wire>::Handshake WireupOf<Wire>::handshake_to(int peer, const Connection& connection,
                                                                typename Handshake::Kind kind,
                                                                std::uint64_t call,
                                                                const Secret& secret) const {
  Handshake handshake;
  handshake.kind = kind;
  handshake.from = self_.rank;
  handshake.to = peer;
  handshake.call = call;
  handshake.reply_to = self_.address;
  handshake.endpoint = connection.here;
  handshake.token = handshake.expected_token(secret);
  return handshake;
}

template <typename Wire>
Status WireupOf<Wire>::call(int peer, const PortCard& card) {
  std::unique_lock guard(lock_);
  Connection& connection = connections_[peer];
  if (connection.welcomed) return {};
  connection.failure = {};
  if (!prepare(peer, connection)) return {connection.failure.code(), std::string(connection.failure.text())};
  connection.secret = card.secret;
  if (connection.call == 0) connection.call = ++calls_;
  const Handshake hello =
      handshake_to(peer, connection, Handshake::Kind::hello, connection.call, card.secret);
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  auto repeat = kFirstRepeat;
  while (!connection.welcomed && connection.failure.ok() && std::chrono::steady_clock::now() < deadline) {
    guard.unlock();
    count(Counter::hello);
    exchange_.send(card.address, hello);
    guard.lock();
    changed_.wait_for(guard, repeat, [&] { return connection.welcomed || !connection.failure.ok(); });
    repeat = std::min(2 * repeat, kLastRepeat);
  }
  if (connection.welcomed) return {};
  if (!connection.failure.ok()) return {connection.failure.code(), std::string(connection.failure.text())};
  return {RMA_ERR_PEER_LOST, fmt::format("rank {} did not answer within {} s", peer,
                                         std::chrono::duration_cast<std::chrono::seconds>(timeout_).count())};
}

template <typename Wire>
bool WireupOf<Wire>::genuine(const Handshake& handshake) {
  if (handshake.to != self_.rank || handshake.from < 0 || handshake.from >= self_.ranks) return false;
  if (handshake.kind == Handshake::Kind::hello) {
    return handshake.token == handshake.expected_token(self_.secret);
  }
  const auto found = connections_.find(handshake.from);
  return found != connections_.end() && found->second.call != 0 && handshake.call == found->second.call &&
         handshake.token == handshake.expected_token(found->second.secret);
}

template <typename Wire>
void WireupOf<Wire>::receive(std::span<const std::byte> datagram) {
  const std::optional<Handshake> handshake = Handshake::decode(datagram);
  std::unique_lock guard(lock_);
  if (!handshake || !genuine(*handshake)) {
    count(Counter::datagrams_dropped);
    return;
  }
  const int peer = handshake->from;
  Connection& connection = connections_[peer];
  if (!prepare(peer, connection) || !bind(peer, connection, handshake->endpoint)) {
    count(Counter::datagrams_dropped);
    changed_.notify_all();
    return;
  }
  if (handshake->kind == Handshake::Kind::welcome) {
    connection.welcomed = true;
    changed_.notify_all();
    return;
  }
  const Handshake welcome =
      handshake_to(peer, connection, Handshake::Kind::welcome, handshake->call, self_.secret);
  guard.unlock();
  exchange_.send(handshake->reply_to, welcome);
}

}  // namespace librma::transport
