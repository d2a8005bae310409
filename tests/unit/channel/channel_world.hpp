#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "channel/channel.hpp"
#include "fabric/rails.hpp"
#include "loopback/loopback_transport.hpp"

namespace librma {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// Several processes inside one test. Each has a channel over its own ends of loopback fabrics, one fabric
/// per rail. If a message finds no buffer, the loopback ends it with an error, and the channel gives the peer
/// up. So if a test loses no peer, no sender sent more messages than it had credits for.
class ChannelWorld : public testing::Test {
 protected:
  static constexpr std::uint16_t kUnsolicited = 40;  ///< a kind whose messages are not solicited

  struct Process {
    /// The messages that arrived from each peer, oldest first: the kind and the body.
    std::vector<std::vector<std::pair<std::uint16_t, Bytes>>> got;
    std::vector<int> lost_peers;
    std::function<void(const Message&)> on_message;

    std::vector<transport::LoopbackTransport*> endpoints;
    transport::LoopbackTransport* local = nullptr;  ///< to the ranks of this host
    std::unique_ptr<Rails> rails;
    std::unique_ptr<Channel> channel;

    void listen() {
      for (std::uint16_t kind = 1; kind < Channel::kKinds; ++kind) {
        channel->on_message(
            kind,
            [this](const Message& message) {
              got[static_cast<std::size_t>(message.peer)].emplace_back(message.kind, bytes_of(message.body));
              if (on_message) on_message(message);
              return true;
            },
            kind == kUnsolicited ? MessageEvent::unsolicited : MessageEvent::solicited);
      }
      channel->on_loss([this](int peer) { lost_peers.push_back(peer); });
    }
  };

  static constexpr std::size_t kMessage = 512;

  void open(int ranks, std::uint32_t own, std::uint32_t lent, std::size_t rails = 1) {
    fabrics.resize(rails);
    for (auto& fabric : fabrics) fabric = std::make_unique<transport::LoopbackFabric>();
    for (int rank = 0; rank < ranks; ++rank) {
      auto& process = processes.emplace_back(std::make_unique<Process>());
      process->got.resize(static_cast<std::size_t>(ranks));
      std::vector<std::unique_ptr<transport::Transport>> transports;
      for (auto& fabric : fabrics) {
        auto endpoint = fabric->open(
            rank, {.max_message = 1 << 20, .max_outstanding = 16, .ordered_bytes = ordered_bytes});
        process->endpoints.push_back(endpoint.get());
        transports.push_back(std::move(endpoint));
      }
      std::unique_ptr<transport::LoopbackTransport> local;
      const std::vector<int> locals = locals_of(rank, ranks);
      if (!locals.empty()) {
        // Memory is not registered with the transport within a host.
        local = host.open(rank, {.max_message = 1 << 20, .max_outstanding = 16},
                          transport::LoopbackKeys::ignored);
      }
      process->local = local.get();
      process->rails = std::make_unique<Rails>(std::move(transports), std::move(local));
      const Channel::Options options = {.message_bytes = kMessage,
                                        .long_bytes = long_bytes,
                                        .lent = lent,
                                        .own = own,
                                        .ring = ring,
                                        .polling = polling,
                                        .helper_polls = helper_polls,
                                        .locals = locals,
                                        .local_card = [this](int peer) { return local_card(peer); }};
      auto channel = Channel::create(*process->rails, ranks, options);
      ASSERT_TRUE(channel.ok()) << channel.status().text();
      process->channel = std::move(channel).value();
      process->listen();
    }
    for (int one = 0; one < ranks && connects; ++one) {
      for (int other = 0; other < one; ++other) connect(one, other);
    }
  }
  ~ChannelWorld() override {
    for (auto& process : processes) process->channel.reset();
    processes.clear();
  }

