#include "collectives/rdma/rdma_allgather.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <utility>

#include "util/statistics.hpp"
#include "util/try.hpp"

namespace rma {
namespace {

using Way = AllgatherSteps::Way;

/// Returns the offset of a member of the block.
template <typename Member>
std::size_t offset_in(const AllgatherBlock& block, const Member& member) {
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&member) -
                                  reinterpret_cast<const std::byte*>(&block));
}

}  // namespace

Status RdmaAllgather::run(std::byte* dst, const std::byte* src, std::size_t bytes) {
  awaited_.fill(kNobody);
  Status status = port_.usable();
  if (status.ok()) {
    const auto members = static_cast<std::size_t>(port_.members());
    const bool ring = bytes >= limits_.ring_bytes && port_.members() >= limits_.ring_members;
    std::byte* const own = dst + static_cast<std::size_t>(port_.member()) * bytes;
    if (own != src) std::memcpy(own, src, bytes);
    const AllgatherSteps steps(port_.member(), port_.members(), ring);
    if (!ring && steps.first_longer(limits_.copy_bytes, bytes) == steps.number()) {
      status = gather(dst, bytes, steps);
    } else {
      opened_ = true;
      port_.open_result(dst, members * bytes);
      status = gather(dst, bytes, steps);
    }
  }
  if (!status.ok()) give_up();
  if (std::exchange(opened_, false)) port_.close_result();
  return status;
}

Status RdmaAllgather::gather(std::byte* dst, std::size_t bytes, const AllgatherSteps& steps) {
  count(Counter::allgather_rdma);
  ++call_;
  // The writes of call n - 2: see step 3 of the proof.
  RMA_TRY(finish_all(writes_[part_number(call_ + 1)]));
  RMA_TRY(finish_all(announcements_[part_number(call_ + 1)]));
  const std::size_t copied = steps.first_longer(limits_.copy_bytes, bytes);
  const bool zero_copy = copied < steps.number();
  if (zero_copy) {
    count(Counter::allgather_zero_copy);
    if (steps.way() == Way::ring) count(Counter::allgather_ring);
    RMA_TRY(announce(steps, copied));
  }
  if (copied > 0) {
    const auto me = static_cast<std::size_t>(port_.member());
    std::memcpy(part().buffer.data() + steps.place(me, copied) * bytes, dst + me * bytes, bytes);
  }
  for (std::size_t k = 0; k < steps.number(); ++k) {
    Status status =
        k < copied ? copy_step(steps, k, copied, dst, bytes) : zero_copy_step(steps, k, dst, bytes);
    if (!status.ok()) return status;
  }
  if (!zero_copy) return {};
  // The result is the caller's again when this call returns, so nothing may still be read from it.
  RMA_TRY(finish_all(writes()));
  for (std::uint32_t& gate : port_.block().gates) {
    // Release: the writes are complete. Pairs with withdraw() of the receiver. After kWithdrawn the team has
    // failed.
    std::uint32_t writing = AllgatherBlock::kWriting;
    std::atomic_ref(gate).compare_exchange_strong(writing, AllgatherBlock::kIdle, std::memory_order_acq_rel);
  }
  return {};
}

Status RdmaAllgather::finish_all(Writes& writes) {
  Status first;
  for (rma_request_t& request : writes) {
    if (request == RMA_REQUEST_NULL) continue;
    if (Status status = port_.finish(request); first.ok()) first = std::move(status);
  }
  return first;
}

Status RdmaAllgather::announce(const AllgatherSteps& steps, std::size_t first) {
  const AllgatherBlock& block = port_.block();
  const std::size_t last = steps.way() == Way::ring ? first + 1 : steps.number();
  for (std::size_t k = first; k < last; ++k) {
    const int sender = steps.step(k).from;
    const std::size_t to = slot(steps, k);
    AllgatherBlock::Announcement& mine = part().announcing[to];
    const AllgatherBlock::Announcement& theirs = part().announced[to];
    mine = {.card = port_.card(sender), .call = call_};
    if (mine.card.usable != 0) awaited_[to] = sender;
    const AllgatherPort::Piece piece = {.from = reinterpret_cast<const std::byte*>(&mine.card),
                                        .to = offset_in(block, theirs.card),
                                        .bytes = sizeof mine.card};
    // An announcement is a write of its own, beside that of the step's data.
    rma_request_t& request = announcements_[part_number(call_)][to];
    Status status = port_.write_block(sender, {&piece, 1},
                                      {.from = &mine.call, .to = offset_in(block, theirs.call)}, &request);
    if (!status.ok()) return status;
  }
  return {};
}

Status RdmaAllgather::copy_step(const AllgatherSteps& steps, std::size_t k, std::size_t copied,
                                std::byte* dst, std::size_t bytes) {
  const AllgatherStep step = steps.step(k);
  AllgatherBlock& block = port_.block();
  std::byte* const buffer = part().buffer.data();
  const AllgatherPort::Piece piece = {
      .from = buffer + steps.place(step.out_first, copied) * bytes,
      .to = offset_in(block, part().buffer) + steps.landing(k, copied) * bytes,
      .bytes = step.count * bytes};
  part().outgoing[k] = value(k);
  Status status = port_.write_block(step.to, {&piece, 1},
                                    {.from = &part().outgoing[k], .to = offset_in(block, block.arrived[k])},
                                    &writes()[k]);
  if (!status.ok()) return status;
  if (status = port_.wait(step.from, block.arrived[k], value(k)); !status.ok()) return status;
  const std::byte* from = buffer + steps.place(step.in_first, copied) * bytes;
  const auto all = static_cast<std::size_t>(port_.members());
  const BlockRanges ranges(step.in_first, step.count, all, bytes);
  for (const auto& range : ranges.all()) {
    std::memcpy(dst + range.offset, from, range.bytes);
    from += range.bytes;
  }
  return {};
}

