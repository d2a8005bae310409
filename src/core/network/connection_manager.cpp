#include "core/network/connection_manager.hpp"

#include <utility>

#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

constexpr std::uint32_t kAllRails = (1U << kMaxRails) - 1;

}  // namespace

ConnectionManager::ConnectionManager(PendingOperations& pending, Rails& rails, int ranks,
                                     NetworkCardSource cards, std::uint64_t peer_timeout)
    : pending_(pending),
      rails_(rails),
      cards_(std::move(cards)),
      peer_timeout_(peer_timeout),
      peers_(static_cast<std::size_t>(ranks)) {
  for (int rank = 0; rank < ranks; ++rank) peer(rank).rank = rank;
}

Status ConnectionManager::connect_first(NetworkPeer& peer) {
  const std::lock_guard guard(peer.lock);
  if (peer.ready.load(std::memory_order_relaxed)) return {};
  if (peer.memory == nullptr) {
    RMA_TRY_ASSIGN(card, cards_(peer.rank));
    RMA_TRY(match(peer, card));
  }
  std::size_t first = 0;
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the peer owns what match() made
  RMA_TRY(connect_any(peer, &first));
  peer.primary_rail.store(first, std::memory_order_relaxed);
  peer.ready.store(true, std::memory_order_release);  // pairs with the load in connect()
  return {};
}

Status ConnectionManager::match(NetworkPeer& peer, const NetworkCard& card) {
  if (card.rails.empty()) {
    return {RMA_ERR_UNSUPPORTED, text("rank {} has no network open (RMA_NETWORK)", peer.rank)};
  }
  std::vector<std::string> mine;
  std::vector<std::string> theirs;
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) mine.emplace_back(rails_[rail].name());
  for (const NetworkCard::Rail& rail : card.rails) theirs.push_back(rail.name);
  peer.match = RailMatch(mine, theirs);
  peer.cards.resize(rails_.count());
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) {
    if (peer.match.has(rail)) {
      peer.cards[rail] = card.rails[peer.match.theirs(rail)].card;
    } else {
      peer.unmatched |= 1U << rail;
    }
  }
  peer.dead.fetch_or(peer.unmatched, std::memory_order_relaxed);  // published by the store to `ready`
  peer.memory = std::make_unique<RemoteMemory>(peer.rank, card.directory, peer.match);
  return {};
}

Status ConnectionManager::connect_rail(NetworkPeer& peer, std::size_t rail) {
  Status status = rails_[rail].connect(peer.rank, peer.cards[rail]);
  if (status.ok()) {
    peer.connected.fetch_or(1U << rail, std::memory_order_release);  // pairs with Peer::alive()
  } else if (status.code() == RMA_ERR_PEER_LOST) {
    rail_failed(peer, rail);
  }
  return status;
}

Status ConnectionManager::connect_any(NetworkPeer& peer, std::size_t* rail) {
  Status status;
  const auto usable = [&](std::size_t which) {
    *rail = which;
    if ((peer.dead.load(std::memory_order_acquire) & (1U << which)) != 0) return false;
    status = peer.alive(which) ? Status() : connect_rail(peer, which);
    return status.ok();
  };
  // Prefers the rail for atomics, so that they are in order with the transfers over the primary rail.
  const std::size_t for_atomics = peer.match.mine(0);
  if (for_atomics < rails_.count() && usable(for_atomics)) return {};
  for (std::size_t which = 0; which < rails_.count(); ++which) {
    if (usable(which)) return {};
  }
  return status.ok() ? lost(peer) : std::move(status);
}

std::size_t ConnectionManager::connect_all(NetworkPeer& peer) {
  std::size_t alive = 0;
  for (std::size_t rail = 0; rail < peer.cards.size(); ++rail) {
    const std::uint32_t bit = 1U << rail;
    // Relaxed, because this is only a hint. alive() decides, with the order that it needs.
    const std::uint32_t tried =
        peer.connected.load(std::memory_order_seq_cst) | peer.dead.load(std::memory_order_seq_cst);
    if ((tried & bit) == 0) {
      const std::lock_guard guard(peer.lock);
      if ((peer.connected.load(std::memory_order_seq_cst) & bit) == 0) {
        static_cast<void>(connect_rail(peer, rail));
      }
    }
    if (peer.alive(rail)) ++alive;
  }
  return alive;
}

