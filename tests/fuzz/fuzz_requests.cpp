// Sends arbitrary messages of one process to another one's helper. The helper answers them or gives
// the sender up. In both cases it must go on to serve a third process, which this program checks
// after every input.

#include <array>
#include <memory>
#include <optional>

#include "atomics/remote_atomics.hpp"
#include "atomics/remote_mutexes.hpp"
#include "core/network/request_order.hpp"
#include "helper_thread/fragments.hpp"
#include "processes.hpp"
#include "records.hpp"
#include "strided/host_assisted.hpp"
#include "strided/remote_copy.hpp"

namespace librma::fuzz {
namespace {

std::span<const std::byte> as_bytes(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

/// One input's processes.
class World {
 public:
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  World() {
    const auto cards = [this](int rank) -> Result<NetworkCard> {
      const auto card = ranks_[static_cast<std::size_t>(rank)]->endpoint->card();
      return NetworkCard{.rails = {{.name = "loopback", .card = {card.begin(), card.end()}}},
                         .directory = {}};
    };
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks_[static_cast<std::size_t>(rank)] =
          std::make_unique<Rank>(fabric_, rank, cards, rank == kAttacker ? base().attackers : nullptr);
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      Rank& process = at(rank);
      const Settings& settings = base().settings;
      Served& served = served_.emplace_back();
      served.atomics =
          std::make_unique<RemoteAtomics>(*base().accumulator, settings.packed_piece, process.pending,
                                          process.network.get(), *process.client, *process.server);
      served.copy =
          std::make_unique<RemoteCopy>(*base().job, process.pending, *process.client, *process.server);
      served.mutexes = std::make_unique<RemoteMutexes>(
          rank, kRanks, settings, process.pending, *process.network, *process.channel, *process.client,
          *process.server, [](std::uint64_t /*holder*/) { return false; });
      served.host_assisted = std::make_unique<HostAssisted>(own_memory(process, rank), process.pending,
                                                            *process.network, *process.channel);
      demand(process.server->complete(), "a kind of request that nobody serves here is not fuzzed");
    }
    auto* const mutexes = reinterpret_cast<TicketMutex*>(base().arena + (kMutexes - kArena));
    std::uninitialized_default_construct_n(mutexes, kMutexCount);
    served_[kVictim].mutexes->add(mutexes, kMutexCount);
    served_[kVictim].mutexes->add(&hidden_mutex_, 1);
    for (auto& rank : ranks_) {
      demand(rank->helper->start().ok(), "a helper that does not start");
    }
    for (Company& company : companies_) at(company.rank).pending.engine().add(company);
    for (const int other : {kAttacker, kHonest}) {
      std::size_t rail = 0;
      demand(at(other).network->requests().reach(kVictim, &rail).ok(), "no connection");
    }
  }
  ~World() {
    for (auto& rank : ranks_) {
      rank->helper.reset();
      rank->server.reset();
      rank->client.reset();
      rank->channel.reset();
    }
  }

  void run(const Record& record) {
    std::span<const std::uint8_t> payload = record.payload;
    switch (record.act) {
      case Act::request:
        say(kRequestMessage, payload);
        break;
      case Act::reply:
        say(kReplyMessage, payload);
        break;
      case Act::message:
        if (payload.size() >= 2) say(number(payload), payload.subspan(2));
        break;
      case Act::raw:
        say_raw(payload);
        break;
      case Act::layout:
        decode(payload);
        break;
      case Act::ask:
        if (payload.size() >= 2) ask(number(payload));
        break;
      case Act::move:
        if (!payload.empty()) move_host_assisted(payload[0] % 2 == 1);
        break;
      case Act::scatter:
      case Act::gather:
        if (payload.size() >= 2) post(record.act, number(payload));
        break;
      case Act::count_:
        break;
    }
    settle();
  }

  /// Checks that the third process is served as before.
  void check() {
    settle();
    std::array<std::byte, 64> sent;
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 5 + 1);
    std::array<std::byte, 64> got = {};
    const auto layout = [](std::uintptr_t address) {
      return std::make_shared<Layout>(Layout::contiguous(address, 64));
    };
    move(RequestKind::put, layout(kArena + 128), layout(reinterpret_cast<std::uintptr_t>(sent.data())));
    move(RequestKind::get, layout(kArena + 128), layout(reinterpret_cast<std::uintptr_t>(got.data())));
    demand(sent == got, "an honest process got other data than it put");

    std::array<std::byte, 64> host_assisted = {};
    move_honestly(transport::Direction::write, sent.data());
    move_honestly(transport::Direction::read, host_assisted.data());
    demand(sent == host_assisted, "an honest process got other data than it put by host-assisted transfers");

    RemoteMutexes& mutexes = *served_[kHonest].mutexes;
    const auto mutex = reinterpret_cast<std::uintptr_t>(&hidden_mutex_);
    const std::uint64_t who = (std::uint64_t{kHonest} + 1) << 32U;
    demand(mutexes.lock(mutex, kVictim, who).ok(), "an honest process is not given a mutex");
    demand(mutexes.unlock(mutex, kVictim, who).ok(), "an honest process cannot give a mutex back");
  }

