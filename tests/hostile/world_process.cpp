#include "hostile/world_process.hpp"

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "rma/rma.h"
#include "util/log.hpp"

namespace librma::hostile {
namespace {

Settings world_settings(std::string_view rendezvous) {
  const std::string chosen = "RMA_RENDEZVOUS=" + std::string(rendezvous);
  const std::array<std::string_view, 15> environment = {
      "RMA_HEAP_SIZE=4M",       "RMA_MESSAGE=512",   "RMA_SRQ_BASE=16",
      "RMA_SRQ_FACTOR=2",       "RMA_POLLING_SET=0", "RMA_HUGE_PAGES=off",
      "RMA_EAGER=300",          "RMA_UNEXPECTED=4K", "RMA_HOST_RING=4K",
      "RMA_HOST_RING_LINES=16", "RMA_PIPELINE=4K",   "RMA_PIPELINE_DEPTH=2",
      "RMA_BOUNCE_BUFFERS=4",   "RMA_LOG=off",       chosen};
  auto read = read_settings(environment);
  demand(read.ok(), read.ok() ? "" : read.status().text());
  static const bool quiet = open_log(read.value().log, 0).ok();
  demand(quiet, "no log");
  return read.value();
}

/// How the threads that open the processes of a host meet.
struct Meeting {
  std::barrier<> barrier{kWorldRanks};
  std::array<const void*, kWorldRanks> parts = {};
};
struct Member {
  Meeting* meeting = nullptr;  ///< null: nobody else comes
  int rank = 0;
};

int meet(void* context) {
  const Member& member = *static_cast<Member*>(context);
  if (member.meeting != nullptr) member.meeting->barrier.arrive_and_wait();
  return 0;
}

/// A member without a meeting takes its own part for everybody's.
int gather(void* context, const void* mine, void* all, std::size_t bytes) {
  const Member& member = *static_cast<Member*>(context);
  if (member.meeting != nullptr) member.meeting->parts[static_cast<std::size_t>(member.rank)] = mine;
  meet(context);
  for (std::size_t rank = 0; rank < kWorldRanks; ++rank) {
    const void* const part = member.meeting != nullptr ? member.meeting->parts[rank] : mine;
    std::memcpy(static_cast<std::byte*>(all) + rank * bytes, part, bytes);
  }
  return meet(context);
}

}  // namespace

void demand(bool what, std::string_view text) {
  if (what) return;
  std::fprintf(stderr, "hostile: %.*s\n", static_cast<int>(text.size()), text.data());
  std::abort();
}

bool WorldProcess::progress() {
  bool found = access->network() != nullptr && access->network()->progress();
  found = (messages != nullptr && messages->progress()) || found;
  return (helper != nullptr && helper->progress()) || found;
}

WorldProcesses::WorldProcesses(MessagePath path, std::string_view rendezvous, int played,
                               std::span<std::byte> played_memory)
    : settings_(world_settings(rendezvous)), played_(played) {
  Meeting meeting;
  std::array<Member, kWorldRanks> members;
  const auto open = [&](int rank) {
    Member& member = members[static_cast<std::size_t>(rank)];
    member = {.meeting = path == MessagePath::rings ? &meeting : nullptr, .rank = rank};
    const rma_bootstrap_t given = {rank, kWorldRanks, gather, meet, nullptr, &member};
    auto opened = Job::open(settings_, 0, &given);
    demand(opened.ok(), opened.ok() ? "" : opened.status().text());
    at(rank).job = std::move(opened).value();
    if (path == MessagePath::rings) open_rings(rank);
  };
  if (path == MessagePath::rings) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < static_cast<int>(kWorldRanks); ++rank) threads.emplace_back(open, rank);
    for (std::thread& thread : threads) thread.join();
    return;
  }
  // No process maps another one, because they do not connect by their jobs.
  for (int rank = 0; rank < static_cast<int>(kWorldRanks); ++rank) {
    open(rank);
    auto endpoint = fabric_.open(rank, {.max_message = 1 << 20, .max_gather = 4, .max_outstanding = 16});
    at(rank).endpoint = endpoint.get();
    if (rank == played) {
      auto registered = endpoint->register_memory(played_memory.data(), played_memory.size());
      demand(registered.ok() && registered->remote == kPlayedKey, "another key");
    }
    std::vector<std::unique_ptr<transport::Transport>> transports;
    transports.push_back(std::move(endpoint));
    at(rank).rails = std::make_unique<Rails>(std::move(transports));
  }
  for (int rank = 0; rank < static_cast<int>(kWorldRanks); ++rank) open_channel(rank);
}

WorldProcesses::~WorldProcesses() {
  for (WorldProcess& process : processes_) {
    process.helper.reset();
    process.messages.reset();
    process.channel.reset();
  }
}

Result<NetworkCard> WorldProcesses::card_of(int rank) {
  const auto card = at(rank).endpoint->card();
  return NetworkCard{.rails = {{.name = "loopback", .card = {card.begin(), card.end()}}}, .directory = {}};
}

void WorldProcesses::open_channel(int rank) {
  WorldProcess& process = at(rank);
  // Nothing goes by cross memory attach, so any transport will do.
  auto foreign =
      fabric_.open(rank + static_cast<int>(kWorldRanks), {.max_message = 4096, .max_outstanding = 4});
  process.access = std::make_unique<RemoteAccess>(
      std::move(foreign), kWorldRanks,
      [](int) -> Result<std::vector<std::byte>> { return Status(RMA_ERR_UNSUPPORTED, ""); });
  PendingOperations& pending = process.access->pending();
  process.access->add_network(std::make_unique<Network>(
      settings_, pending, *process.rails, kWorldRanks, [this](int other) { return card_of(other); },
      [](const std::byte* /*address*/) -> std::optional<Registered> { return std::nullopt; }));
  for (int other = 0; other < static_cast<int>(kWorldRanks); ++other) process.access->reach_by_network(other);
  auto created =
      Channel::create(*process.rails, kWorldRanks, Channel::Options::from(settings_, kWorldRanks, false));
  demand(created.ok(), "no channel");
  process.channel = std::move(created).value();
  if (rank != played_) {
    auto messages = Messages::create(*process.job, *process.access, process.channel.get(), ProcessMemory());
    demand(messages.ok(), "no messages");
    process.messages = std::move(messages).value();
  }
  process.helper = std::make_unique<HelperThread>(*process.channel, pending, nullptr, 0);
}

void WorldProcesses::open_rings(int rank) {
  WorldProcess& process = at(rank);
  auto foreign = fabric_.open(rank, {.max_message = 4096, .max_outstanding = 4});
  process.access = std::make_unique<RemoteAccess>(
      std::move(foreign), kWorldRanks,
      [](int) -> Result<std::vector<std::byte>> { return Status(RMA_ERR_UNSUPPORTED, ""); });
  if (rank == played_) {
    auto block = Inbox::provide(*process.job);
    demand(block.ok(), "no inbox");
    process.block = block.value();
  } else {
    auto messages = Messages::create(*process.job, *process.access, nullptr, ProcessMemory());
    demand(messages.ok(), "no messages");
    process.messages = std::move(messages).value();
  }
  demand(process.job->connect().ok(), "no connection");
}

bool WorldProcesses::progress() {
  bool found = false;
  for (WorldProcess& process : processes_) found = process.progress() || found;
  return found;
}

}  // namespace librma::hostile
