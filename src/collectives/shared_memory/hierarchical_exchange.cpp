#include "collectives/shared_memory/hierarchical_exchange.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>

#include "collectives/members/blocks.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

constexpr int kLeaderPlace = 0;

/// The root of a reduction whose result all hosts want.
constexpr int kEveryHost = -1;

}  // namespace

Status HierarchicalExchange::run(const rma_collective_t& collective) {
  switch (collective.kind) {
    case RMA_COLLECTIVE_BARRIER:
      return barrier();
    case RMA_COLLECTIVE_BROADCAST:
      return broadcast(collective.dst, collective.bytes, collective.root);
    case RMA_COLLECTIVE_GATHER:
      return gather(collective);
    case RMA_COLLECTIVE_SCATTER:
      return scatter(collective);
    case RMA_COLLECTIVE_ALLGATHER:
      return allgather(collective);
    case RMA_COLLECTIVE_REDUCE:
      return reduce(collective);
    case RMA_COLLECTIVE_ALLREDUCE:
      return allreduce(static_cast<std::byte*>(collective.dst), static_cast<const std::byte*>(collective.src),
                       collective.count, collective.reducer);
    case RMA_COLLECTIVE_REDUCE_SCATTER:
      return reduce_scatter(collective);
    case RMA_COLLECTIVE_SCAN:
      return scan(collective, false);
    case RMA_COLLECTIVE_EXSCAN:
      return scan(collective, true);
    default:
      assert(false);  // EngineTable has no such row
      return {};
  }
}

Status HierarchicalExchange::broadcast_within(std::byte* buffer, std::size_t bytes, int root) {
  if (within_ == nullptr) return {};
  rma_collective_t collective = {};
  collective.kind = RMA_COLLECTIVE_BROADCAST;
  collective.root = root;
  collective.dst = buffer;
  collective.bytes = bytes;
  bool done = false;
  Status status = within_->run(collective, done);
  for (std::size_t begin = 0; status.ok() && !done && begin < bytes; begin += TeamBlock::kPieceBytes) {
    bool piece_done = false;
    collective.dst = buffer + begin;
    collective.bytes = std::min(TeamBlock::kPieceBytes, bytes - begin);
    status = within_->run(collective, piece_done);
  }
  return status;
}

Status HierarchicalExchange::reduce_within(std::byte* dst, const std::byte* src, std::size_t count,
                                           const rma_reducer_t& reducer) {
  if (within_ == nullptr) {
    if (dst != src && count != 0) std::memcpy(dst, src, count * reducer.element_bytes);
    return {};
  }
  rma_collective_t collective = {};
  collective.kind = RMA_COLLECTIVE_REDUCE;
  collective.root = kLeaderPlace;
  collective.dst = leads() ? dst : nullptr;
  collective.src = src;
  collective.count = count;
  collective.reducer = reducer;
  bool done = false;
  Status status = within_->run(collective, done);
  const std::size_t most = TeamBlock::kPieceBytes / reducer.element_bytes;
  for (std::size_t begin = 0; status.ok() && !done && begin < count; begin += most) {
    bool piece_done = false;
    collective.dst = leads() ? dst + begin * reducer.element_bytes : nullptr;
    collective.src = src + begin * reducer.element_bytes;
    collective.count = std::min(most, count - begin);
    status = within_->run(collective, piece_done);
  }
  return status;
}

Status HierarchicalExchange::gather_within(std::byte* dst, const std::byte* src, std::size_t bytes) {
  if (within_ == nullptr) {
    if (dst != src && bytes != 0) std::memcpy(dst, src, bytes);
    return {};
  }
  rma_collective_t collective = {};
  collective.kind = RMA_COLLECTIVE_GATHER;
  collective.root = kLeaderPlace;
  collective.dst = dst;
  collective.src = src;
  collective.bytes = bytes;
  bool done = false;
  Status status = within_->run(collective, done);
  collective.uneven = 1;
  collective.dst_blocks = places_.data();
  for (std::size_t begin = 0; status.ok() && !done && begin < bytes; begin += TeamBlock::kPieceBytes) {
    bool piece_done = false;
    collective.src = src + begin;
    collective.bytes = std::min(TeamBlock::kPieceBytes, bytes - begin);
    for (std::size_t place = 0; place < static_cast<std::size_t>(hosts_.size_of(host_)); ++place) {
      places_[place] = {.address = dst + place * bytes + begin, .bytes = collective.bytes};
    }
    status = within_->run(collective, piece_done);
  }
  return status;
}

