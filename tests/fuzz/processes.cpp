#include "processes.hpp"

#include <sys/eventfd.h>
#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records.hpp"
#include "util/log.hpp"

namespace librma::fuzz {

void demand(bool what, const char* text) {
  if (what) return;
  std::fprintf(stderr, "fuzz-requests: %s\n", text);
  std::abort();
}

namespace {

std::byte* map(std::uintptr_t address, std::size_t bytes) {
  void* const wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  void* const memory =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  demand(memory == wanted, "the addresses that inputs name are taken");
  return static_cast<std::byte*>(memory);
}

}  // namespace

Base::Base()
    : arena(map(kArena, kArenaBytes)),
      attackers(map(kAttackers, kArenaBytes)),
      always_readable(eventfd(1, EFD_CLOEXEC)) {
  constexpr std::array<std::string_view, 9> kEnvironment = {
      "RMA_HEAP_SIZE=16M",        "RMA_MESSAGE=1K",       "RMA_HELPER_BUFFER=4K",
      "RMA_HELPER_BUFFERS=2",     "RMA_SRQ_BASE=4",       "RMA_SRQ_FACTOR=2",
      "RMA_LOCAL_BUFFERS=bounce", "RMA_BOUNCE_BUFFERS=4", "RMA_LOG=off"};
  auto read = read_settings(kEnvironment);
  demand(read.ok(), std::string(read.status().text()).c_str());
  settings = read.value();
  demand(open_log(settings.log, 0).ok(), "no log");
  auto opened = Job::open(settings, 0);
  demand(opened.ok(), "no job");
  job = std::move(opened).value();
  auto endpoint =
      fabric.open(0, {.max_message = 4096, .max_outstanding = 4}, transport::LoopbackKeys::ignored);
  const std::vector<std::byte> card(endpoint->card().begin(), endpoint->card().end());
  remote_access = std::make_unique<RemoteAccess>(
      std::move(endpoint), 1, [card](int) -> Result<std::vector<std::byte>> { return card; });
  auto created = Accumulator::create(*job, *remote_access);
  demand(created.ok(), "no accumulator");
  accumulator = std::move(created).value();
  demand(job->connect().ok(), "no connection to itself");
  demand(job->memory().user_regions().add(arena, kArenaBytes).ok(), "the arena cannot be given out");
  demand(always_readable >= 0, "no event fd");
}

Base& base() {
  static Base the_base;
  return the_base;
}

Rank::Rank(transport::LoopbackFabric& fabric, int number, const Network::CardSource& cards, std::byte* memory)
    : pending(kRanks, {.spins = 16, .yields = 4}, std::chrono::seconds(60)) {
  auto opened = fabric.open(number, {.max_message = 1 << 20, .max_gather = 4, .max_outstanding = 16});
  endpoint = opened.get();
  // The first registration, whose key inputs can name.
  if (memory != nullptr) {
    demand(endpoint->register_memory(memory, kArenaBytes)->remote == kAttackersKey, "another key");
  }
  std::vector<std::unique_ptr<transport::Transport>> transports;
  transports.push_back(std::move(opened));
  rails = std::make_unique<Rails>(std::move(transports));
  network = std::make_unique<Network>(
      base().settings, pending, *rails, kRanks, cards,
      [](const std::byte* /*address*/) -> std::optional<Registered> { return std::nullopt; });
  const Settings& settings = base().settings;
  auto created = Channel::create(*rails, kRanks, Channel::Options::from(settings, kRanks, false));
  demand(created.ok(), "no channel");
  channel = std::move(created).value();
  client = std::make_unique<RpcClient>(pending, network.get(), *channel, *rails, settings.helper_buffer,
                                       settings.helper_buffers);
  server = std::make_unique<RpcServer>(*channel, *rails, settings.helper_buffer, settings.helper_buffers);
  helper = std::make_unique<HelperThread>(*channel, pending, nullptr, 0);
  for (int rank = 0; rank < kRanks; ++rank) pending.set_progress_source(rank, *network);
}

}  // namespace librma::fuzz
