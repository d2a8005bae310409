// Posts scatters and gathers, and handles their completions.

#include <cstring>
#include <iterator>
#include <new>
#include <vector>

#include "channel/channel.hpp"
#include "strided/host_assisted_peer.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

/// The number of gathers of a grant that share one report. It bounds the list of gathers whose end is not
/// known.
constexpr std::uint32_t kReportShare = 8;

}  // namespace

void HostAssisted::tell(PeerState& state, std::size_t rail, std::uint16_t kind, const Header& header,
                        std::span<const std::byte> layout) {
  channel_.send(state.rank, rail, kind, {reinterpret_cast<const std::byte*>(&header), sizeof header}, layout);
}

void HostAssisted::tell_granted(PeerState& state, Inflow& inflow) {
  if (!inflow.question.empty()) {
    Header header;
    std::memcpy(&header, inflow.question.data(), sizeof header);
    header.granted = inflow.ungranted;
    tell(state, inflow.rail, kGatherMessage, header, std::span(inflow.question).subspan(sizeof header));
    inflow.question.clear();
  } else {
    tell(state, inflow.rail, kGrantMessage,
         {.stream = inflow.name.stream, .yours = inflow.name.mine ? 0U : 1U, .granted = inflow.ungranted},
         {});
  }
  inflow.ungranted = 0;
}

void HostAssisted::stall(PeerState& state) {
  state.stalled = true;
  stalled_.store(true, std::memory_order_relaxed);
}

// Without memory it leaves the rest to advance().
void HostAssisted::pump_in(PeerState& state) try {
  std::vector<transport::Local> pieces;
  if (state.crowded && !state.incoming.empty()) {
    // Each grant is a message, and wakes both helpers. So room for one chunk is not granted at once, but
    // together with more. Meanwhile the other half of the scatters keeps the sender busy.
    const std::uint32_t most = channel_.endpoint(state.incoming.front()->rail).limits().scatters;
    if (state.scatters.size() > most / 2) return;
    state.crowded = false;
  }
  while (!state.incoming.empty() && !state.lost) {
    const std::shared_ptr<Inflow> inflow = state.incoming.front();
    transport::MessageEndpoint& endpoint = channel_.endpoint(inflow->rail);
    bool full = false;
    while (!inflow->chunks.over() && inflow->status == RMA_SUCCESS) {
      std::size_t bytes = 0;
      if (!inflow->chunks.peek(pieces, bytes)) {
        inflow->status = RMA_ERR_ADDRESS;  // deregistered meanwhile; the code below tells the sender
        break;
      }
      const auto scatter = state.scatters.emplace(state.scatters.end(), state, inflow, bytes);
      scatter->self = scatter;
      Undo unposted([&] { state.scatters.erase(scatter); });
      const rma_status_t status = endpoint.post_scatter(state.rank, pieces, scatter->cookie());
      if (status != RMA_SUCCESS) {
        full = status == RMA_ERR_STATE;
        if (!full) channel_.fail(state.rank);
        break;
      }
      unposted.dismiss();
      ++inflow->posted;
      ++inflow->ungranted;
      inflow->chunks.take(bytes);
    }
    if (inflow->ungranted != 0) tell_granted(state, *inflow);
    if (full) {
      state.crowded = true;
      stall(state);
    }
    if (!inflow->chunks.over() && inflow->status == RMA_SUCCESS) return;
    if (inflow->status != RMA_SUCCESS && !inflow->chunks.over()) {
      if (inflow->question.empty()) {
        tell(state, inflow->rail, kRefuseMessage,
             {.stream = inflow->name.stream,
              .yours = inflow->name.mine ? 0U : 1U,
              .status = static_cast<std::int32_t>(inflow->status)},
             {});
      }
      inflow->chunks.end();
    }
    state.incoming.pop_front();
    finish(state, *inflow);
  }
} catch (const std::bad_alloc&) {
  state.crowded = false;  // scatters that are not granted yet do not end
  stall(state);
}

