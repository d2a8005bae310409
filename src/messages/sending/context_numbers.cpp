#include "messages/sending/context_numbers.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "util/statistics.hpp"
#include "util/take_head.hpp"

namespace librma {
namespace {

/// The numbers of MPI_COMM_WORLD and of the messages between processes without a communicator in common. They
/// are the first of rank 0.
constexpr int kReserved = 2;

/// The members of one job flush so often that at most a quarter of an owner's numbers waits for that: each
/// member keeps back fewer than this many.
std::uint32_t most_waiting(const NumberPool& pool, int ranks) {
  return std::clamp<std::uint32_t>(pool.size() / (4 * static_cast<std::uint32_t>(ranks)), 1,
                                   ContextNumbers::kMostWaiting);
}

NumbersHead head_of(NumbersHead::Step step) {
  return {.step = step, .count = 0, .members = 0, .numbers = {}};
}

void append(NumbersHead& head, std::uint32_t number) { head.numbers[head.count++] = number; }

bool full(const NumbersHead& head) { return head.count == head.numbers.size(); }

std::span<const std::uint32_t> numbers_of(const NumbersHead& head) {
  return std::span(head.numbers).first(head.count);
}

}  // namespace

ContextNumbers::ContextNumbers(int rank, int ranks, ContextTable& contexts, Outbox& outbox, Discard discard)
    : rank_(rank),
      contexts_(contexts),
      outbox_(outbox),
      discard_(std::move(discard)),
      pool_(0, rank, ranks),
      most_waiting_(most_waiting(pool_, ranks)),
      to_flush_(static_cast<std::size_t>(ranks)) {
  for (int i = 0; rank == 0 && i < kReserved; ++i) static_cast<void>(pool_.draw());
}

std::optional<std::uint32_t> ContextNumbers::draw() {
  const std::uint32_t before = pool_.drawn();
  std::optional<std::uint32_t> number = pool_.draw();
  if (pool_.drawn() != before) count(Counter::context_numbers);
  return number;
}

bool ContextNumbers::retire(std::uint32_t number) {
  for (const std::uint32_t each : contexts_of(number)) {
    MessageContext* const context = contexts_.find(each);
    if (context != nullptr && !context->held()) discard_(*context, each);
  }
  return contexts_.retire(number);
}

void ContextNumbers::give_back(std::uint32_t number, std::span<const int> ranks) {
  if (!retire(number)) {
    const std::lock_guard guard(lock_);
    in_use_.push_back({.number = number, .ranks = {ranks.begin(), ranks.end()}});
  } else if (add(number, ranks)) {
    flush();
  }
}

bool ContextNumbers::add(std::uint32_t number, std::span<const int> ranks) {
  // The path to the owner is made here, because threads that take in answers cannot wait for it.
  const int owner = owner_of(number);
  if (std::ranges::any_of(ranks, [this](int rank) { return outbox_.lost(rank); }) ||
      (owner != rank_ && !outbox_.ready(owner).ok())) {
    return false;
  }
  const std::lock_guard guard(lock_);
  waiting_.push_back({.number = number, .members = static_cast<std::uint32_t>(ranks.size())});
  for (const int rank : ranks) to_flush_[static_cast<std::size_t>(rank)] = true;
  return waiting_.size() >= most_waiting_;
}

void ContextNumbers::try_again() {
  std::vector<InUse> ones;
  {
    const std::lock_guard guard(lock_);
    ones.swap(in_use_);
  }
  std::erase_if(ones, [this](const InUse& use) {
    if (!retire(use.number)) return false;
    static_cast<void>(add(use.number, use.ranks));
    return true;
  });
  const std::lock_guard guard(lock_);
  in_use_.insert(in_use_.end(), ones.begin(), ones.end());
}

void ContextNumbers::flush() {
  if (stopped_.load(std::memory_order_acquire)) return;
  try_again();
  std::vector<GivenBack> numbers;
  std::vector<int> ranks;
  {
    const std::lock_guard guard(lock_);
    for (std::size_t rank = 0; rank < to_flush_.size(); ++rank) {
      if (to_flush_[rank]) ranks.push_back(static_cast<int>(rank));
    }
    std::fill(to_flush_.begin(), to_flush_.end(), false);
    numbers.swap(waiting_);
  }
  std::erase_if(ranks, [this](int rank) { return !outbox_.has_path(rank); });
  if (ranks.empty()) return report(std::move(numbers));
  NumbersHead head = head_of(NumbersHead::Step::flush);
  {
    const std::lock_guard guard(lock_);
    append(head, next_flush_);
    flushes_.emplace(next_flush_++, Flush{.numbers = std::move(numbers), .awaited = ranks});
  }
  for (const int rank : ranks) {
    // lose() may have come before this flush was known.
    if (outbox_.lost(rank)) return lose(rank);
  }
  for (const int rank : ranks) send_on_path(rank, head);
}

void ContextNumbers::report(std::vector<GivenBack> numbers) {
  std::ranges::sort(numbers, {}, [this](const GivenBack& back) {
    return std::tuple(owner_of(back.number), back.members, back.number);
  });
  NumbersHead head = head_of(NumbersHead::Step::returned);
  int owner = -1;
  for (const GivenBack& back : numbers) {
    if (head.count != 0 && (owner != owner_of(back.number) || head.members != back.members || full(head))) {
      send(owner, head);
      head.count = 0;
    }
    owner = owner_of(back.number);
    head.members = back.members;
    append(head, back.number);
  }
  if (head.count != 0) send(owner, head);
}

void ContextNumbers::send_on_path(int rank, const NumbersHead& head) {
  if (!stopped_.load(std::memory_order_acquire)) outbox_.control(rank, MessageType::numbers, head);
}

void ContextNumbers::send(int rank, const NumbersHead& head) {
  if (rank != rank_) return send_on_path(rank, head);
  static_cast<void>(take_in(rank_, head));
}

void ContextNumbers::lose(int rank) {
  const std::lock_guard guard(lock_);
  std::erase_if(flushes_, [rank](const auto& each) {
    const std::vector<int>& awaited = each.second.awaited;
    return std::ranges::find(awaited, rank) != awaited.end();
  });
}

bool ContextNumbers::take_in(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<NumbersHead>(body);
  if (!head || !body.empty() || head->count == 0 || head->count > head->numbers.size()) return false;
  const auto numbers = numbers_of(*head);
  if (std::ranges::adjacent_find(numbers, std::ranges::greater_equal()) != numbers.end()) return false;
  return stopped_.load(std::memory_order_acquire) || take_in(arrival.source, *head);
}

bool ContextNumbers::take_in(int source, const NumbersHead& head) {
  switch (head.step) {
    case NumbersHead::Step::flush: {
      NumbersHead answer = head;
      answer.step = NumbersHead::Step::flushed;
      send(source, answer);
      return true;
    }
    case NumbersHead::Step::flushed:
      take_in_flushed(source, head.numbers.front());
      return true;
    case NumbersHead::Step::returned:
      return take_in_returned(source, head);
    case NumbersHead::Step::renew:
      return take_in_renew(source, head);
    case NumbersHead::Step::renewed:
      return take_in_renewed(source, head);
  }
  return false;
}

void ContextNumbers::take_in_flushed(int source, std::uint32_t flush) {
  std::vector<GivenBack> numbers;
  {
    const std::lock_guard guard(lock_);
    const auto found = flushes_.find(flush);
    if (found == flushes_.end()) return;  // it waited for a rank that was lost meanwhile
    std::erase(found->second.awaited, source);
    if (!found->second.awaited.empty()) return;
    numbers = std::move(found->second.numbers);
    flushes_.erase(found);
  }
  report(std::move(numbers));
}

// A message for which there was no memory comes again, so it may repeat what it said.
bool ContextNumbers::take_in_returned(int source, const NumbersHead& head) {
  if (head.members == 0 || head.members > to_flush_.size()) return false;
  std::map<int, NumbersHead> orders;
  {
    const std::lock_guard guard(lock_);
    for (const std::uint32_t number : numbers_of(head)) {
      if (!pool_.has_drawn(number)) return false;
      Returning& returning = returning_[number];
      if (returning.members == 0) returning.ranks.reserve(head.members);
      if (returning.renewing || (returning.members != 0 && returning.members != head.members)) return false;
      returning.members = head.members;
      if (std::ranges::find(returning.ranks, source) == returning.ranks.end())
        returning.ranks.push_back(source);
    }
    const auto all_returned = [](const Returning& returning) {
      return returning.ranks.size() == returning.members;
    };
    for (const std::uint32_t number : numbers_of(head)) {
      const Returning& returning = returning_[number];
      if (!all_returned(returning)) continue;
      for (const int rank : returning.ranks) {
        append(orders.try_emplace(rank, head_of(NumbersHead::Step::renew)).first->second, number);
      }
    }
    for (const std::uint32_t number : numbers_of(head)) {
      Returning& returning = returning_[number];
      returning.renewing = all_returned(returning);
    }
  }
  for (const auto& [rank, order] : orders) send(rank, order);
  return true;
}

bool ContextNumbers::take_in_renew(int source, const NumbersHead& head) {
  for (const std::uint32_t number : numbers_of(head)) {
    if (owner_of(number) != source || !contexts_.renew(number)) return false;
  }
  NumbersHead answer = head;
  answer.step = NumbersHead::Step::renewed;
  send(source, answer);
  return true;
}

bool ContextNumbers::take_in_renewed(int source, const NumbersHead& head) {
  const std::lock_guard guard(lock_);
  for (const std::uint32_t number : numbers_of(head)) {
    const auto found = returning_.find(number);
    if (found == returning_.end() || !found->second.renewing) return false;
    if (std::erase(found->second.ranks, source) == 0) return false;
    if (!found->second.ranks.empty()) continue;
    returning_.erase(found);
    pool_.give_back(number);
  }
  return true;
}

}  // namespace librma