Status HierarchicalExchange::reduce_between(std::byte* data, std::size_t count, const rma_reducer_t& reducer,
                                            int to) {
  rma_collective_t collective = {};
  collective.kind = to == kEveryHost ? RMA_COLLECTIVE_ALLREDUCE : RMA_COLLECTIVE_REDUCE;
  collective.root = to;
  collective.dst = data;
  collective.src = data;
  collective.count = count;
  collective.reducer = reducer;
  return between_->run(collective);
}

Status HierarchicalExchange::allgather_between(std::byte* all, const std::byte* src, std::size_t bytes) {
  rma_collective_t collective = {};
  collective.kind = RMA_COLLECTIVE_ALLGATHER;
  collective.dst = all;
  collective.src = src;
  collective.bytes = bytes;
  return between_->run(collective);
}

Status HierarchicalExchange::barrier() {
  if (within_ != nullptr) {
    RMA_TRY(within_->barrier());
  }
  if (leads()) {
    RMA_TRY(between_->run({}));
  }
  return within_ != nullptr ? within_->barrier() : Status();
}

Status HierarchicalExchange::broadcast(void* buffer, std::size_t bytes, int root) {
  auto* const data = static_cast<std::byte*>(buffer);
  const int from = hosts_.host_of(root);
  const int root_place = hosts_.place_of(root);
  const bool to_leader = host_ == from && root_place != kLeaderPlace;
  if (to_leader) {
    RMA_TRY(broadcast_within(data, bytes, root_place));
  }
  if (leads()) {
    rma_collective_t collective = {};
    collective.kind = RMA_COLLECTIVE_BROADCAST;
    collective.root = from;
    collective.dst = data;
    collective.bytes = bytes;
    RMA_TRY(between_->run(collective));
  }
  return to_leader ? Status() : broadcast_within(data, bytes, kLeaderPlace);
}

Status HierarchicalExchange::reduce(const rma_collective_t& collective) {
  const rma_reducer_t& reducer = collective.reducer;
  const bool is_root = member_ == collective.root;
  const int to = hosts_.host_of(collective.root);
  const bool from_leader = host_ == to && hosts_.place_of(collective.root) != kLeaderPlace;
  const std::size_t most = kScratch / reducer.element_bytes;
  for (std::size_t first = 0; first < collective.count; first += most) {
    const std::size_t count = std::min(most, collective.count - first);
    const std::size_t begin = first * reducer.element_bytes;
    const auto* const src = static_cast<const std::byte*>(collective.src) + begin;
    std::byte* const sum = is_root ? static_cast<std::byte*>(collective.dst) + begin : scratch_;
    RMA_TRY(reduce_within(sum, src, count, reducer));
    if (leads()) {
      RMA_TRY(reduce_between(sum, count, reducer, to));
    }
    if (!from_leader) continue;
    RMA_TRY(broadcast_within(sum, count * reducer.element_bytes, kLeaderPlace));
  }
  return {};
}

Status HierarchicalExchange::allreduce(std::byte* dst, const std::byte* src, std::size_t count,
                                       const rma_reducer_t& reducer) {
  RMA_TRY(reduce_within(dst, src, count, reducer));
  if (leads()) {
    RMA_TRY(reduce_between(dst, count, reducer, kEveryHost));
  }
  return broadcast_within(dst, count * reducer.element_bytes, kLeaderPlace);
}

Status HierarchicalExchange::gather_at_leaders(std::byte* all, const std::byte* src, std::size_t bytes) {
  const auto place_of = [&](int host) { return static_cast<std::size_t>(hosts_.before(host)) * bytes; };
  std::byte* const ours = all + place_of(host_);
  RMA_TRY(gather_within(ours, src, bytes));
  if (!leads()) return {};
  if (hosts_.even()) {
    return allgather_between(all, ours, static_cast<std::size_t>(hosts_.size_of(host_)) * bytes);
  }
  for (int host = 0; host <= hosts_.hosts(); ++host) {
    offsets_[static_cast<std::size_t>(host)] = place_of(host);
  }
  return between_->allgather_blocks(all, offsets_);
}

