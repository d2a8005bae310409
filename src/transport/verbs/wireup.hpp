#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>

#include "transport/verbs/handshake.hpp"
#include "util/status.hpp"

namespace rma::transport {

/// The handshakes of one port. They use datagrams, which may be lost, duplicated, reordered or forged:
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
class Wireup {
 public:
  /// Sends the datagrams and owns the ends. Wireup calls send() without its lock, and the other
  /// functions with its lock.
  class Exchange {
   public:
    Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    virtual ~Exchange() = default;
    /// Returns this side's end of the connection to `peer`. The first call makes it.
    [[nodiscard]] virtual Result<Endpoint> local_end(int peer) = 0;
    /// Connects the local end to the peer's end. Called once for each peer.
    [[nodiscard]] virtual Status bind(int peer, const Endpoint& end) = 0;
    /// Sends a handshake datagram, which may be lost.
    virtual void send(const DatagramAddress& to, const Handshake& handshake) = 0;
  };

  struct Self {
    int rank = 0;
    int ranks = 1;
    DatagramAddress address;
    Secret secret = {};
  };

  Wireup(Exchange& exchange, const Self& self, std::chrono::milliseconds timeout)
      : exchange_(exchange), self_(self), timeout_(timeout) {}

  /// Connects to `peer`, which published `card`. After success the peer's end listens. RMA_ERR_PEER_LOST if
  /// no answer came within the timeout; the next call tries again.
  [[nodiscard]] Status call(int peer, const PortCard& card);

  /// Handles a datagram. A datagram that does not come from this job is dropped and counted.
  void receive(std::span<const std::byte> datagram);

 private:
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
  [[nodiscard]] Handshake handshake_to(int peer, const Connection& connection, Handshake::Kind kind,
                                       std::uint64_t call, const Secret& secret) const;

  Exchange& exchange_;
  const Self self_;
  const std::chrono::milliseconds timeout_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::map<int, Connection> connections_;  ///< by peer; only for peers with which a handshake was exchanged
  std::uint64_t calls_ = 0;
};

}  // namespace rma::transport
