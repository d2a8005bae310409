#include "collectives/agreement.hpp"

#include <new>

#include "collectives/point_to_point_block.hpp"

namespace rma {
namespace {

/// Reads a word that another process writes. The acquire pairs with the release in TeamTransport::put.
std::uint64_t read(std::uint64_t& word) {
  return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_acquire);
}

/// Returns the failure that says more about one team. A member that cannot take part (any code but
/// RMA_ERR_PEER_LOST) fails the agreement for all members, so that failure takes precedence over
/// RMA_ERR_PEER_LOST.
FailureWord worse(const FailureWord& one, const FailureWord& other) {
  if (one.ok() || (one.code == RMA_ERR_PEER_LOST && !other.ok())) return other;
  return one;
}

}  // namespace

Agreement::Outcome Agreement::reach(const TeamKey& key, std::span<const int> ranks, int member,
                                    const Card& mine) {
  const int members = static_cast<int>(ranks.size());
  Outcome outcome = {.failure = FailureWord::of(mine.failure), .id = mine.id, .blocks = {}};
  // Reserves all the memory that is needed here. A member without memory goes on too, to tell the others.
  if (Status status = unless_exhausted([&] {
        outcome.blocks.reserve(2 * static_cast<std::size_t>(PointToPointBlock::distances(members)));
        return Status();
      });
      !status.ok()) {
    outcome.failure = worse(outcome.failure, {.code = status.code(), .rank = rank_});
  }
  // Step k: each member tells the members at a distance of 2^k, in both directions, what it knows so far.
  // After all steps every member knows of every other, as in a dissemination barrier. A member that fails
  // goes on, so that the others learn of it.
  for (int k = 0; k < PointToPointBlock::distances(members); ++k) {
    const int distance = 1 << k;
    const std::array partners = {(member + distance) % members, (member - distance + members) % members};
    const Card known = {.block = mine.block, .failure = outcome.failure.word(), .id = outcome.id};
    const auto note = [&](const Status& status) {
      if (!status.ok()) outcome.failure = worse(outcome.failure, {.code = status.code(), .rank = rank_});
    };
    for (const int partner : partners) note(send(key, known, ranks[static_cast<std::size_t>(partner)]));
    for (const int partner : partners) {
      Card theirs;
      note(receive(key, ranks[static_cast<std::size_t>(partner)], theirs));
      outcome.failure = worse(outcome.failure, FailureWord::of(theirs.failure));
      if (theirs.id != 0) outcome.id = theirs.id;
      if (outcome.blocks.size() < outcome.blocks.capacity())
        outcome.blocks.emplace_back(partner, theirs.block);
    }
  }
  return outcome;
}

template <typename Condition>
Status Agreement::wait(int rank, const Condition& condition) {
  Status status;
  std::uint64_t looks = 0;
  const std::uint64_t soon = transport_.wait_policy().spins + transport_.wait_policy().yields;
  wait_until(
      transport_.doorbell(), transport_.wait_policy(),
      [&] {
        const std::lock_guard guard(lock_);
        take_in();
        if (condition()) return true;
        if (looks++ < soon) return false;  // checks the rank only when this thread sleeps
        status = transport_.check(rank);
        return !status.ok();
      },
      Waker::sometimes);
  return status;
}

Status Agreement::send(const TeamKey& key, const Card& card, int rank) {
  Slot& slot = slots_[static_cast<std::size_t>(rank)];
  Status put;
  Status waited = wait(rank, [&] {
    Counts& counts = counts_[static_cast<std::size_t>(rank)];
    if (read(slot.taken) != counts.sent) return false;
    const auto base = transport_.block(rank);
    if (!base.ok()) {
      put = {base.status().code(), std::string(base.status().text())};
      return true;
    }
    const std::array<std::uint64_t, 5> message = {key.high, key.low, card.block, card.failure, card.id};
    const std::uintptr_t there = base.value() + static_cast<std::size_t>(rank_) * sizeof(Slot);
    put = transport_.put(rank, there + offsetof(Slot, message), message.data(), sizeof message,
                         there + offsetof(Slot, arrived), counts.sent + 1);
    if (put.ok()) ++counts.sent;
    return true;
  });
  return waited.ok() ? std::move(put) : std::move(waited);
}

Status Agreement::receive(const TeamKey& key, int rank, Card& card) {
  return wait(rank, [&] {
    const auto found = arrived_.find({key, rank});
    if (found == arrived_.end()) return take_from_slot(key, rank, card);
    card = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) arrived_.erase(found);
    return true;
  });
}

void Agreement::take_in() {
  bool any = false;
  for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
    Slot& slot = slots_[rank];
    Counts& counts = counts_[rank];
    if (read(slot.arrived) != counts.received + 1) continue;
    const auto& message = slot.message;
    try {
      arrived_[{{.high = message[0], .low = message[1]}, static_cast<int>(rank)}].push_back(
          {.block = message[2], .failure = message[3], .id = message[4]});
    } catch (const std::bad_alloc&) {
      std::erase_if(arrived_, [](const auto& entry) { return entry.second.empty(); });
      continue;  // it stays in its slot until there is memory, or until take_from_slot()
    }
    acknowledge(static_cast<int>(rank));
    any = true;
  }
  if (any) transport_.doorbell().wake();  // other threads may wait for one of the messages
}

bool Agreement::take_from_slot(const TeamKey& key, int rank, Card& card) {
  Slot& slot = slots_[static_cast<std::size_t>(rank)];
  const auto& message = slot.message;
  if (read(slot.arrived) != counts_[static_cast<std::size_t>(rank)].received + 1) return false;
  if (TeamKey{.high = message[0], .low = message[1]} != key) return false;
  card = {.block = message[2], .failure = message[3], .id = message[4]};
  acknowledge(rank);
  return true;
}

void Agreement::acknowledge(int rank) {
  Counts& counts = counts_[static_cast<std::size_t>(rank)];
  ++counts.received;
  // If the sender cannot be told, it sends nothing more, because it waits for `taken`.
  const auto base = transport_.block(rank);
  if (!base.ok()) return;
  const std::uintptr_t there = base.value() + static_cast<std::size_t>(rank_) * sizeof(Slot);
  static_cast<void>(transport_.put(rank, 0, nullptr, 0, there + offsetof(Slot, taken), counts.received).ok());
}

}  // namespace rma
