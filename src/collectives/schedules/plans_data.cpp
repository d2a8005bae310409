// Barrier, and the collective operations that move data. The algorithms are those of Thakur, Rabenseifner and
// Gropp, "Optimization of Collective Communication Operations in MPICH" (2005), and of Bruck et al.,
// "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems" (1997).

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "collectives/members/blocks.hpp"
#include "collectives/schedules/allgather_steps.hpp"
#include "collectives/schedules/plans.hpp"

namespace librma {
namespace {

/// The pieces of a broadcast along a chain.
constexpr std::size_t kBroadcastPiece = std::size_t{128} << 10U;

/// Blocks up to this size are gathered and scattered along a tree, which copies them several times; longer
/// ones go straight between the root and each member.
constexpr std::size_t kTreeBlock = 2048;

/// Blocks of an all-to-all up to this size travel together, from this number of members on.
constexpr std::size_t kShortAlltoall = 256;
constexpr int kManyMembers = 8;

/// An all-to-all has the messages to and from this many members under way at once.
constexpr int kAlltoallWindow = 32;

/// A member's place in a binomial tree whose root is place 0. The parent of place p is p without its lowest
/// set bit, and the subtree of p has the places from p up to p plus that bit, exclusive.
struct TreePlace {
  TreePlace(const Plan& plan, int root_member)
      : members(plan.members()), root(root_member), place((plan.member() - root_member + members) % members) {
    width = place == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(members))) : place & -place;
  }
  [[nodiscard]] int member_at(int other) const { return (other + root) % members; }
  [[nodiscard]] int parent() const { return member_at(place - width); }
  /// Returns the number of places in the subtree of `top`, a child at distance `bit` from this one or this
  /// one.
  [[nodiscard]] int subtree(int top, int bit) const { return std::min(bit, members - top); }

  int members;
  int root;
  int place;
  int width;  ///< the places of the subtree, as if there were members for all
};

/// Copies the blocks of the places from `first` on between `packed`, where they follow each other, and their
/// places in the root's array.
void copy_places(Plan& plan, const TreePlace& tree, int first, int count, std::size_t bytes,
                 std::byte* packed, std::byte* array, bool to_array) {
  while (count > 0) {
    // The places go on at member 0 after the last member.
    const int member = tree.member_at(first);
    const int here = std::min(count, tree.members - member);
    std::byte* const in_array = array + static_cast<std::size_t>(member) * bytes;
    const std::size_t size = static_cast<std::size_t>(here) * bytes;
    if (to_array) {
      plan.copy(in_array, packed, size);
    } else {
      plan.copy(packed, in_array, size);
    }
    packed += size;
    first += here;
    count -= here;
  }
}

void gather_by_tree(Plan& plan, const rma_collective_t& collective) {
  const TreePlace tree(plan, collective.root);
  const std::size_t bytes = collective.bytes;
  const auto size_of = [&](int places) { return static_cast<std::size_t>(places) * bytes; };
  const auto* const mine = static_cast<const std::byte*>(collective.src);
  const int own = tree.subtree(tree.place, tree.width);
  if (own == 1 && tree.place != 0) {
    plan.send(tree.parent(), mine, bytes);
    plan.wait();
    return;
  }
  std::byte* const packed = plan.scratch(size_of(own));
  plan.copy(packed, mine, bytes);
  for (int bit = 1; bit < tree.width && tree.place + bit < tree.members; bit <<= 1) {
    const int child = tree.place + bit;
    plan.receive(tree.member_at(child), packed + size_of(bit), size_of(tree.subtree(child, bit)));
  }
  plan.wait();
  if (tree.place != 0) {
    plan.send(tree.parent(), packed, size_of(own));
    plan.wait();
    return;
  }
  copy_places(plan, tree, 0, own, bytes, packed, static_cast<std::byte*>(collective.dst), true);
}

void scatter_by_tree(Plan& plan, const rma_collective_t& collective) {
  const TreePlace tree(plan, collective.root);
  const std::size_t bytes = collective.bytes;
  const auto size_of = [&](int places) { return static_cast<std::size_t>(places) * bytes; };
  auto* const mine = static_cast<std::byte*>(collective.dst);
  const int own = tree.subtree(tree.place, tree.width);
  if (own == 1 && tree.place != 0) {
    plan.receive(tree.parent(), mine, bytes);
    plan.wait();
    return;
  }
  std::byte* const packed = plan.scratch(size_of(own));
  if (tree.place == 0) {
    auto* const all = static_cast<std::byte*>(const_cast<void*>(collective.src));
    copy_places(plan, tree, 0, own, bytes, packed, all, false);
  } else {
    plan.receive(tree.parent(), packed, size_of(own));
    plan.wait();
  }
  for (int bit = tree.width / 2; bit > 0; bit >>= 1) {
    const int child = tree.place + bit;
    if (child >= tree.members) continue;
    plan.send(tree.member_at(child), packed + size_of(bit), size_of(tree.subtree(child, bit)));
  }
  plan.copy(mine, packed, bytes);
  plan.wait();
}

