#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "helper_thread/helper_thread.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/rpc_server.hpp"
#include "loopback/loopback_transport.hpp"
#include "malloc/region_table.hpp"

namespace librma {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }
template <typename Wire>
Bytes bytes_of_wire(const Wire& wire) {
  Bytes bytes(sizeof wire);
  std::memcpy(bytes.data(), &wire, sizeof wire);
  return bytes;
}
inline Bytes operator+(Bytes front, std::span<const std::byte> back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

/// Several ranks in one process, each with a helper over a loopback endpoint. They have no threads: a rank
/// that waits makes progress for all of them.
class HelperWorld : public testing::Test {
 protected:
  /// The state of a request.
  struct Outcome {
    int answers = 0;
    rma_status_t status = RMA_ERR_STATE;
    Bytes body;
  };

  struct Rank {
    transport::LoopbackTransport* endpoint = nullptr;
    std::unique_ptr<Rails> rails;
    alignas(64) std::array<std::byte, directory::Geometry::for_capacity(64).bytes()> directory = {};
    std::unique_ptr<RegionTable> regions;
    NetworkCard card;
    std::unique_ptr<PendingOperations> pending;
    std::unique_ptr<Network> network;
    std::unique_ptr<Channel> channel;
    std::unique_ptr<RpcClient> client;
    std::unique_ptr<RpcServer> server;
    std::unique_ptr<HelperThread> helper;
  };

  /// The helpers of all ranks, for the rank that waits.
  class Everyone final : public ProgressSource {
   public:
    explicit Everyone(HelperWorld& world) : world_(world) {}
    bool progress() override { return world_.step(); }
    void flush(int /*rank*/, CompletionContext& /*context*/) override {}
    void give_up(int /*rank*/) override {}
    void arm() override {}
    [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
    [[nodiscard]] std::string explain(rma_status_t /*code*/, int /*rank*/) const override { return "lost"; }

   private:
    HelperWorld& world_;
  };

  HelperWorld() : everyone(*this), settings(read_settings({}).value()) {
    settings.message_bytes = 512;
    settings.peer_receives = 4;
    settings.receive_base = 8;
    settings.helper_buffer = 4096;
    settings.helper_buffers = 3;
  }
  ~HelperWorld() override { close(); }

  void open(int count) {
    for (int number = 0; number < count; ++number) open_one(number, count);
  }
  /// Makes the ranks with the present settings.
  void open_one(int number, int count) {
    auto& rank = *ranks.emplace_back(std::make_unique<Rank>());
    auto endpoint = fabric.open(number, {.max_message = 1 << 20, .max_gather = 4, .max_outstanding = 16});
    rank.endpoint = endpoint.get();
    rank.card.rails.push_back(
        {.name = "loopback", .card = {endpoint->card().begin(), endpoint->card().end()}});
    std::vector<std::unique_ptr<transport::Transport>> transports;
    transports.push_back(std::move(endpoint));
    rank.rails = std::make_unique<Rails>(std::move(transports));
    rank.regions = std::make_unique<RegionTable>(std::span(rank.directory));
    rank.card.directory = {.address = reinterpret_cast<std::uintptr_t>(rank.directory.data()),
                           .bytes = rank.directory.size(),
                           .keys = rank.rails->add(rank.directory.data(), rank.directory.size())->remote};
    rank.pending = std::make_unique<PendingOperations>(count, WaitPolicy{.spins = 1U << 20U, .yields = 10},
                                                       std::chrono::seconds(60));
    rank.network = std::make_unique<Network>(
        settings, *rank.pending, *rank.rails, count,
        [this](int of) -> Result<NetworkCard> { return at(of).card; },
        [](const std::byte* /*address*/) -> std::optional<Registered> { return std::nullopt; });
    auto channel = Channel::create(*rank.rails, count, Channel::Options::from(settings, count, false));
    ASSERT_TRUE(channel.ok()) << channel.status().text();
    rank.channel = std::move(channel).value();
    rank.client = std::make_unique<RpcClient>(*rank.pending, rank.network.get(), *rank.channel, *rank.rails,
                                              settings.helper_buffer, settings.helper_buffers);
    rank.server = std::make_unique<RpcServer>(*rank.channel, *rank.rails, settings.helper_buffer,
                                              settings.helper_buffers);
    rank.helper = std::make_unique<HelperThread>(*rank.channel, *rank.pending, rank.rails->service(), 0);
    rank.pending->engine().add(*rank.network);
    for (int other = 0; other < count; ++other) rank.pending->set_progress_source(other, *rank.network);
  }
  /// Starts the helpers. The handlers are registered before.
  void start() {
    for (auto& rank : ranks) {
      ASSERT_TRUE(rank->helper->start().ok());
      rank->pending->engine().add(everyone);
    }
  }

  /// Ends the parts that use each other's memory, before the ranks end.
  void close() {
    for (auto& rank : ranks) {
      rank->helper.reset();
      rank->server.reset();
      rank->client.reset();
      rank->channel.reset();
    }
  }

  [[nodiscard]] Rank& at(int rank) { return *ranks[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] HelperThread& helper(int rank) { return *at(rank).helper; }
  [[nodiscard]] Channel& channel(int rank) { return *at(rank).channel; }
  [[nodiscard]] RpcClient& client(int rank) { return *at(rank).client; }
  [[nodiscard]] RpcServer& server(int rank) { return *at(rank).server; }

  /// Makes all ranks take in what has come. Returns whether there was anything.
  virtual bool step() {
    bool moved = false;
    for (auto& rank : ranks) {
      if (rank->helper != nullptr) moved = rank->helper->progress() || moved;
    }
    return moved;
  }
  /// Makes progress until nothing moves any more. Returns false if that takes too long.
  [[nodiscard]] bool settle() {
    for (int round = 0; round < 100000; ++round) {
      if (!step()) return true;
    }
    return false;
  }

  /// Sends a request to `of`. The outcome is stored when the answer comes.
  std::shared_ptr<Outcome> ask(int from, int of, RequestKind kind, const Bytes& body, std::size_t room,
                               Status* status = nullptr) {
    RpcClient& asker = client(from);
    auto outcome = std::make_shared<Outcome>();
    RpcRequest request = {.rank = of, .kind = kind, .reply_room = room};
    const std::span<const std::byte> whole = body;
    if (body.size() > asker.most_in_message() || room > asker.most_in_reply()) {
      request.buffer = asker.take_buffer(of);
    }
    if (body.size() > asker.most_in_message()) {
      std::copy(body.begin(), body.end(), request.buffer);
      request.buffered_bytes = body.size();
    } else {
      request.head = whole.first(body.size() / 2);
      request.tail = whole.subspan(body.size() / 2);
    }
    request.answered = [outcome](rma_status_t ended, std::span<const std::byte> answer) {
      ++outcome->answers;
      outcome->status = ended;
      outcome->body = bytes_of(answer);
      return ended;
    };
    Status asked = asker.ask(std::move(request));
    if (status != nullptr) {
      *status = std::move(asked);
    } else {
      EXPECT_TRUE(asked.ok()) << asked.text();
    }
    return outcome;
  }

  /// Answers with as much of the body as there is room for.
  static Answer echo(const Served& request) {
    const std::size_t bytes = std::min(request.body.size(), request.room.size());
    std::copy_n(request.body.begin(), bytes, request.room.begin());
    return {.bytes = bytes};
  }
  static Bytes random_bytes(std::uint64_t seed, std::size_t size) {
    Bytes bytes(size);
    for (std::byte& byte : bytes) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      byte = static_cast<std::byte>(seed >> 56U);
    }
    return bytes;
  }

  Everyone everyone;
  Settings settings;
  transport::LoopbackFabric fabric;
  std::vector<std::unique_ptr<Rank>> ranks;
};

}  // namespace librma
