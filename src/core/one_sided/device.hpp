#pragma once

#include <chrono>
#include <memory>

#include "core/completion/flights.hpp"
#include "core/network/network.hpp"
#include "core/one_sided/foreign_memory.hpp"
#include "transport/transport.hpp"
#include "util/status.hpp"

namespace rma {

/// The ways to memory that is not mapped here, and the operations under way on them. Thread-safe.
class Device {
 public:
  using CardSource = ForeignMemory::CardSource;

  /// `foreign` reaches registered memory of ranks of this host.
  Device(std::unique_ptr<transport::Transport> foreign, int ranks, CardSource cards,
         const WaitPolicy& policy = {.spins = 2000, .yields = 64},
         std::chrono::milliseconds patience = std::chrono::seconds(10))
      : flights_(ranks, policy, patience), foreign_(flights_, std::move(foreign), ranks, std::move(cards)) {
    flights_.add(foreign_);
    for (int rank = 0; rank < ranks; ++rank) flights_.moved_by(rank, foreign_);
  }

  /// `network` was made for flights().
  void add_network(std::unique_ptr<Network> network) {
    network_ = std::move(network);
    flights_.add(*network_);
  }
  /// Before the first operation to `rank`: it is reached over the network.
  void reach_by_network(int rank) { flights_.moved_by(rank, *network_); }
  /// Null in a job of one host, unless asked for.
  [[nodiscard]] Network* network() { return network_.get(); }
  [[nodiscard]] const Network* network() const { return network_.get(); }
  [[nodiscard]] Flights& flights() { return flights_; }
  [[nodiscard]] const Flights& flights() const { return flights_; }

  /// [from, from + bytes) -> `to` of the operation's target, a rank of this host.
  void write(rma_request_t operation, transport::Remote to, transport::Local from) {
    foreign_.transfer(transport::Direction::write, operation, to, from);
  }
  void read(rma_request_t operation, transport::Local to, transport::Remote from) {
    foreign_.transfer(transport::Direction::read, operation, from, to);
  }

 private:
  Flights flights_;
  ForeignMemory foreign_;
  std::unique_ptr<Network> network_;
};

}  // namespace rma