/// Returns whether a broadcast goes along a chain of the members in pieces: every member forwards a piece
/// while the next one comes in. The data pass the chain in the time of all pieces and one more for each
/// member between, and leave the root of a tree once for each of its children.
bool goes_along_chain(int members, std::size_t pieces) {
  const auto levels = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(members) - 1U));
  return members > 2 && pieces + static_cast<std::size_t>(members) - 2 < pieces * levels;
}

/// Gathers blocks that follow each other in `all`, where this member's own one is. Block i begins at
/// `offset(i)`, and the last one ends at `offset(members())`.
template <typename Offset>
void gather_blocks(Plan& plan, std::byte* all, const Offset& offset) {
  const AllgatherSteps steps(plan.member(), plan.members(), false);
  const auto members = static_cast<std::size_t>(plan.members());
  for (std::size_t k = 0; k < steps.number(); ++k) {
    const AllgatherStep step = steps.step(k);
    const BlockRanges out(step.out_first, step.count, members, offset);
    const BlockRanges in(step.in_first, step.count, members, offset);
    for (const auto& range : out.all()) plan.send(step.to, all + range.offset, range.bytes);
    for (const auto& range : in.all()) plan.receive(step.from, all + range.offset, range.bytes);
    plan.wait();
  }
}

/// Bruck's all-to-all. Block i of `turned` is for the member i above this one. In step k all blocks whose
/// number has bit k move on by 2^k members, so each block has come as far as its number when all steps are
/// done.
void alltoall_by_bruck(Plan& plan, std::byte* dst, const std::byte* src, std::size_t bytes) {
  const int members = plan.members();
  const auto size_of = [&](int blocks) { return static_cast<std::size_t>(blocks) * bytes; };
  std::byte* const turned = plan.scratch(size_of(members));
  std::byte* const out = plan.scratch(size_of(members / 2 + 1));
  std::byte* const in = plan.scratch(size_of(members / 2 + 1));
  const int to_end = members - plan.member();
  plan.copy(turned, src + size_of(plan.member()), size_of(to_end));
  plan.copy(turned + size_of(to_end), src, size_of(plan.member()));
  for (int bit = 1; bit < members; bit <<= 1) {
    int moving = 0;
    for (int block = bit; block < members; ++block) {
      if ((block & bit) != 0) plan.copy(out + size_of(moving++), turned + size_of(block), bytes);
    }
    plan.send(plan.at(bit), out, size_of(moving));
    plan.receive(plan.at(-bit), in, size_of(moving));
    plan.wait();
    moving = 0;
    for (int block = bit; block < members; ++block) {
      if ((block & bit) != 0) plan.copy(turned + size_of(block), in + size_of(moving++), bytes);
    }
  }
  // Block i has come from the member i below this one.
  for (int block = 0; block < members; ++block) {
    plan.copy(dst + size_of(plan.at(-block)), turned + size_of(block), bytes);
  }
}

}  // namespace

void plan_barrier(Plan& plan) {
  // A dissemination barrier: after step k each member knows that the 2^(k+1) - 1 members below it have come.
  for (int distance = 1; distance < plan.members(); distance *= 2) {
    plan.signal(plan.at(distance));
    plan.await(plan.at(-distance));
    plan.wait();
  }
}

void plan_comparison(Plan& plan, const CollectiveRecord& record) {
  std::byte* const mine = plan.scratch(sizeof record);
  std::memcpy(mine, &record, sizeof record);
  std::byte* const all = plan.scratch(sizeof record * static_cast<std::size_t>(plan.members()));
  rma_collective_t gather = {};
  gather.kind = RMA_COLLECTIVE_ALLGATHER;
  gather.src = mine;
  gather.dst = all;
  gather.bytes = sizeof record;
  plan_allgather(plan, gather);
  plan.compare(all);
}

