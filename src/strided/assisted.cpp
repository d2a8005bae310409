#include "strided/assisted.hpp"

#include <utility>
#include <vector>

#include "strided/assisted_peer.hpp"

namespace rma {

Assisted::Assisted(Registrations own, Flights& flights, Network& network, Channel& channel)
    : own_(std::move(own)), flights_(flights), network_(network), channel_(channel) {
  channel.on_message(kScatterMessage, [this](const Message& message) { return asked_to_scatter(message); });
  channel.on_message(kGatherMessage, [this](const Message& message) { return asked_to_gather(message); });
  channel.on_message(kGrantMessage, [this](const Message& message) { return granted(message); });
  channel.on_message(kRefuseMessage, [this](const Message& message) { return refused(message); });
  channel.on_loss([this](int rank) { lost(rank); });
  channel.on_progress([this] { return advance(); });
}

Assisted::~Assisted() = default;

Assisted::Peer& Assisted::peer(int rank) {
  const std::lock_guard guard(peers_lock_);
  std::unique_ptr<Peer>& its = peers_[rank];
  if (its == nullptr) its = std::make_unique<Peer>(*this, rank);
  return *its;
}

Chunks::Keys Assisted::given_keys(std::size_t rail) const {
  return [this, rail](std::uintptr_t address, std::size_t bytes) -> std::optional<transport::Key> {
    const auto found = own_(address, bytes);
    if (!found) return std::nullopt;
    return found->local[rail];
  };
}

void Assisted::lost(int rank) {
  Peer& its = peer(rank);
  const std::lock_guard guard(its.lock);
  its.lost = true;
  its.incoming.clear();
  its.grants.clear();
  // The completions of posted work come later, and find that its transfer is gone.
  for (const auto& [name, inflow] : std::exchange(its.inflows, {})) {
    if (name.mine) flights_.end(rank, inflow->operation, RMA_ERR_PEER_LOST);
  }
  for (const auto& [name, outflow] : std::exchange(its.outflows, {})) {
    if (name.mine) flights_.end(rank, outflow->operation, RMA_ERR_PEER_LOST);
  }
}

bool Assisted::advance() {
  if (!stalled_.exchange(false, std::memory_order_relaxed)) return false;
  std::vector<Peer*> all;
  {
    const std::lock_guard guard(peers_lock_);
    for (const auto& [rank, its] : peers_) all.push_back(its.get());
  }
  for (Peer* const its : all) {
    const std::lock_guard guard(its->lock);
    if (!std::exchange(its->stalled, false)) continue;
    pump_in(*its);
    pump_out(*its);
  }
  return false;
}

}  // namespace rma
