#include "strided/host_assisted.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "channel/channel.hpp"
#include "core/network/request_order.hpp"
#include "strided/host_assisted_peer.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

/// The maximum size of a chunk.
constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 10U;
/// A list that needs more messages than this takes another protocol, because the messages would all
/// wait for credits.
constexpr std::size_t kMostParts = 256;

}  // namespace

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

Status HostAssisted::start(const Transfer& transfer) {
  PeerState& state = state_of(transfer.rank);
  const auto lost_already = [&] {
    const std::lock_guard guard(state.lock);
    return state.lost;
  };
  if (lost_already()) return {RMA_ERR_PEER_LOST, network_.explain(RMA_ERR_PEER_LOST, transfer.rank)};
  std::size_t rail = 0;
  RMA_TRY(network_.requests().reach(transfer.rank, &rail));
  // Scatters and gathers use the rail of the messages that announce them.
  if (const rma_status_t open = channel_.open(transfer.rank, &rail); open != RMA_SUCCESS) {
    return {open, network_.explain(open, transfer.rank)};
  }
  network_.requests().settle(transfer.rank);
  // The devices move the data, while the target's helper may still have to serve earlier requests.
  network_.requests().settle_requests(transfer.rank);
  // A message has room for a part of the layout. So a long list becomes several transfers.
  const std::size_t room = channel_.max_body() - sizeof(Header);
  std::vector<Range> parts;
  std::size_t from = 0;
  std::size_t at = 0;
  std::size_t entries = 0;
  const std::size_t most_entries = (room - 64) / sizeof(Layout::Segment);
  if (transfer.remote->encoded_bytes(0, transfer.remote->bytes()) <= room) {
    parts.emplace_back(0, transfer.remote->bytes());
  } else {
    transfer.remote->visit(0, transfer.remote->bytes(), [&](std::uintptr_t /*address*/, std::size_t bytes) {
      at += bytes;
      if (++entries == most_entries) {
        parts.emplace_back(from, at - from);
        from = at;
        entries = 0;
      }
      return true;
    });
    if (at != from) parts.emplace_back(from, at - from);
  }
  if (parts.size() > kMostParts) return {RMA_ERR_UNSUPPORTED, "a list that takes too many messages"};
  const auto clear = [&] { return !channel_.congested(transfer.rank); };
  if (!clear()) pending_.engine().wait_until(transfer.rank, clear);
  return start_parts(transfer, parts, rail);
}

Status HostAssisted::start_parts(const Transfer& transfer, std::span<const Range> parts, std::size_t rail) {
  transport::MessageEndpoint& endpoint = channel_.endpoint(rail);
  const Cut cut = {.segments = std::min(endpoint.limits().gather, endpoint.gather_of(transfer.rank)),
                   .bytes = kChunkBytes};
  if (cut.segments == 0) return {RMA_ERR_UNSUPPORTED, "the rank takes no gathers"};
  std::shared_ptr<RegistrationCache::Use> use;
  Chunks::Keys keys = given_keys(rail);
  if (!Chunks(*transfer.local, cut, keys).registered()) {
    const Layout::Extent& extent = transfer.local->extent();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): memory of this process
    auto made = network_.register_local(reinterpret_cast<std::byte*>(extent.low), extent.bytes());
    if (!made.ok()) return {RMA_ERR_UNSUPPORTED, std::string(made.status().text())};
    use = std::make_shared<RegistrationCache::Use>(std::move(made).value());
    keys = [key = use->registered().local[rail]](std::uintptr_t, std::size_t) { return std::optional(key); };
  }
  PeerState& state = state_of(transfer.rank);
  const bool put = transfer.direction == transport::Direction::write;
  const std::lock_guard guard(state.lock);
  if (state.lost) return {RMA_ERR_PEER_LOST, network_.explain(RMA_ERR_PEER_LOST, transfer.rank)};
  // If a part finds no memory, those before it go on. Each part is begun when it is sure to end.
  Undo left([&] { stall(state); });
  for (const auto& [from, bytes] : parts) {
    const Header header = {.stream = ++state.streams, .segments = cut.segments, .bytes = cut.bytes};
    const Name name = {.stream = header.stream, .mine = true};
    std::vector<std::byte> question(sizeof header + transfer.remote->encoded_bytes(from, bytes));
    std::memcpy(question.data(), &header, sizeof header);
    transfer.remote->encode(from, bytes, std::span(question).subspan(sizeof header));
    Chunks chunks(transfer.local->part(from, bytes), cut, keys);
    if (put) {
      const auto outflow = std::make_shared<Outflow>(Outflow{.name = name,
                                                             .rail = rail,
                                                             .chunks = std::move(chunks),
                                                             .operation = transfer.operation,
                                                             .use = use});
      const auto listed = state.outflows.emplace(name, outflow).first;
      pending_.begin(transfer.rank, transfer.operation);
      Undo unsent([&] {
        state.outflows.erase(listed);
        pending_.end(transfer.rank, transfer.operation, RMA_ERR_NO_MEMORY);
      });
      tell(state, rail, kScatterMessage, header, std::span(question).subspan(sizeof header));
      unsent.dismiss();
    } else {
      const auto inflow = std::make_shared<Inflow>(Inflow{.name = name,
                                                          .rail = rail,
                                                          .chunks = std::move(chunks),
                                                          .operation = transfer.operation,
                                                          .question = std::move(question),
                                                          .use = use});
      const auto listed = state.inflows.emplace(name, inflow).first;
      Undo unlisted([&] { state.inflows.erase(listed); });
      state.incoming.push_back(inflow);
      unlisted.dismiss();
      pending_.begin(transfer.rank, transfer.operation);
    }
  }
  left.dismiss();
  count(put ? Counter::put_host_assisted : Counter::get_host_assisted);
  pump_in(state);
  return {};
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

}  // namespace librma