void plan_broadcast(Plan& plan, std::byte* data, std::size_t bytes, int root) {
  const TreePlace tree(plan, root);
  const std::size_t pieces = (bytes + kBroadcastPiece - 1) / kBroadcastPiece;
  if (goes_along_chain(plan.members(), pieces)) {
    const bool receives = tree.place > 0;
    const bool sends = tree.place + 1 < tree.members;
    const auto size_of = [&](std::size_t piece) {
      return std::min(kBroadcastPiece, bytes - piece * kBroadcastPiece);
    };
    for (std::size_t piece = 0; piece <= pieces; ++piece) {
      if (receives && piece < pieces) {
        plan.receive(tree.member_at(tree.place - 1), data + piece * kBroadcastPiece, size_of(piece));
      }
      if (sends && piece > 0) {
        plan.send(tree.member_at(tree.place + 1), data + (piece - 1) * kBroadcastPiece, size_of(piece - 1));
      }
      plan.wait();
    }
    return;
  }
  if (tree.place != 0) {
    plan.receive(tree.parent(), data, bytes);
    plan.wait();
  }
  for (int bit = tree.width / 2; bit > 0; bit >>= 1) {
    if (tree.place + bit < tree.members) plan.send(tree.member_at(tree.place + bit), data, bytes);
  }
  plan.wait();
}

void plan_gather(Plan& plan, const rma_collective_t& collective) {
  if (collective.uneven == 0 && collective.bytes <= kTreeBlock && plan.members() > 2) {
    gather_by_tree(plan, collective);
    return;
  }
  const auto* const mine = static_cast<const std::byte*>(collective.src);
  if (plan.member() != collective.root) {
    plan.send(collective.root, mine, collective.bytes);
    plan.wait();
    return;
  }
  const BlockList all = BlockList::destination(collective);
  for (int member = 0; member < plan.members(); ++member) {
    if (member != collective.root) plan.receive(member, all.data(member), all.bytes(member));
  }
  plan.copy(all.data(collective.root), mine, std::min(collective.bytes, all.bytes(collective.root)));
  plan.wait();
}

void plan_scatter(Plan& plan, const rma_collective_t& collective) {
  if (collective.uneven == 0 && collective.bytes <= kTreeBlock && plan.members() > 2) {
    scatter_by_tree(plan, collective);
    return;
  }
  auto* const mine = static_cast<std::byte*>(collective.dst);
  if (plan.member() != collective.root) {
    plan.receive(collective.root, mine, collective.bytes);
    plan.wait();
    return;
  }
  const BlockList all = BlockList::source(collective);
  for (int member = 0; member < plan.members(); ++member) {
    if (member != collective.root) plan.send(member, all.data(member), all.bytes(member));
  }
  plan.copy(mine, all.data(collective.root), std::min(collective.bytes, all.bytes(collective.root)));
  plan.wait();
}

void plan_allgather(Plan& plan, const rma_collective_t& collective) {
  const BlockList all = BlockList::destination(collective);
  const int members = plan.members();
  plan.copy(all.data(plan.member()), static_cast<const std::byte*>(collective.src),
            std::min(collective.bytes, all.bytes(plan.member())));
  if (collective.uneven == 0) {
    return gather_blocks(plan, all.data(0), [&](std::size_t block) { return block * collective.bytes; });
  }
  // A ring: after step k each member has the blocks of the k members below it.
  for (int step = 0; step + 1 < members; ++step) {
    const int out = plan.at(-step);
    const int in = plan.at(-step - 1);
    plan.send(plan.at(1), all.data(out), all.bytes(out));
    plan.receive(plan.at(-1), all.data(in), all.bytes(in));
    plan.wait();
  }
}

void plan_allgather_blocks(Plan& plan, std::byte* all, std::span<const std::size_t> offsets) {
  gather_blocks(plan, all, [&](std::size_t block) { return offsets[block]; });
}

void plan_alltoall(Plan& plan, const rma_collective_t& collective) {
  const BlockList in = BlockList::destination(collective);
  const BlockList out = BlockList::source(collective);
  const int members = plan.members();
  if (collective.uneven == 0 && collective.bytes <= kShortAlltoall && members >= kManyMembers) {
    alltoall_by_bruck(plan, in.data(0), out.data(0), collective.bytes);
    return;
  }
  plan.copy(in.data(plan.member()), out.data(plan.member()),
            std::min(out.bytes(plan.member()), in.bytes(plan.member())));
  // Data that arrive in place would overwrite those that are still to be sent.
  std::vector<const std::byte*> from_where(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member) {
    const std::byte*& from = from_where[static_cast<std::size_t>(member)];
    from = out.data(member);
    if (!out.same(in) || member == plan.member() || out.bytes(member) == 0) continue;
    std::byte* const copy = plan.scratch(out.bytes(member));
    plan.copy(copy, from, out.bytes(member));
    from = copy;
  }
  // In step k each member sends to the one k above it and receives from the one k below it.
  for (int step = 1; step < members; ++step) {
    const int to = plan.at(step);
    const int from = plan.at(-step);
    plan.receive(from, in.data(from), in.bytes(from));
    plan.send(to, from_where[static_cast<std::size_t>(to)], out.bytes(to));
    if (step % kAlltoallWindow == 0) plan.wait();
  }
  plan.wait();
}

}  // namespace librma
