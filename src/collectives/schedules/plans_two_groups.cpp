// Collective operations between two groups: each is made of operations inside a group and of messages between
// the groups.

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/members/blocks.hpp"
#include "collectives/schedules/plans.hpp"

namespace librma {
namespace {

/// The two groups, as one member sees them: team ranks.
struct Groups {
  Groups(const Plan& plan, int first_group) {
    const bool in_first = plan.member() < first_group;
    const auto first = static_cast<std::size_t>(first_group);
    const std::size_t second = static_cast<std::size_t>(plan.members()) - first;
    own.resize(in_first ? first : second);
    other.resize(in_first ? second : first);
    std::iota(own.begin(), own.end(), in_first ? 0 : first_group);
    std::iota(other.begin(), other.end(), in_first ? first_group : 0);
    rank = plan.member() - own.front();
  }
  [[nodiscard]] int size() const { return static_cast<int>(own.size()); }
  /// Returns an empty plan of this member among those of its group.
  [[nodiscard]] Plan inside() const { return {rank, size()}; }
  /// Returns the first member of the other group: the groups' first members meet for all.
  [[nodiscard]] int other_leader() const { return other.front(); }
  [[nodiscard]] bool leads() const { return rank == 0; }

  std::vector<int> own;
  std::vector<int> other;
  int rank = 0;  ///< this member's place in its group
};

/// The root of a call is a member of the other group, this member, or another one of its group.
enum class Root { kOther, kSelf, kNone };
Root root_of(const Plan& plan, const rma_collective_t& collective) {
  if (collective.root < 0) return Root::kNone;
  return collective.root == plan.member() ? Root::kSelf : Root::kOther;
}

/// The root and the other group broadcast among themselves.
void broadcast_across(Plan& plan, const Groups& groups, const rma_collective_t& collective) {
  const Root root = root_of(plan, collective);
  if (root == Root::kNone) return;
  std::vector<int> members = {collective.root};
  const std::vector<int>& receivers = root == Root::kSelf ? groups.other : groups.own;
  members.insert(members.end(), receivers.begin(), receivers.end());
  Plan part(root == Root::kSelf ? 0 : groups.rank + 1, static_cast<int>(members.size()));
  plan_broadcast(part, static_cast<std::byte*>(collective.dst), collective.bytes, 0);
  plan.append(std::move(part), members);
}

void gather_across(Plan& plan, const Groups& groups, const rma_collective_t& collective) {
  const Root root = root_of(plan, collective);
  if (root == Root::kOther)
    plan.send(collective.root, static_cast<const std::byte*>(collective.src), collective.bytes);
  if (root == Root::kSelf) {
    const BlockList blocks = BlockList::destination(collective);
    int block = 0;
    for (const int member : groups.other) {
      plan.receive(member, blocks.data(block), blocks.bytes(block));
      ++block;
    }
  }
  plan.wait();
}

void scatter_across(Plan& plan, const Groups& groups, const rma_collective_t& collective) {
  const Root root = root_of(plan, collective);
  if (root == Root::kOther)
    plan.receive(collective.root, static_cast<std::byte*>(collective.dst), collective.bytes);
  if (root == Root::kSelf) {
    const BlockList blocks = BlockList::source(collective);
    int block = 0;
    for (const int member : groups.other) {
      plan.send(member, blocks.data(block), blocks.bytes(block));
      ++block;
    }
  }
  plan.wait();
}

/// Every member exchanges a block with each member of the other group. `same`: it sends them one block.
void exchange_across(Plan& plan, const Groups& groups, const rma_collective_t& collective, bool same) {
  const BlockList in = BlockList::destination(collective);
  const BlockList out = BlockList::source(collective);
  const int others = static_cast<int>(groups.other.size());
  for (int block = 0; block < others; ++block) {
    plan.receive(groups.other[static_cast<std::size_t>(block)], in.data(block), in.bytes(block));
  }
  for (int step = 0; step < others; ++step) {
    // The members begin with different ones, so that not all send to the same.
    const int block = (groups.rank + step) % others;
    const int member = groups.other[static_cast<std::size_t>(block)];
    if (same) {
      plan.send(member, static_cast<const std::byte*>(collective.src), collective.bytes);
    } else {
      plan.send(member, out.data(block), out.bytes(block));
    }
  }
  plan.wait();
}

/// Reduces `elements` elements of this group at its first member, and returns the result there.
std::byte* reduce_inside(Plan& plan, const Groups& groups, const rma_collective_t& collective,
                         std::size_t elements) {
  rma_collective_t inside = collective;
  inside.first_group = 0;
  inside.root = 0;
  inside.count = elements;
  std::byte* const result =
      groups.leads() ? plan.scratch(elements * collective.reducer.element_bytes) : nullptr;
  inside.dst = result;
  Plan part = groups.inside();
  plan_reduce(part, inside);
  plan.append(std::move(part), groups.own);
  return result;
}

/// Reduces this group's data at its first member, and gives that member the result of the other group in
/// `theirs`.
void reduce_and_swap(Plan& plan, const Groups& groups, const rma_collective_t& collective,
                     std::size_t elements, std::byte* theirs) {
  const std::size_t bytes = elements * collective.reducer.element_bytes;
  const std::byte* const ours = reduce_inside(plan, groups, collective, elements);
  if (!groups.leads()) return;
  plan.send(groups.other_leader(), ours, bytes);
  plan.receive(groups.other_leader(), theirs, bytes);
  plan.wait();
}

void reduce_across(Plan& plan, const Groups& groups, const rma_collective_t& collective) {
  const Root root = root_of(plan, collective);
  const std::size_t bytes = collective.count * collective.reducer.element_bytes;
  if (root == Root::kSelf)
    plan.receive(groups.other_leader(), static_cast<std::byte*>(collective.dst), bytes);
  if (root == Root::kOther) {
    const std::byte* const combined = reduce_inside(plan, groups, collective, collective.count);
    if (groups.leads()) plan.send(collective.root, combined, bytes);
  }
  plan.wait();
}

void allreduce_across(Plan& plan, const Groups& groups, const rma_collective_t& collective) {
  auto* const result = static_cast<std::byte*>(collective.dst);
  reduce_and_swap(plan, groups, collective, collective.count, result);
  Plan part = groups.inside();
  plan_broadcast(part, result, collective.count * collective.reducer.element_bytes, 0);
  plan.append(std::move(part), groups.own);
}

void reduce_scatter_across(Plan& plan, const Groups& groups, const rma_collective_t& collective) {
  const std::size_t element = collective.reducer.element_bytes;
  std::vector<std::size_t> bytes;
  for (int member = 0; member < groups.size(); ++member) {
    const std::size_t elements = collective.counts != nullptr ? collective.counts[member] : collective.count;
    bytes.push_back(elements * element);
  }
  const std::size_t all = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
  std::byte* const theirs = groups.leads() ? plan.scratch(all) : nullptr;
  reduce_and_swap(plan, groups, collective, all / element, theirs);
  std::vector<rma_block_t> blocks;
  std::size_t begin = 0;
  for (const std::size_t block : bytes) {
    blocks.push_back({.address = groups.leads() ? theirs + begin : nullptr, .bytes = block});
    begin += block;
  }
  rma_collective_t inside = {};
  inside.kind = RMA_COLLECTIVE_SCATTER;
  inside.dst = collective.dst;
  inside.bytes = bytes[static_cast<std::size_t>(groups.rank)];
  inside.uneven = 1;
  inside.src_blocks = blocks.data();
  Plan part = groups.inside();
  plan_scatter(part, inside);
  plan.append(std::move(part), groups.own);
}

}  // namespace

void plan_two_groups(Plan& plan, const rma_collective_t& collective) {
  const Groups groups(plan, collective.first_group);
  switch (collective.kind) {
    case RMA_COLLECTIVE_BARRIER:
      return plan_barrier(plan);
    case RMA_COLLECTIVE_BROADCAST:
      return broadcast_across(plan, groups, collective);
    case RMA_COLLECTIVE_GATHER:
      return gather_across(plan, groups, collective);
    case RMA_COLLECTIVE_SCATTER:
      return scatter_across(plan, groups, collective);
    case RMA_COLLECTIVE_ALLGATHER:
      return exchange_across(plan, groups, collective, true);
    case RMA_COLLECTIVE_ALLTOALL:
      return exchange_across(plan, groups, collective, false);
    case RMA_COLLECTIVE_REDUCE:
      return reduce_across(plan, groups, collective);
    case RMA_COLLECTIVE_ALLREDUCE:
      return allreduce_across(plan, groups, collective);
    case RMA_COLLECTIVE_REDUCE_SCATTER:
      return reduce_scatter_across(plan, groups, collective);
    case RMA_COLLECTIVE_SCAN:
    case RMA_COLLECTIVE_EXSCAN:
    case RMA_COLLECTIVE_NEIGHBORS:
      return;  // these do not exist, and were refused
  }
}

}  // namespace librma