void HierarchicalExchange::in_team_order(std::byte* dst, const std::byte* all, std::size_t bytes) const {
  if (bytes == 0) return;
  for (const int member : hosts_.order()) {
    std::memcpy(dst + static_cast<std::size_t>(member) * bytes, all, bytes);
    all += bytes;
  }
}

Status HierarchicalExchange::allgather(const rma_collective_t& collective) {
  auto* const dst = static_cast<std::byte*>(collective.dst);
  std::byte* const all = hosts_.consecutive() ? dst : scratch_;
  const std::size_t bytes = collective.bytes;
  Status status = gather_at_leaders(all, static_cast<const std::byte*>(collective.src), bytes);
  if (status.ok()) status = broadcast_within(all, members() * bytes, kLeaderPlace);
  if (status.ok() && all != dst) in_team_order(dst, all, bytes);
  return status;
}

Status HierarchicalExchange::gather(const rma_collective_t& collective) {
  const std::size_t bytes = collective.bytes;
  const int root = collective.root;
  Status status = gather_at_leaders(scratch_, static_cast<const std::byte*>(collective.src), bytes);
  if (status.ok() && host_ == hosts_.host_of(root) && hosts_.place_of(root) != kLeaderPlace) {
    status = broadcast_within(scratch_, members() * bytes, kLeaderPlace);
  }
  if (status.ok() && member_ == root) in_team_order(static_cast<std::byte*>(collective.dst), scratch_, bytes);
  return status;
}

Status HierarchicalExchange::scatter(const rma_collective_t& collective) {
  // All members get all blocks, which are few bytes. The root's source is only read.
  const std::size_t bytes = collective.bytes;
  auto* const all = member_ == collective.root
                        ? const_cast<std::byte*>(static_cast<const std::byte*>(collective.src))
                        : scratch_;
  Status status = broadcast(all, members() * bytes, collective.root);
  const std::byte* const mine = all + static_cast<std::size_t>(member_) * bytes;
  if (status.ok() && bytes != 0 && collective.dst != mine) std::memcpy(collective.dst, mine, bytes);
  return status;
}

Status HierarchicalExchange::reduce_scatter(const rma_collective_t& collective) {
  const std::size_t size = collective.reducer.element_bytes;
  const auto me = static_cast<std::size_t>(member_);
  Status status = allreduce(scratch_, static_cast<const std::byte*>(collective.src),
                            scattered_elements(collective, members()), collective.reducer);
  const std::size_t count = collective.counts != nullptr ? collective.counts[me] : collective.count;
  if (status.ok() && count != 0) {
    std::memcpy(collective.dst, scratch_ + scattered_elements(collective, me) * size, count * size);
  }
  return status;
}

Status HierarchicalExchange::scan(const rma_collective_t& collective, bool exclusive) {
  const rma_reducer_t& reducer = collective.reducer;
  const std::size_t bytes = collective.count * reducer.element_bytes;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const dst = static_cast<std::byte*>(collective.dst);
  if (bytes == 0) return {};
  const std::size_t distance = stride(bytes);
  const auto total_of = [&](int host) { return scratch_ + static_cast<std::size_t>(host) * distance; };
  // The source may be the destination of the scan, so it is reduced first.
  RMA_TRY(reduce_within(total_of(host_), src, collective.count, reducer));
  if (leads()) {
    RMA_TRY(allgather_between(scratch_, total_of(host_), distance));
  }
  if (within_ != nullptr) {
    bool done = false;
    RMA_TRY(within_->run(collective, done));
  } else if (!exclusive && dst != src) {
    std::memcpy(dst, src, bytes);
  }
  if (host_ == 0) return {};
  std::byte* const before = total_of(hosts_.hosts());
  if (leads()) {
    std::memcpy(before, total_of(host_ - 1), bytes);
    for (int host = host_ - 2; host >= 0; --host) {
      reducer.combine(total_of(host), before, collective.count, reducer.context);
    }
  }
  RMA_TRY(broadcast_within(before, bytes, kLeaderPlace));
  if (exclusive && leads()) {
    std::memcpy(dst, before, bytes);
  } else {
    reducer.combine(before, dst, collective.count, reducer.context);
  }
  return {};
}

}  // namespace librma
