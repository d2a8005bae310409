// Posts scatters and gathers, and handles their completions.

#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "strided/assisted_peer.hpp"

namespace rma {
namespace {

/// So many gathers of a grant share one report. It bounds the list of those whose end is not known.
constexpr std::uint32_t kReportShare = 8;

}  // namespace

void Assisted::tell(Peer& its, std::size_t rail, std::uint16_t kind, const Header& header,
                    std::span<const std::byte> layout) {
  channel_.send(its.rank, rail, kind, {reinterpret_cast<const std::byte*>(&header), sizeof header}, layout);
}

void Assisted::tell_granted(Peer& its, Inflow& inflow, std::uint32_t chunks) {
  if (!inflow.question.empty()) {
    Header header;
    std::memcpy(&header, inflow.question.data(), sizeof header);
    header.granted = chunks;
    tell(its, inflow.rail, kGatherMessage, header, std::span(inflow.question).subspan(sizeof header));
    inflow.question.clear();
    return;
  }
  tell(its, inflow.rail, kGrantMessage,
       {.stream = inflow.name.stream, .yours = inflow.name.mine ? 0U : 1U, .granted = chunks}, {});
}

void Assisted::stall(Peer& its) {
  its.stalled = true;
  stalled_.store(true, std::memory_order_relaxed);
}

void Assisted::pump_in(Peer& its) {
  std::vector<transport::Local> pieces;
  if (its.crowded && !its.incoming.empty()) {
    // Each grant is a message, and wakes both helpers. So room for one chunk is not granted at once, but together
    // with more. Meanwhile the other half of the scatters keeps the sender busy.
    const std::uint32_t most = channel_.endpoint(its.incoming.front()->rail).limits().scatters;
    if (its.scatters.size() > most / 2) return;
    its.crowded = false;
  }
  while (!its.incoming.empty() && !its.lost) {
    const std::shared_ptr<Inflow> inflow = its.incoming.front();
    transport::MessageEndpoint& endpoint = channel_.endpoint(inflow->rail);
    std::uint32_t posted = 0;
    bool full = false;
    while (!inflow->chunks.over() && inflow->status == RMA_SUCCESS) {
      std::size_t bytes = 0;
      if (!inflow->chunks.peek(pieces, bytes)) {
        inflow->status = RMA_ERR_ADDRESS;  // deregistered meanwhile; the code below tells the sender
        break;
      }
      const auto scatter = its.scatters.emplace(its.scatters.end(), its, inflow, bytes);
      scatter->self = scatter;
      const rma_status_t status = endpoint.post_scatter(its.rank, pieces, scatter->cookie());
      if (status != RMA_SUCCESS) {
        its.scatters.erase(scatter);
        full = status == RMA_ERR_STATE;
        if (!full) channel_.fail(its.rank);
        break;
      }
      ++inflow->posted;
      ++posted;
      inflow->chunks.take(bytes);
    }
    if (posted != 0) tell_granted(its, *inflow, posted);
    if (full) {
      its.crowded = true;
      stall(its);
    }
    if (!inflow->chunks.over() && inflow->status == RMA_SUCCESS) return;
    if (inflow->status != RMA_SUCCESS && !inflow->chunks.over()) {
      inflow->chunks.end();
      if (inflow->question.empty()) {
        tell(its, inflow->rail, kRefuseMessage,
             {.stream = inflow->name.stream,
              .yours = inflow->name.mine ? 0U : 1U,
              .status = static_cast<std::int32_t>(inflow->status)},
             {});
      }
    }
    its.incoming.pop_front();
    finish(its, *inflow);
  }
}

void Assisted::pump_out(Peer& its) {
  std::vector<transport::Local> pieces;
  while (!its.grants.empty() && !its.lost) {
    Peer::Grant& grant = its.grants.front();
    const std::shared_ptr<Outflow> outflow = grant.outflow;
    while (grant.chunks > 0) {
      std::size_t bytes = 0;
      pieces.clear();
      if (outflow->status == RMA_SUCCESS && !outflow->chunks.peek(pieces, bytes)) {
        outflow->status = RMA_ERR_ADDRESS;
        pieces.clear();
        bytes = 0;
      }
      // The last of a grant is never silent.
      const bool silent = grant.chunks % kReportShare != 1;
      const auto gather = its.gathers.emplace(its.gathers.end(), its, outflow, silent);
      gather->self = gather;
      const rma_status_t status =
          channel_.endpoint(outflow->rail)
              .post_gather(its.rank, pieces, gather->cookie(), {.unsignaled = silent});
      if (status != RMA_SUCCESS) {
        its.gathers.erase(gather);
        if (status == RMA_ERR_STATE) {
          stall(its);
        } else {
          channel_.fail(its.rank);
        }
        return;
      }
      ++outflow->posted;
      outflow->chunks.take(bytes);
      --grant.chunks;
    }
    its.grants.pop_front();
  }
}

void Assisted::finish(Peer& its, Inflow& inflow) {
  if (!inflow.chunks.over() || inflow.posted != 0) return;
  if (its.inflows.erase(Name(inflow.name)) == 0) return;  // the peer is lost, and the inflow has ended
  inflow.use.reset();
  if (inflow.name.mine) flights_.end(its.rank, inflow.operation, inflow.status);
}

void Assisted::finish(Peer& its, Outflow& outflow) {
  if (outflow.posted != 0 || (!outflow.chunks.over() && outflow.status == RMA_SUCCESS)) return;
  for (const Peer::Grant& grant : its.grants) {
    if (grant.outflow.get() == &outflow) return;
  }
  if (its.outflows.erase(Name(outflow.name)) == 0) return;
  outflow.use.reset();
  if (outflow.name.mine) flights_.end(its.rank, outflow.operation, outflow.status);
}

void Assisted::Scatter::ended(int rank, rma_status_t status, std::uint32_t bytes) {
  Peer& its = peer;
  // The connection has failed with this request. The rank counts as lost, because other posted work
  // may never complete.
  if (status != RMA_SUCCESS) its.owner.channel_.fail(rank);
  const std::lock_guard guard(its.lock);
  const std::shared_ptr<Inflow> part = inflow;
  --part->posted;
  if (status == RMA_SUCCESS && bytes != expected) status = RMA_ERR_ADDRESS;
  if (part->status == RMA_SUCCESS) part->status = status;
  its.scatters.erase(std::list<Scatter>::iterator(self));  // this destroys the object itself
  its.owner.pump_in(its);
  its.owner.finish(its, *part);
}

void Assisted::Gather::ended(int rank, rma_status_t status, std::uint32_t /*bytes*/) {
  Peer& its = peer;
  if (status != RMA_SUCCESS) its.owner.channel_.fail(rank);
  const std::lock_guard guard(its.lock);
  const std::shared_ptr<Outflow> part = outflow;
  if (part->status == RMA_SUCCESS) part->status = status;
  // Silent gathers before this one have ended without a report: they went well.
  auto first = self;
  while (first != its.gathers.begin() && std::prev(first)->silent) --first;
  const auto last = std::next(self);
  part->posted -= static_cast<std::size_t>(std::distance(first, last));
  its.gathers.erase(first, last);  // and this with them
  its.owner.pump_out(its);
  its.owner.finish(its, *part);
}

}  // namespace rma
