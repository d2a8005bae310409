// Barrier, and the collective operations that move data. The algorithms are those of Thakur, Rabenseifner and
// Gropp, "Optimization of Collective Communication Operations in MPICH" (2005), and of Bruck et al.,
// "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems" (1997).

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "collectives/members/blocks.hpp"
#include "collectives/schedules/plans.hpp"

namespace rma {
namespace {

/// A broadcast from this size on goes through a chain of the members in pieces: every member forwards a piece
/// while the next one comes in. Shorter ones go down a tree, which has fewer steps.
constexpr std::size_t kLongBroadcast = std::size_t{256} << 10U;
constexpr std::size_t kBroadcastPiece = std::size_t{128} << 10U;

/// Blocks up to this size are gathered and scattered along a tree, which copies them several times; longer
/// ones go straight between the root and each member.
constexpr std::size_t kTreeBlock = 2048;

/// An allgather whose result has up to this size takes a logarithmic number of steps; the ring of a longer
/// one moves every byte only to a neighbour.
constexpr std::size_t kShortAllgather = std::size_t{64} << 10U;

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

/// Doubles the number of blocks that each member has in each step. For a number of members that is a power of
/// two.
void allgather_by_doubling(Plan& plan, std::byte* all, std::size_t bytes) {
  const auto place = [&](int member) { return all + static_cast<std::size_t>(member) * bytes; };
  for (int distance = 1; distance < plan.members(); distance <<= 1) {
    const int partner = plan.member() ^ distance;
    const std::size_t size = static_cast<std::size_t>(distance) * bytes;
    plan.send(partner, place(plan.member() & -distance), size);
    plan.receive(partner, place(partner & -distance), size);
    plan.wait();
  }
}

/// Bruck's allgather: in `packed` the blocks begin with the member's own, and their number doubles in each
/// step.
void allgather_by_bruck(Plan& plan, std::byte* all, std::size_t bytes) {
  const int members = plan.members();
  const auto size_of = [&](int blocks) { return static_cast<std::size_t>(blocks) * bytes; };
  std::byte* const packed = plan.scratch(size_of(members));
  plan.copy(packed, all + size_of(plan.member()), bytes);
  for (int have = 1; have < members; have *= 2) {
    const int more = std::min(have, members - have);
    plan.send(plan.at(-have), packed, size_of(more));
    plan.receive(plan.at(have), packed + size_of(have), size_of(more));
    plan.wait();
  }
  const int to_end = members - plan.member();
  plan.copy(all + size_of(plan.member()), packed, size_of(to_end));
  plan.copy(all, packed + size_of(to_end), size_of(plan.member()));
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
  if (bytes >= kLongBroadcast && plan.members() > 2) {
    const bool receives = tree.place > 0;
    const bool sends = tree.place + 1 < tree.members;
    const std::size_t pieces = (bytes + kBroadcastPiece - 1) / kBroadcastPiece;
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
  const bool brief = collective.bytes * static_cast<std::size_t>(members) <= kShortAllgather;
  if (collective.uneven == 0 && brief) {
    if (std::has_single_bit(static_cast<unsigned>(members))) {
      allgather_by_doubling(plan, all.data(0), collective.bytes);
    } else {
      allgather_by_bruck(plan, all.data(0), collective.bytes);
    }
    return;
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

}  // namespace rma
