#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>

#include "transport/verbs/greeting.hpp"
#include "util/status.hpp"

namespace rma::transport {

/// The handshakes of one port. They run over datagrams that may be lost, doubled, reordered or forged:
///
///   caller                                     called
///   hello (its end)  ------------------------> binds its own end to the caller's
///   binds its end    <------------------------ welcome (the called's end)
///
/// Whoever wants to send to a peer calls it, and repeats its hello until a welcome comes; from then on the
/// peer's end is known to listen. A hello is answered by a welcome as often as it comes. Two that call each
/// other at once answer each other, and both ends are bound once, by whichever greeting comes first: a pair
/// of processes has one connection, whoever began. Thread-safe.
class Switchboard {
 public:
  /// What carries the datagrams and owns the ends. Called without the switchboard's lock for send, with it
  /// for the others.
  class Exchange {
   public:
    Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    virtual ~Exchange() = default;
    /// This side's end of the connection to `peer`, made at the first call.
    [[nodiscard]] virtual Result<Endpoint> local_end(int peer) = 0;
    /// Makes the local end talk to the peer's. Once for each peer.
    [[nodiscard]] virtual Status bind(int peer, const Endpoint& end) = 0;
    /// May lose it.
    virtual void send(const DatagramAddress& to, const Greeting& greeting) = 0;
  };

  struct Self {
    int rank = 0;
    int ranks = 1;
    DatagramAddress address;
    Secret secret = {};
  };

  Switchboard(Exchange& exchange, const Self& self, std::chrono::milliseconds timeout)
      : exchange_(exchange), self_(self), timeout_(timeout) {}

  /// Connects to `peer`, whose card this is: afterwards its end listens. RMA_ERR_PEER_LOST when nothing came
  /// back within the timeout; the next call tries again.
  [[nodiscard]] Status call(int peer, const PortCard& card);

  /// Takes in a datagram. What does not come from this job is dropped, and counted.
  void receive(std::span<const std::byte> datagram);

 private:
  struct Line {
    bool made = false;   ///< `here` is valid
    Endpoint here;       ///< this side's end
    bool bound = false;  ///< to `there`
    Endpoint there;
    Status failure;          ///< of making or binding this side's end
    std::uint64_t call = 0;  ///< number of our own call, 0 before the first
    Secret secret = {};      ///< of the peer, once we called it
    bool welcomed = false;   ///< the peer's end listens
  };

  [[nodiscard]] bool prepare(int peer, Line& line);
  [[nodiscard]] bool bind(int peer, Line& line, const Endpoint& end);
  [[nodiscard]] bool genuine(const Greeting& greeting);
  [[nodiscard]] Greeting greeting_to(int peer, const Line& line, Greeting::Kind kind, std::uint64_t call,
                                     const Secret& secret) const;

  Exchange& exchange_;
  const Self self_;
  const std::chrono::milliseconds timeout_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::map<int, Line> lines_;  ///< by peer; only of those that were talked to
  std::uint64_t calls_ = 0;
};

}  // namespace rma::transport
