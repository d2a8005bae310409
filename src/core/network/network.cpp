#include "core/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/network/peer.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"

namespace rma {

Network::Network(const Settings& settings, Flights& flights, Rails& rails, int ranks, CardSource cards,
                 OwnMemory own_memory)
    : settings_(settings),
      flights_(flights),
      rails_(rails),
      cards_(std::move(cards)),
      own_memory_(std::move(own_memory)),
      inline_bytes_(std::min(static_cast<std::uint32_t>(settings.inline_bytes), rails.max_inline())),
      cache_(
          RegistrationCache::create(rails, {.max_bytes = settings.cache_bytes,
                                            .max_entries = settings.cache_entries,
                                            .enabled = settings.local_buffers == LocalBufferSetting::cache})),
      peers_(std::make_unique<Peer[]>(static_cast<std::size_t>(ranks))) {
  rails_.make_buffers(settings);
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) {
    if (const int fd = rails_[rail].event_fd(); fd >= 0) event_fds_.push_back(fd);
  }
}

Network::~Network() = default;

Status Network::connect(int rank, Peer** connected) {
  Peer& its = peer(rank);
  *connected = &its;
  if (its.ready.load(std::memory_order_acquire)) return {};  // pairs with the store below
  const std::lock_guard guard(its.lock);
  if (its.ready.load(std::memory_order_relaxed)) return {};
  if (its.memory == nullptr) {
    const auto card = cards_(rank);
    if (!card.ok()) return {card.status().code(), std::string(card.status().text())};
    if (Status status = match(its, rank, card.value()); !status.ok()) return status;
  }
  std::size_t first = 0;
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the peer owns what match() made
  if (Status status = connect_any(its, rank, &first); !status.ok()) return status;
  its.primary_rail.store(first, std::memory_order_relaxed);
  its.ready.store(true, std::memory_order_release);
  return {};
}

Status Network::start(int rank, Peer** connected) {
  if (Status status = connect(rank, connected); !status.ok()) return status;
  settle_requests(rank);
  return {};
}

Status Network::reach(int rank, std::size_t* rail) {
  Peer* its = nullptr;
  if (Status status = connect(rank, &its); !status.ok()) return status;
  return primary(*its, rank, rail);
}

Status Network::settle(int rank) {
  Batch none(rank);
  return drain(none, peer(rank));
}

void Network::loose_request(int rank, int change) {
  peer(rank).loose_requests.fetch_add(static_cast<std::uint32_t>(change), std::memory_order_acq_rel);
}

void Network::settle_requests(int rank) {
  const std::atomic<std::uint32_t>& loose = peer(rank).loose_requests;
  if (loose.load(std::memory_order_acquire) == 0) return;  // pairs with the end of the last
  count(Counter::drain);
  flights_.wait_until(rank, [&] { return loose.load(std::memory_order_acquire) == 0; });
}

Status Network::match(Peer& its, int rank, const NetworkCard& card) {
  if (card.rails.empty()) {
    return {RMA_ERR_UNSUPPORTED, text("rank {} has no network open (RMA_NETWORK)", rank)};
  }
  std::vector<std::string> mine;
  std::vector<std::string> theirs;
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) mine.emplace_back(rails_[rail].name());
  for (const NetworkCard::Rail& rail : card.rails) theirs.push_back(rail.name);
  its.rails = RailMatch(mine, theirs);
  its.cards.resize(rails_.count());
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) {
    if (its.rails.has(rail)) {
      its.cards[rail] = card.rails[its.rails.theirs(rail)].card;
    } else {
      its.unmatched |= 1U << rail;
    }
  }
  its.dead.fetch_or(its.unmatched, std::memory_order_relaxed);
  its.memory = std::make_unique<RemoteMemory>(rank, card.directory, its.rails);
  return {};
}

Status Network::connect_rail(Peer& its, int rank, std::size_t rail) {
  Status status = rails_[rail].connect(rank, its.cards[rail]);
  if (status.ok()) {
    its.connected.fetch_or(1U << rail, std::memory_order_release);
  } else if (status.code() == RMA_ERR_PEER_LOST) {
    rail_failed(rank, rail);
  }
  return status;
}

void Network::rail_failed(int rank, std::size_t rail) {
  Peer& its = peer(rank);
  const std::uint32_t before = its.dead.fetch_or(1U << rail, std::memory_order_acq_rel);
  if ((before & (1U << rail)) != 0) return;
  log(LogLevel::warn, fmt::format("rank {} cannot be reached over {} any more", rank, rails_[rail].name()));
}

Status Network::primary(Peer& its, int rank, std::size_t* rail) {
  *rail = its.primary_rail.load(std::memory_order_acquire);
  if (its.alive(*rail)) return {};
  // Everything on the rail that failed ends first: what it had taken and lost is then known, and reported.
  const std::size_t failed = *rail;
  flights_.wait_until(rank, [&] { return rails_[failed].outstanding(rank) == 0; });
  const std::lock_guard guard(its.lock);
  if (!connect_any(its, rank, rail).ok()) return lost(rank);
  its.primary_rail.store(*rail, std::memory_order_release);
  return {};
}

Status Network::connect_any(Peer& its, int rank, std::size_t* rail) {
  Status status;
  const auto usable = [&](std::size_t which) {
    *rail = which;
    if ((its.dead.load(std::memory_order_acquire) & (1U << which)) != 0) return false;
    status = its.alive(which) ? Status() : connect_rail(its, rank, which);
    return status.ok();
  };
  // First the rail that atomics take: they are then in order with what goes over the primary one.
  const std::size_t for_atomics = its.rails.mine(0);
  if (for_atomics < rails_.count() && usable(for_atomics)) return {};
  for (std::size_t which = 0; which < rails_.count(); ++which) {
    if (usable(which)) return {};
  }
  return status.ok() ? lost(rank) : std::move(status);
}

Status Network::rail_for_atomics(Peer& its, int rank, std::size_t* rail) {
  // One device executes all atomics on a word, or they would not be atomic: that of the rank's rail 0.
  *rail = its.rails.mine(0);
  if (*rail >= rails_.count()) {
    return {RMA_ERR_UNSUPPORTED,
            text("atomics of rank {} are its first device's, which no device of this process is "
                 "connected with (see rma-info --devices on both hosts)",
                 rank)};
  }
  if (!rails_[*rail].limits().atomics64) {
    return {RMA_ERR_UNSUPPORTED, "the network device has no atomics (see rma-info --devices)"};
  }
  if (its.alive(*rail)) return {};
  return lost(rank);
}

std::size_t Network::live_rails(Peer& its, int rank) {
  std::size_t live = 0;
  for (std::size_t rail = 0; rail < its.cards.size(); ++rail) {
    const std::uint32_t bit = 1U << rail;
    if (((its.connected | its.dead) & bit) == 0) {
      const std::lock_guard guard(its.lock);
      if ((its.connected & bit) == 0) static_cast<void>(connect_rail(its, rank, rail));
    }
    if (its.alive(rail)) ++live;
  }
  return live;
}

std::size_t Network::next_rail(Peer& its) {
  const std::size_t first = its.next_rail.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < its.cards.size(); ++i) {
    const std::size_t rail = (first + i) % its.cards.size();
    if (its.alive(rail)) return rail;
  }
  return its.primary_rail.load(std::memory_order_relaxed);
}

}  // namespace rma