 private:
  [[nodiscard]] Rank& at(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  static std::uint16_t number(std::span<const std::uint8_t> payload) {
    return static_cast<std::uint16_t>(payload[0] | payload[1] << 8U);
  }

  void say(std::uint16_t kind, std::span<const std::uint8_t> body) {
    Channel& channel = *at(kAttacker).channel;
    channel.send(kVictim, 0, kind, as_bytes(body.first(std::min(body.size(), channel.max_body()))), {});
  }
  void say_raw(std::span<const std::uint8_t> message) {
    const std::size_t bytes = std::min<std::size_t>(message.size(), 2048);
    std::copy_n(as_bytes(message).begin(), bytes, base().attackers + kArenaBytes - 2048);
    const transport::Local piece = {
        .address = base().attackers + kArenaBytes - 2048, .bytes = bytes, .key = kAttackersKey};
    static_cast<void>(at(kAttacker).endpoint->messages().post_message(
        kVictim, {&piece, 1}, 0, {.inline_data = false, .unsignaled = true}));
  }
  static void decode(std::span<const std::uint8_t> payload) {
    std::span<const std::byte> bytes = as_bytes(payload);
    const auto part = Layout::decode(bytes);
    if (!part) return;
    demand(bytes.size() < payload.size(), "a layout of no bytes");
    std::size_t visits = 0;
    std::size_t visited = 0;
    const bool whole = part->visit([&](std::uintptr_t address, std::size_t count) {
      demand(count <= UINTPTR_MAX - address, "a segment beyond the last address");
      visited += count;
      return ++visits < 1000;
    });
    demand(!whole || visited == part->bytes, "a layout that visits more or less than it holds");
  }
  void ask(std::size_t room) {
    RpcClient& asking = *at(kVictim).client;
    room = std::min(room, asking.buffer_bytes());
    // Buffers come back only with answers, and no other rank will send one.
    if (room > asking.most_in_reply() && ++long_asked_ > 2) return;
    RpcRequest request = {.rank = kAttacker, .kind = RequestKind::lock, .reply_room = room};
    if (room > asking.most_in_reply()) request.buffer = asking.take_buffer(kAttacker);
    request.answered = [room](rma_status_t status, std::span<const std::byte> body) {
      demand(body.size() <= room, "an answer that is larger than the room for it");
      demand(status == RMA_SUCCESS || body.size() <= room, "no status");
      return status;
    };
    if (++asked_ > 2) {
      if (request.buffer != nullptr) asking.give_buffer(request.buffer);
      return;
    }
    static_cast<void>(asking.ask(std::move(request)));
  }
  void move(RequestKind kind, std::shared_ptr<const Layout> remote, std::shared_ptr<const Layout> local) {
    Rank& honest = at(kHonest);
    const FragmentedTransfer transfer = {.kind = kind,
                                         .rank = kVictim,
                                         .remote = std::move(remote),
                                         .local = std::move(local),
                                         .operation = honest.pending.open(kVictim),
                                         .most = 64};
    demand(ask_in_fragments(*honest.client, honest.pending, transfer).ok(), "an honest process is not heard");
    demand(honest.pending.finish(transfer.operation).ok(), "an honest process is refused");
  }

  /// Registers memory of a rank: for the victim, a part of the arena; for the others, any memory.
  static HostAssisted::Registrations own_memory(Rank& rank, int number) {
    if (number != kVictim) {
      return [&rank](std::uintptr_t address, std::size_t bytes) -> std::optional<Registered> {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): of this process
        return rank.rails->add(reinterpret_cast<std::byte*>(address), bytes).value();
      };
    }
    const Registered registered = rank.rails->add(base().arena, kRegisteredBytes).value();
    return [registered](std::uintptr_t address, std::size_t bytes) -> std::optional<Registered> {
      const std::uintptr_t offset = address - kArena;
      if (offset >= registered.bytes || bytes > registered.bytes - offset) return std::nullopt;
      return registered;
    };
  }
  void move_host_assisted(bool get) {
    if (++moved_ > 3) return;
    const std::array<Layout::Dimension, 1> rows = {{{.count = 40, .stride = 100}}};
    PendingOperations& pending = at(kVictim).pending;
    const rma_request_t operation = pending.open(kAttacker);
    const HostAssisted::Transfer transfer = {
        .direction = get ? transport::Direction::read : transport::Direction::write,
        .rank = kAttacker,
        .remote = std::make_shared<Layout>(Layout::strided(kAttackers, 64, rows)),
        .local = std::make_shared<Layout>(Layout::strided(kArena + 8192, 64, rows)),
        .operation = operation};
    static_cast<void>(served_[kVictim].host_assisted->start(transfer).ok());
    pending.leave(operation);
  }
  void post(Act act, std::size_t bytes) {
    const transport::Local piece = {
        .address = base().attackers, .bytes = std::min(bytes, kArenaBytes), .key = kAttackersKey};
    transport::MessageEndpoint& messages = at(kAttacker).endpoint->messages();
    static_cast<void>(act == Act::scatter ? messages.post_scatter(kVictim, {&piece, 1}, 0)
                                          : messages.post_gather(kVictim, {&piece, 1}, 0, {}));
  }
  void move_honestly(transport::Direction direction, std::byte* local) {
    Rank& honest = at(kHonest);
    const std::array<Layout::Dimension, 1> eights = {{{.count = 8, .stride = 16}}};
    const rma_request_t operation = honest.pending.open(kVictim);
    const Status started = served_[kHonest].host_assisted->start(
        {.direction = direction,
         .rank = kVictim,
         .remote = std::make_shared<Layout>(Layout::strided(kArena + 256, 8, eights)),
         .local = std::make_shared<Layout>(
             Layout::strided(reinterpret_cast<std::uintptr_t>(local), 8,
                             std::array<Layout::Dimension, 1>{{{.count = 8, .stride = 8}}})),
         .operation = operation});
    demand(started.ok(), "an honest process cannot start a host-assisted transfer");
    demand(honest.pending.finish(operation).ok(), "an honest process's host-assisted transfer fails");
  }