  /// Returns the ranks of this rank's host, if the ranks are on hosts.
  [[nodiscard]] std::vector<int> locals_of(int rank, int ranks) const {
    std::vector<int> locals;
    for (int peer = 0; peer < ranks && ranks_per_host > 1; ++peer) {
      if (peer / ranks_per_host == rank / ranks_per_host) locals.push_back(peer);
    }
    return locals;
  }
  [[nodiscard]] Result<std::vector<std::byte>> local_card(int peer) {
    const std::span<const std::byte> card = at(peer).local->card();
    return std::vector<std::byte>(card.begin(), card.end());
  }

  /// Connects two processes by the network. A device connects those of one host, too, for atomics.
  void connect(int one, int other) {
    for (std::size_t rail = 0; rail < fabrics.size(); ++rail) {
      ASSERT_TRUE((*at(one).rails)[rail].connect(other, (*at(other).rails)[rail].card()).ok());
    }
  }

  [[nodiscard]] Process& at(int rank) { return *processes[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::vector<std::pair<std::uint16_t, Bytes>>& got(int rank, int from) {
    return at(rank).got[static_cast<std::size_t>(from)];
  }
  bool progress(int rank) { return at(rank).channel->progress(Channel::Turn::wait); }
  /// Makes progress until nothing moves any more. Returns false if that takes so long that it will never end.
  [[nodiscard]] bool settle() {
    for (int round = 0; round < 100000; ++round) {
      bool moved = false;
      for (int rank = 0; rank < static_cast<int>(processes.size()); ++rank) moved = progress(rank) || moved;
      if (!moved) return true;
    }
    return false;
  }

  /// Returns the body of a message: `size` bytes that depend on `number`.
  static Bytes body(std::uint32_t number, std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(number * 31 + i * 7);
    for (std::size_t i = 0; i < std::min(size, sizeof number); ++i) {
      bytes[i] = static_cast<std::byte>(number >> (8 * i));
    }
    return bytes;
  }
  void send(int from, int to, std::uint32_t number, std::size_t size, std::size_t rail = 0) {
    const Bytes bytes = body(number, size);
    const std::span<const std::byte> whole = bytes;
    at(from).channel->send(to, rail, 1, whole.first(size / 3), whole.subspan(size / 3));
  }
  [[nodiscard]] rma_status_t try_send(int from, int to, std::uint32_t number, std::size_t rail = 0) {
    return at(from).channel->try_send(to, rail, 1, body(number, 8), {});
  }
  /// Sends messages until one is refused. Returns how many were sent.
  [[nodiscard]] std::uint32_t burst(int from, int to, std::uint32_t most = 1000) {
    std::uint32_t sent = 0;
    while (sent < most && try_send(from, to, sent) == RMA_SUCCESS) ++sent;
    return sent;
  }
  /// Sends in one direction. A message that is refused is sent after everything under way has arrived.
  void stream(int from, int to, std::uint32_t count) {
    for (std::uint32_t number = 0; number < count; ++number) {
      if (try_send(from, to, number) == RMA_SUCCESS) continue;
      ASSERT_TRUE(settle());
      ASSERT_EQ(try_send(from, to, number), RMA_SUCCESS) << "message " << number;
    }
    ASSERT_TRUE(settle());
  }
  [[nodiscard]] bool nobody_is_lost() {
    for (const auto& process : processes) {
      if (!process->lost_peers.empty()) return false;
    }
    return true;
  }

  RingShape ring = {};  ///< the shape of all rings
  PollingSet::Policy polling = {.most = 0};
  bool helper_polls = true;
  bool ordered_bytes = true;   ///< of the network; without it there are no rings
  std::size_t long_bytes = 0;  ///< of a message over a network without rings
  bool connects = true;        ///< open() connects each process with each
  int ranks_per_host = 1;      ///< above 1, ranks of one host send messages to each other by `host`
  transport::LoopbackFabric host;
  std::vector<std::unique_ptr<transport::LoopbackFabric>> fabrics;
  std::vector<std::unique_ptr<Process>> processes;
};

}  // namespace librma