// Without memory it leaves the rest to advance().
void HostAssisted::pump_out(PeerState& state) try {
  std::vector<transport::Local> pieces;
  while (!state.grants.empty() && !state.lost) {
    PeerState::Grant& grant = state.grants.front();
    const std::shared_ptr<Outflow> outflow = grant.outflow;
    while (grant.chunks > 0) {
      std::size_t bytes = 0;
      pieces.clear();
      if (outflow->status == RMA_SUCCESS && !outflow->chunks.peek(pieces, bytes)) {
        outflow->status = RMA_ERR_ADDRESS;
        pieces.clear();
        bytes = 0;
      }
      // The last gather of a grant is never silent.
      const bool silent = grant.chunks % kReportShare != 1;
      const auto gather = state.gathers.emplace(state.gathers.end(), state, outflow, silent);
      gather->self = gather;
      Undo unposted([&] { state.gathers.erase(gather); });
      const rma_status_t status =
          channel_.endpoint(outflow->rail)
              .post_gather(state.rank, pieces, gather->cookie(), {.unsignaled = silent});
      if (status != RMA_SUCCESS) {
        if (status == RMA_ERR_STATE) {
          stall(state);
        } else {
          channel_.fail(state.rank);
        }
        return;
      }
      unposted.dismiss();
      ++outflow->posted;
      outflow->chunks.take(bytes);
      --grant.chunks;
    }
    state.grants.pop_front();
  }
} catch (const std::bad_alloc&) {
  stall(state);
}

void HostAssisted::finish(PeerState& state, Inflow& inflow) {
  if (!inflow.chunks.over() || inflow.posted != 0) return;
  if (state.inflows.erase(Name(inflow.name)) == 0) return;  // the peer is lost, and the inflow has ended
  inflow.use.reset();
  if (inflow.name.mine) pending_.end(state.rank, inflow.operation, inflow.status);
}

void HostAssisted::finish(PeerState& state, Outflow& outflow) {
  if (outflow.posted != 0 || (!outflow.chunks.over() && outflow.status == RMA_SUCCESS)) return;
  for (const PeerState::Grant& grant : state.grants) {
    if (grant.outflow.get() == &outflow) return;
  }
  if (state.outflows.erase(Name(outflow.name)) == 0) return;
  outflow.use.reset();
  if (outflow.name.mine) pending_.end(state.rank, outflow.operation, outflow.status);
}

void HostAssisted::Scatter::ended(int rank, rma_status_t status, std::uint32_t bytes) {
  PeerState& state = peer;
  // The connection has failed with this request. The rank counts as lost, because other posted work
  // may never complete.
  if (status != RMA_SUCCESS) state.owner.channel_.fail(rank);
  const std::lock_guard guard(state.lock);
  const std::shared_ptr<Inflow> part = inflow;
  --part->posted;
  if (status == RMA_SUCCESS && bytes != expected) status = RMA_ERR_ADDRESS;
  if (part->status == RMA_SUCCESS) part->status = status;
  state.scatters.erase(std::list<Scatter>::iterator(self));  // this destroys the object itself
  state.owner.pump_in(state);
  state.owner.finish(state, *part);
}

void HostAssisted::Gather::ended(int rank, rma_status_t status, std::uint32_t /*bytes*/) {
  PeerState& state = peer;
  if (status != RMA_SUCCESS) state.owner.channel_.fail(rank);
  const std::lock_guard guard(state.lock);
  const std::shared_ptr<Outflow> part = outflow;
  if (part->status == RMA_SUCCESS) part->status = status;
  // Silent gathers before this one have ended without a report: they have succeeded.
  auto first = self;
  while (first != state.gathers.begin() && std::prev(first)->silent) --first;
  const auto last = std::next(self);
  part->posted -= static_cast<std::size_t>(std::distance(first, last));
  state.gathers.erase(first, last);  // this destroys the object itself, too
  state.owner.pump_out(state);
  state.owner.finish(state, *part);
}

}  // namespace librma