  void settle() {
    for (int round = 0; round < 100000; ++round) {
      if (!progress()) return;
    }
    demand(false, "the processes never come to rest");
  }
  bool progress() {
    bool moved = false;
    for (auto& rank : ranks_) moved = rank->helper->progress() || moved;
    return moved;
  }
  /// Called when `rank` can only wait. If that is true for all ranks, it would wait for ever. An honest rank
  /// must not. The victim gives the attacker up at once, instead of after RMA_PEER_TIMEOUT.
  void about_to_sleep(int rank) {
    if (progress()) return;
    demand(rank != kHonest, "an honest process waits for what does not come");
    Rank& process = at(rank);
    process.network->give_up(kAttacker);
    process.helper->give_up(kAttacker);
  }

  /// Lets all ranks run while one of them waits.
  struct Company final : ProgressSource {
    Company(World& its_world, int number) : world(its_world), rank(number) {}
    bool progress() override { return world.progress(); }
    void flush(int /*rank*/, CompletionContext& /*context*/) override {}
    void give_up(int /*rank*/) override {}
    void arm() override { world.about_to_sleep(rank); }
    /// No rank sleeps, because no other thread could wake it.
    [[nodiscard]] std::span<const int> event_fds() const override { return {&base().always_readable, 1}; }
    [[nodiscard]] std::string explain(rma_status_t /*code*/, int /*rank*/) const override { return "lost"; }

    World& world;
    const int rank;
  };

  transport::LoopbackFabric fabric_;
  std::array<std::unique_ptr<Rank>, kRanks> ranks_;
  /// All objects that handle messages, as in src/api/runtime/runtime.cpp.
  struct Served {
    std::unique_ptr<RemoteAtomics> atomics;
    std::unique_ptr<RemoteCopy> copy;
    std::unique_ptr<RemoteMutexes> mutexes;
    std::unique_ptr<HostAssisted> host_assisted;
  };
  std::vector<Served> served_;
  std::array<Company, 2> companies_ = {Company(*this, kVictim), Company(*this, kHonest)};
  TicketMutex hidden_mutex_;  ///< inputs cannot find it here
  int asked_ = 0;
  int long_asked_ = 0;
  int moved_ = 0;
};

}  // namespace
}  // namespace librma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> input(data, size);
  librma::fuzz::World world;
  librma::fuzz::Record record;
  for (int records = 0; records < 64 && librma::fuzz::next_record(input, record); ++records)
    world.run(record);
  world.check();
  return 0;
}
