#include "collectives/rdma/rdma_allgather.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <span>
#include <utility>

#include "util/statistics.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

using Way = AllgatherSteps::Way;

/// Returns the distance of an address from the beginning of some memory. It is larger than any memory if the
/// address lies before that.
std::size_t offset_from(const void* base, const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base);
}

/// Returns the place of the element at or around an address in a list; a place that is not in the list if the
/// address is elsewhere.
template <typename List>
std::size_t place_in(const List& list, const std::byte* address) {
  return offset_from(list.data(), address) / sizeof(typename List::value_type);
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
    opened_ = ring || steps.first_longer(limits_.copy_bytes, bytes) != steps.number();
    status = unless_exhausted([&] {
      if (opened_) port_.open_result(dst, members * bytes);
      return gather(dst, bytes, steps);
    });
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
  const PutAllgather call = {.steps = steps,
                             .copied = steps.first_longer(limits_.copy_bytes, bytes),
                             .block = &port_.block(),
                             .call = call_,
                             .dst = dst,
                             .bytes = bytes};
  const bool zero_copy = call.copied < steps.number();
  if (zero_copy) {
    count(Counter::allgather_zero_copy);
    if (steps.way() == Way::ring) count(Counter::allgather_ring);
    make_cards(call);
  }
  dst_ = dst;
  put_count_ = 0;
  Plan plan(port_.member(), port_.members(), this);
  plan_allgather_puts(plan, call);
  RMA_TRY(std::exchange(status_, {}));
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

void RdmaAllgather::make_cards(const PutAllgather& call) {
  for (std::size_t k = call.copied; k < call.announced_end(); ++k) {
    part().announcing[call.slot(k)] = {.card = port_.card(call.steps.step(k).from), .call = call_};
  }
}

// ---- The steps of the plan --------------------------------------------------------------------------------

void RdmaAllgather::execute(const PlanStep& step) {
  if (!status_.ok()) return;
  switch (step.kind) {
    case PlanStep::Kind::put:
      assert(put_count_ < kRanges);
      puts_[put_count_++] = step;
      return;
    case PlanStep::Kind::flag:
      status_ = raise(step);
      put_count_ = 0;
      return;
    case PlanStep::Kind::await_flag:
      status_ = await_flag(step);
      return;
    case PlanStep::Kind::receive:
      status_ = receive(step);
      return;
    case PlanStep::Kind::wait:
      status_ = finish_messages();
      return;
    case PlanStep::Kind::copy:
      std::memcpy(step.to, step.from, step.bytes);
      return;
    case PlanStep::Kind::send:
    case PlanStep::Kind::reduce:
    case PlanStep::Kind::compare:
      return;  // in no plan of plan_allgather_puts()
  }
}

std::span<const AllgatherPort::Piece> RdmaAllgather::pieces(const void* base, Pieces& made) const {
  for (std::size_t i = 0; i < put_count_; ++i) {
    const PlanStep& put = puts_[i];
    made[i] = {.from = put.from, .to = offset_from(base, put.to), .bytes = put.bytes};
  }
  return std::span(made).first(put_count_);
}

Status RdmaAllgather::raise(const PlanStep& flag) {
  AllgatherBlock& block = port_.block();
  if (const std::size_t slot = place_in(part().announced, flag.to); slot < AllgatherBlock::kSlots)
    return announce(flag, slot);
  // A ring has more steps than there are words: a word is used again when its write is complete.
  const std::size_t source = AllgatherBlock::step_of(flag.bytes) % AllgatherBlock::kSlots;
  if (offset_from(&block, puts_.front().to) >= sizeof block)
    return raise_result(flag, place_in(block.arrived, flag.to), source);
  part().outgoing[source] = flag.bytes;
  Pieces made;
  return port_.write_block(flag.member, pieces(&block, made),
                           {.from = &part().outgoing[source], .to = offset_from(&block, flag.to)},
                           &writes()[source]);
}

Status RdmaAllgather::announce(const PlanStep& flag, std::size_t slot) {
  const AllgatherBlock& block = port_.block();
  const AllgatherBlock::Announcement& mine = part().announcing[slot];
  if (mine.card.usable != 0) awaited_[slot] = flag.member;
  Pieces made;
  // An announcement is a write of its own, beside that of the step's data.
  return port_.write_block(flag.member, pieces(&block, made),
                           {.from = &mine.call, .to = offset_from(&block, flag.to)},
                           &announcements_[part_number(call_)][slot]);
}

Status RdmaAllgather::raise_result(const PlanStep& flag, std::size_t slot, std::size_t source) {
  AllgatherBlock& block = port_.block();
  const ResultCard card = part().announced[slot].card;
  if (card.usable == 0) {
    for (const PlanStep& put : std::span(puts_).first(put_count_)) {
      RMA_TRY(port_.send(flag.member, {put.from, put.bytes}, &messages_[message_count_++]));
    }
    return {};
  }
  // In a ring the gate stays at kWriting from the first step to the end of the call. Acquire and release pair
  // with withdraw() of the receiver, which makes the same change from kIdle or finds kWriting.
  std::uint32_t before = AllgatherBlock::kIdle;
  std::atomic_ref gate(block.gates[slot]);
  if (!gate.compare_exchange_strong(before, AllgatherBlock::kWriting, std::memory_order_acq_rel) &&
      before == AllgatherBlock::kWithdrawn) {
    return port_.failure();
  }
  rma_request_t& request = writes()[source];
  if (request != RMA_REQUEST_NULL) {  // of an earlier step of a long ring
    RMA_TRY(port_.finish(request));
  }
  part().outgoing[source] = flag.bytes;
  Pieces made;
  return port_.write_result(flag.member, card, pieces(dst_, made),
                            {.from = &part().outgoing[source], .to = offset_from(&block, flag.to)}, &request);
}

Status RdmaAllgather::await_flag(const PlanStep& flag) {
  RMA_TRY(port_.wait(flag.member, *reinterpret_cast<const std::uint64_t*>(flag.from), flag.bytes));
  const std::size_t slot = place_in(port_.block().arrived, flag.from);
  if (slot >= AllgatherBlock::kSlots) return {};
  const bool more = slot == AllgatherBlock::kRing &&
                    AllgatherBlock::step_of(flag.bytes) + 2 < static_cast<std::size_t>(port_.members());
  if (!more) awaited_[slot] = kNobody;
  return {};
}

Status RdmaAllgather::receive(const PlanStep& step) {
  if (message_count_ == 0) count(Counter::allgather_refused);
  return port_.receive(step.member, {step.to, step.bytes}, &messages_[message_count_++]);
}

Status RdmaAllgather::finish_messages() {
  Status first;
  const std::size_t messages = std::exchange(message_count_, 0);
  for (std::size_t i = 0; i < messages; ++i) {
    if (messages_[i] == RMA_REQUEST_NULL) continue;
    if (Status status = port_.finish(messages_[i]); first.ok()) first = std::move(status);
  }
  return first;
}

void RdmaAllgather::give_up() {
  failed_ = true;
  // The others are told first, so that they do not wait for this member while it waits for its writes to
  // them.
  port_.fail();
  for (rma_request_t& message : std::span(messages_).first(std::exchange(message_count_, 0))) {
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
    while (port_.withdraw(awaited_[at], offset_from(&port_.block(), &port_.block().gates[at])) ==
           AllgatherBlock::kWriting) {
      // Its writes are under way. It is in the call, and will end them or find that the team has failed.
    }
  }
}

void RdmaAllgather::settle() {
  for (Writes& each : writes_) static_cast<void>(finish_all(each).ok());
  for (Writes& each : announcements_) static_cast<void>(finish_all(each).ok());
}

}  // namespace librma