Status RdmaAllgather::zero_copy_step(const AllgatherSteps& steps, std::size_t k, std::byte* dst,
                                     std::size_t bytes) {
  // Receives are posted before this member waits for anybody.
  const AllgatherStep step = steps.step(k);
  const bool refused = port_.card(step.from).usable == 0;
  const auto all = static_cast<std::size_t>(port_.members());
  if (refused) {
    count(Counter::allgather_refused);
    std::size_t number = 0;
    const BlockRanges ranges(step.in_first, step.count, all, bytes);
    for (const auto& range : ranges.all()) {
      Status status = port_.receive(step.from, {dst + range.offset, range.bytes}, &messages_[number++]);
      if (!status.ok()) return status;
    }
  }
  RMA_TRY(send_step(steps, k, dst, bytes));
  if (!refused) {
    const std::size_t from = slot(steps, k);
    Status status = port_.wait(step.from, port_.block().arrived[from], value(k));
    if (!status.ok()) return status;
    if (k + 1 == steps.number() || steps.way() != Way::ring) awaited_[from] = kNobody;
  }
  Status first;
  for (rma_request_t& message : messages_) {
    if (message == RMA_REQUEST_NULL) continue;
    if (Status status = port_.finish(message); first.ok()) first = std::move(status);
  }
  return first;
}

Status RdmaAllgather::send_step(const AllgatherSteps& steps, std::size_t k, const std::byte* dst,
                                std::size_t bytes) {
  const AllgatherStep step = steps.step(k);
  AllgatherBlock& block = port_.block();
  const std::size_t to = slot(steps, k);
  const AllgatherBlock::Announcement& theirs = part().announced[to];
  RMA_TRY(port_.wait(step.to, theirs.call, call_));
  const ResultCard card = theirs.card;
  const BlockRanges ranges(step.out_first, step.count, static_cast<std::size_t>(port_.members()), bytes);
  if (card.usable == 0) {
    std::size_t number = kRanges;
    for (const auto& range : ranges.all()) {
      Status status = port_.send(step.to, {dst + range.offset, range.bytes}, &messages_[number++]);
      if (!status.ok()) return status;
    }
    return {};
  }
  // In a ring the gate stays at kWriting from the first step to the end of the call. Acquire and release pair
  // with withdraw() of the receiver, which makes the same change from kIdle or finds kWriting.
  std::uint32_t before = AllgatherBlock::kIdle;
  std::atomic_ref gate(block.gates[to]);
  if (!gate.compare_exchange_strong(before, AllgatherBlock::kWriting, std::memory_order_acq_rel) &&
      before == AllgatherBlock::kWithdrawn) {
    return port_.failure();
  }
  std::array<AllgatherPort::Piece, kRanges> pieces;
  std::size_t used = 0;
  for (const auto& range : ranges.all()) {
    pieces[used++] = {.from = dst + range.offset, .to = range.offset, .bytes = range.bytes};
  }
  const std::size_t source = k % AllgatherBlock::kSlots;
  rma_request_t& request = writes()[source];
  if (request != RMA_REQUEST_NULL) {  // of an earlier step of a long ring
    RMA_TRY(port_.finish(request));
  }
  part().outgoing[source] = value(k);
  return port_.write_result(step.to, card, std::span(pieces).first(used),
                            {.from = &part().outgoing[source], .to = offset_in(block, block.arrived[to])},
                            &request);
}

void RdmaAllgather::give_up() {
  failed_ = true;
  // The others are told first, so that they do not wait for this member while it waits for its writes to
  // them.
  port_.fail();
  for (rma_request_t& message : messages_) {
    if (message == RMA_REQUEST_NULL) continue;
    port_.cancel(message);
    static_cast<void>(port_.finish(message).ok());
  }
  settle();
  for (std::uint32_t& gate : port_.block().gates) {
    std::uint32_t writing = AllgatherBlock::kWriting;
    std::atomic_ref(gate).compare_exchange_strong(writing, AllgatherBlock::kIdle, std::memory_order_acq_rel);
  }
  for (std::size_t at = 0; at < AllgatherBlock::kSlots; ++at) {
    if (awaited_[at] == kNobody) continue;
    while (port_.withdraw(awaited_[at], offset_in(port_.block(), port_.block().gates[at])) ==
           AllgatherBlock::kWriting) {
      // Its writes are under way. It is in the call, and will end them or find that the team has failed.
    }
  }
}

void RdmaAllgather::settle() {
  for (Writes& each : writes_) static_cast<void>(finish_all(each).ok());
  for (Writes& each : announcements_) static_cast<void>(finish_all(each).ok());
}

}  // namespace rma
