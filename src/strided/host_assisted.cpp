#include "strided/host_assisted.hpp"

#include <utility>
#include <vector>

#include "strided/host_assisted_peer.hpp"

namespace rma {

HostAssisted::HostAssisted(Registrations own, PendingOperations& pending, Network& network, Channel& channel)
    : own_(std::move(own)), pending_(pending), network_(network), channel_(channel) {
  channel.on_message(kScatterMessage, [this](const Message& message) { return asked_to_scatter(message); });
  channel.on_message(kGatherMessage, [this](const Message& message) { return asked_to_gather(message); });
  channel.on_message(kGrantMessage, [this](const Message& message) { return granted(message); });
  channel.on_message(kRefuseMessage, [this](const Message& message) { return refused(message); });
  channel.on_loss([this](int rank) { lost(rank); });
  channel.on_progress([this] { return advance(); });
}

HostAssisted::~HostAssisted() = default;

HostAssisted::PeerState& HostAssisted::state_of(int rank) {
  const std::lock_guard guard(peers_lock_);
  std::unique_ptr<PeerState>& state = peers_[rank];
  if (state == nullptr) state = std::make_unique<PeerState>(*this, rank);
  return *state;
}

Chunks::Keys HostAssisted::given_keys(std::size_t rail) const {
  return [this, rail](std::uintptr_t address, std::size_t bytes) -> std::optional<transport::Key> {
    const auto found = own_(address, bytes);
    if (!found) return std::nullopt;
    return found->local[rail];
  };
}

void HostAssisted::lost(int rank) {
  PeerState& state = state_of(rank);
  const std::lock_guard guard(state.lock);
  state.lost = true;
  state.incoming.clear();
  state.grants.clear();
  // The completions of posted work come later, and find that its transfer is gone.
  for (const auto& [name, inflow] : std::exchange(state.inflows, {})) {
    if (name.mine) pending_.end(rank, inflow->operation, RMA_ERR_PEER_LOST);
  }
  for (const auto& [name, outflow] : std::exchange(state.outflows, {})) {
    if (name.mine) pending_.end(rank, outflow->operation, RMA_ERR_PEER_LOST);
  }
}

bool HostAssisted::advance() {
  if (!stalled_.exchange(false, std::memory_order_relaxed)) return false;
  std::vector<PeerState*> all;
  {
    const std::lock_guard guard(peers_lock_);
    for (const auto& [rank, state] : peers_) all.push_back(state.get());
  }
  for (PeerState* const state : all) {
    const std::lock_guard guard(state->lock);
    if (!std::exchange(state->stalled, false)) continue;
    pump_in(*state);
    pump_out(*state);
  }
  return false;
}

}  // namespace rma