Status ConnectionManager::fail_over(NetworkPeer& peer, std::size_t* rail) {
  // Everything on the failed rail ends first. Then all transfers that were lost with it are known and
  // reported.
  const std::size_t failed = *rail;
  pending_.engine().wait_until(peer.rank, [&] { return rails_[failed].outstanding(peer.rank) == 0; });
  const std::lock_guard guard(peer.lock);
  if (!connect_any(peer, rail).ok()) return lost(peer);
  peer.primary_rail.store(*rail, std::memory_order_release);  // pairs with the load in primary()
  return {};
}

Status ConnectionManager::rail_for_atomics(NetworkPeer& peer, std::size_t* rail) {
  // One device executes all atomics on a word, because otherwise they would not be atomic. It is the device
  // of the rank's rail 0.
  *rail = peer.match.mine(0);
  if (*rail >= rails_.count()) {
    return {RMA_ERR_UNSUPPORTED,
            text("atomics of rank {} are its first device's, which no device of this process is "
                 "connected with (see rma-info --devices on both hosts)",
                 peer.rank)};
  }
  if (!rails_[*rail].limits().atomics64) {
    return {RMA_ERR_UNSUPPORTED, "the network device has no atomics (see rma-info --devices)"};
  }
  if (peer.alive(*rail)) return {};
  return lost(peer);
}

std::size_t ConnectionManager::next_rail(NetworkPeer& peer) {
  const std::size_t first = peer.next_rail.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < peer.cards.size(); ++i) {
    const std::size_t rail = (first + i) % peer.cards.size();
    if (peer.alive(rail)) return rail;
  }
  return peer.primary_rail.load(std::memory_order_relaxed);
}

std::size_t ConnectionManager::alive(const NetworkPeer& peer) {
  std::size_t count = 0;
  for (std::size_t rail = 0; rail < peer.cards.size(); ++rail)
    count += static_cast<std::size_t>(peer.alive(rail));
  return count;
}

bool ConnectionManager::all_tried(const NetworkPeer& peer) {
  const std::uint32_t tried =
      peer.connected.load(std::memory_order_relaxed) | peer.dead.load(std::memory_order_relaxed);
  return (~tried & ((1U << peer.cards.size()) - 1)) == 0;
}

void ConnectionManager::rail_failed(NetworkPeer& peer, std::size_t rail) {
  const std::uint32_t bit = 1U << rail;
  const std::uint32_t before =
      peer.dead.fetch_or(bit, std::memory_order_acq_rel);  // pairs with Peer::alive()
  if ((before & bit) != 0) return;
  log(LogLevel::warn, "rank {} cannot be reached over {} any more", peer.rank, rails_[rail].name());
}

void ConnectionManager::give_up(int rank) {
  // Pairs with Peer::alive(). Only the first to give the rank up goes on.
  if (peer(rank).dead.fetch_or(kAllRails, std::memory_order_acq_rel) == kAllRails) return;
  count(Counter::peer_lost);
  log(LogLevel::warn, explain(RMA_ERR_PEER_LOST, rank));
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) rails_[rail].fail(rank);
}

Status ConnectionManager::lost(const NetworkPeer& peer) const {
  return {RMA_ERR_PEER_LOST, explain(RMA_ERR_PEER_LOST, peer.rank)};
}

std::string ConnectionManager::explain(rma_status_t code, int rank) const {
  switch (code) {
    case RMA_ERR_PEER_LOST:
      return text("rank {} is gone, or nothing was heard of it for up to {} s (RMA_PEER_TIMEOUT)", rank,
                  peer_timeout_);
    case RMA_ERR_ADDRESS:
      return text(
          "rank {} refused access to part of its memory: it is neither in its heap nor registered there "
          "(rma_malloc, rma_malloc_local, rma_register), or was freed or unregistered while it was in use",
          rank);
    default:
      return text("a transfer with rank {} over the network failed (status {})", rank,
                  static_cast<int>(code));
  }
}

}  // namespace librma
