#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "transport/verbs/handshake.hpp"

namespace librma::transport {

class WireupProcess;

/// Connects the processes of one test. It delivers within send(), on the sender's thread.
class Wires {
 public:
  using Datagram = std::vector<std::byte>;

  /// Decides whether a datagram arrives. At first all arrive. For tests with one thread.
  std::function<bool(const Handshake&)> passes = [](const Handshake& /*handshake*/) { return true; };

  /// From now on, loses, duplicates, delays and forges datagrams.
  void rage(std::uint64_t seed) { random_.emplace(seed); }
  [[nodiscard]] std::uint64_t forged() const { return forged_; }

  void send(const DatagramAddress& to, const Handshake& handshake);
  void deliver(std::uint32_t process, const Datagram& datagram);
  static Datagram datagram(const Handshake& handshake) {
    Datagram bytes(sizeof handshake);
    std::memcpy(bytes.data(), &handshake, sizeof handshake);
    return bytes;
  }

 private:
  friend class WireupProcess;
  using Delivery = std::pair<std::uint32_t, Datagram>;
  /// Returns the datagrams that arrive when this one is sent.
  [[nodiscard]] std::vector<Delivery> arrivals(const Delivery& sent);

  std::map<std::uint32_t, WireupProcess*> processes_;  ///< by address; filled before any datagram is sent
  std::mutex lock_;                                    ///< guards the members below
  std::optional<std::mt19937_64> random_;
  std::vector<Delivery> held_back_;
  std::atomic<std::uint64_t> forged_ = 0;
};

/// One rank: a Wireup and the ends that it makes and binds.
class WireupProcess final : public Wireup::WireupExchange {
 public:
  WireupProcess(Wires& wires, int rank, int ranks, std::chrono::milliseconds timeout)
      : wires_(wires), rank_(rank), wireup(*this, self(rank, ranks), timeout) {
    wires_.processes_[card().address.queue_pair] = this;
  }

  [[nodiscard]] PortCard card() const { return card_of(rank_); }
  [[nodiscard]] static PortCard card_of(int rank) {
    PortCard card;
    card.address.queue_pair = 1000 + static_cast<std::uint32_t>(rank);
    card.secret.fill(static_cast<std::byte>(rank + 1));
    return card;
  }
  /// Returns the end of `rank`'s connection to `peer`.
  [[nodiscard]] static Endpoint end_of(int rank, int peer) {
    Endpoint end;
    end.data_queue_pair = static_cast<std::uint32_t>(100 * rank + peer + 1);
    end.message_first_packet = static_cast<std::uint32_t>(7 * rank + peer);
    return end;
  }

  [[nodiscard]] Result<Endpoint> local_end(int peer) override {
    ++ends_made[peer];
    if (no_ends) return Status(RMA_ERR_NO_MEMORY, "no end");
    return end_of(rank_, peer);
  }
  [[nodiscard]] Status bind(int peer, const Endpoint& end) override {
    ++binds[peer];
    if (no_binding) return {RMA_ERR_SYSTEM, "no binding"};
    bound[peer] = end;
    return {};
  }
  void send(const DatagramAddress& to, const Handshake& handshake) override {
    ++sent;
    wires_.send(to, handshake);
  }

  /// Returns whether this rank's end is bound to the end that `peer` made for it.
  [[nodiscard]] bool bound_to(int peer) const {
    const auto found = bound.find(peer);
    const Endpoint expected = end_of(peer, rank_);
    return found != bound.end() && std::memcmp(&found->second, &expected, sizeof expected) == 0;
  }

 private:
  static Wireup::Self self(int rank, int ranks) {
    const PortCard card = card_of(rank);
    return {.rank = rank, .ranks = ranks, .address = card.address, .secret = card.secret};
  }

  Wires& wires_;
  const int rank_;

 public:
  // These are written with the Wireup's lock held, except for `sent`, and read when nothing moves.
  std::map<int, int> ends_made;
  std::map<int, int> binds;
  std::map<int, Endpoint> bound;
  std::atomic<int> sent = 0;
  bool no_ends = false;
  bool no_binding = false;
  Wireup wireup;
};

inline std::vector<Wires::Delivery> Wires::arrivals(const Delivery& sent) {
  const std::lock_guard guard(lock_);
  if (!random_) return {sent};
  const auto happens = [this](unsigned percent) { return (*random_)() % 100 < percent; };
  std::vector<Delivery> result;
  if (happens(20)) {
    Delivery changed = sent;
    const std::uint64_t where = (*random_)();
    changed.second[where % changed.second.size()] ^= std::byte{1} << (where / 1024 % 8);
    ++forged_;
    result.push_back(std::move(changed));
  }
  if (happens(20)) {
    held_back_.push_back(sent);
  } else if (!happens(30)) {
    result.push_back(sent);
    if (happens(30)) result.push_back(sent);
  }
  if (!held_back_.empty() && happens(50)) {
    const auto which = static_cast<std::ptrdiff_t>((*random_)() % held_back_.size());
    result.push_back(std::move(held_back_[static_cast<std::size_t>(which)]));
    held_back_.erase(held_back_.begin() + which);
  }
  return result;
}

inline void Wires::deliver(std::uint32_t process, const Datagram& datagram) {
  if (const auto found = processes_.find(process); found != processes_.end()) {
    found->second->wireup.receive(datagram);
  }
}

inline void Wires::send(const DatagramAddress& to, const Handshake& handshake) {
  if (!passes(handshake)) return;
  for (const auto& [process, bytes] : arrivals({to.queue_pair, datagram(handshake)})) deliver(process, bytes);
}

}  // namespace librma::transport
