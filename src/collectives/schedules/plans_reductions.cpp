// The collective operations that combine data. The algorithms are those of Thakur, Rabenseifner and Gropp,
// "Optimization of Collective Communication Operations in MPICH" (2005).
//
// Unless a comment says that the operation has to commute, the members' elements are combined in the order of
// team ranks, with the parentheses set otherwise.

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "collectives/schedules/plans.hpp"

namespace rma {
namespace {

/// From this size on a reduction of an operation that commutes is divided: each member combines one part.
constexpr std::size_t kLongReduction = std::size_t{32} << 10U;

/// A reduce-scatter whose data have up to this size has a logarithmic number of steps, with all data in each.
constexpr std::size_t kShortReduceScatter = 4096;

/// The buffers of a reduction. `combined` holds what the member has combined so far. What comes next from
/// another member is received into `other`.
struct Operands {
  Operands(Plan& plan, const rma_collective_t& collective, std::size_t all_elements, std::byte* first)
      : elements(all_elements),
        bytes(all_elements * collective.reducer.element_bytes),
        combined(first),
        other(plan.scratch(bytes)) {
    plan.copy(combined, static_cast<const std::byte*>(collective.src), bytes);
  }
  /// Adds the steps that combine `other`, whose elements are of higher ranks, or of lower ones.
  void add_higher(Plan& plan) {
    plan.reduce(combined, other, elements);
    std::swap(combined, other);
  }
  void add_lower(Plan& plan) const { plan.reduce(other, combined, elements); }

  std::size_t elements;
  std::size_t bytes;
  std::byte* combined;
  std::byte* other;
};

/// The elements of a reduction in one part for each member, or in the blocks of a reduce-scatter.
class Parts {
 public:
  Parts(const rma_collective_t& collective, int members, bool blocks)
      : element_bytes_(collective.reducer.element_bytes), begins_(static_cast<std::size_t>(members) + 1) {
    const auto parts = static_cast<std::size_t>(members);
    for (std::size_t part = 0; part < parts; ++part) {
      std::size_t elements = collective.count;
      if (!blocks) {
        elements = collective.count / parts + (part < collective.count % parts ? 1 : 0);
      } else if (collective.counts != nullptr) {
        elements = collective.counts[part];
      }
      begins_[part + 1] = begins_[part] + elements;
    }
  }
  [[nodiscard]] std::size_t elements(int part) const {
    return begins_[static_cast<std::size_t>(part) + 1] - begins_[static_cast<std::size_t>(part)];
  }
  [[nodiscard]] std::size_t bytes(int part) const { return elements(part) * element_bytes_; }
  /// Returns where a part begins, in bytes.
  [[nodiscard]] std::size_t begin(int part) const {
    return begins_[static_cast<std::size_t>(part)] * element_bytes_;
  }
  [[nodiscard]] std::size_t all_elements() const { return begins_.back(); }
  [[nodiscard]] std::size_t all_bytes() const { return begins_.back() * element_bytes_; }
  [[nodiscard]] std::size_t longest() const {
    std::size_t most = 0;
    for (std::size_t part = 0; part + 1 < begins_.size(); ++part) {
      most = std::max(most, begins_[part + 1] - begins_[part]);
    }
    return most * element_bytes_;
  }

 private:
  std::size_t element_bytes_;
  std::vector<std::size_t> begins_;  ///< in elements, and the end
};

/// Combines everything at `top`, along a binomial tree whose root it is. Returns where the result is there.
/// With top 0 the order is that of ranks; with another one the operation commutes.
std::byte* reduce_by_tree(Plan& plan, Operands& operands, int top) {
  const int members = plan.members();
  const int place = plan.at(-top);
  const auto member_at = [&](int other) { return (other + top) % members; };
  for (int bit = 1; bit < members; bit <<= 1) {
    if ((place & bit) != 0) {
      plan.send(member_at(place - bit), operands.combined, operands.bytes);
      plan.wait();
      return operands.combined;
    }
    if (place + bit >= members) continue;
    plan.receive(member_at(place + bit), operands.other, operands.bytes);
    plan.wait();
    operands.add_higher(plan);
  }
  return operands.combined;
}

/// Combines everything at all members, who all get the same bits: in each step both partners combine the same
/// two operands in the same order. Returns where the result is.
///
/// The number of members that take part in the doubling is a power of two. Before it, each of the first
/// members with an even rank hands its elements to its neighbour above, and gets the result from there at the
/// end.
std::byte* allreduce_by_doubling(Plan& plan, Operands& operands) {
  const int members = plan.members();
  const auto takers = static_cast<int>(std::bit_floor(static_cast<unsigned>(members)));
  const int pairs = members - takers;
  int place = plan.member() - pairs;
  if (plan.member() < 2 * pairs) {
    if (plan.member() % 2 == 0) {
      plan.send(plan.at(1), operands.combined, operands.bytes);
      plan.wait();
      plan.receive(plan.at(1), operands.combined, operands.bytes);
      plan.wait();
      return operands.combined;
    }
    plan.receive(plan.at(-1), operands.other, operands.bytes);
    plan.wait();
    operands.add_lower(plan);
    place = plan.member() / 2;
  }
  const auto member_at = [&](int taker) { return taker < pairs ? 2 * taker + 1 : taker + pairs; };
  for (int distance = 1; distance < takers; distance <<= 1) {
    const int partner = place ^ distance;
    plan.send(member_at(partner), operands.combined, operands.bytes);
    plan.receive(member_at(partner), operands.other, operands.bytes);
    plan.wait();
    if (partner < place) {
      operands.add_lower(plan);
    } else {
      operands.add_higher(plan);
    }
  }
  if (plan.member() < 2 * pairs) {
    plan.send(plan.at(-1), operands.combined, operands.bytes);
    plan.wait();
  }
  return operands.combined;
}

/// Combines each part of `data` at its member, around a ring: each part starts at the member above its own
/// and takes up the elements of every member that it passes. `data` ends as work memory, except for the
/// member's own part. The operation commutes.
void reduce_scatter_by_ring(Plan& plan, std::byte* data, const Parts& parts) {
  const int members = plan.members();
  std::byte* const in = plan.scratch(parts.longest());
  for (int step = 1; step < members; ++step) {
    const int out_part = plan.at(-step);
    const int in_part = (out_part - 1 + members) % members;
    plan.send(plan.at(1), data + parts.begin(out_part), parts.bytes(out_part));
    plan.receive(plan.at(-1), in, parts.bytes(in_part));
    plan.wait();
    plan.reduce(in, data + parts.begin(in_part), parts.elements(in_part));
  }
}

/// Gathers the parts, of which each member has its own, at all members.
void allgather_by_ring(Plan& plan, std::byte* data, const Parts& parts) {
  for (int step = 0; step + 1 < plan.members(); ++step) {
    const int out = plan.at(-step);
    const int in = plan.at(-step - 1);
    plan.send(plan.at(1), data + parts.begin(out), parts.bytes(out));
    plan.receive(plan.at(-1), data + parts.begin(in), parts.bytes(in));
    plan.wait();
  }
}

/// Returns whether a reduction of `bytes` bytes is divided among the members.
bool divided(const Plan& plan, const rma_collective_t& collective, std::size_t bytes) {
  return collective.reducer.commutes != 0 && bytes >= kLongReduction && plan.members() > 2 &&
         collective.count >= static_cast<std::size_t>(plan.members());
}

}  // namespace

void plan_reduce(Plan& plan, const rma_collective_t& collective) {
  const bool at_root = plan.member() == collective.root;
  auto* const result = static_cast<std::byte*>(collective.dst);
  const std::size_t bytes = collective.count * collective.reducer.element_bytes;
  if (divided(plan, collective, bytes)) {
    const Parts parts(collective, plan.members(), false);
    std::byte* const data = plan.scratch(bytes);
    plan.copy(data, static_cast<const std::byte*>(collective.src), bytes);
    reduce_scatter_by_ring(plan, data, parts);
    const int me = plan.member();
    if (at_root) {
      for (int part = 0; part < plan.members(); ++part) {
        if (part != me) plan.receive(part, result + parts.begin(part), parts.bytes(part));
      }
      plan.copy(result + parts.begin(me), data + parts.begin(me), parts.bytes(me));
    } else {
      plan.send(collective.root, data + parts.begin(me), parts.bytes(me));
    }
    plan.wait();
    return;
  }
  Operands operands(plan, collective, collective.count, plan.scratch(bytes));
  const int top = collective.reducer.commutes != 0 ? collective.root : 0;
  const std::byte* const combined = reduce_by_tree(plan, operands, top);
  if (top == collective.root) {
    if (at_root) plan.copy(result, combined, bytes);
    return;
  }
  if (plan.member() == top) plan.send(collective.root, combined, bytes);
  if (at_root) plan.receive(top, result, bytes);
  plan.wait();
}

void plan_allreduce(Plan& plan, const rma_collective_t& collective) {
  auto* const result = static_cast<std::byte*>(collective.dst);
  const std::size_t bytes = collective.count * collective.reducer.element_bytes;
  if (divided(plan, collective, bytes)) {
    // Each part is combined by one member, so all members get the same bits.
    const Parts parts(collective, plan.members(), false);
    plan.copy(result, static_cast<const std::byte*>(collective.src), bytes);
    reduce_scatter_by_ring(plan, result, parts);
    allgather_by_ring(plan, result, parts);
    return;
  }
  Operands operands(plan, collective, collective.count, result);
  plan.copy(result, allreduce_by_doubling(plan, operands), bytes);
}

void plan_reduce_scatter(Plan& plan, const rma_collective_t& collective) {
  auto* const result = static_cast<std::byte*>(collective.dst);
  const Parts parts(collective, plan.members(), true);
  const int me = plan.member();
  std::byte* const data = plan.scratch(parts.all_bytes());
  if (collective.reducer.commutes != 0 && parts.all_bytes() > kShortReduceScatter) {
    plan.copy(data, static_cast<const std::byte*>(collective.src), parts.all_bytes());
    reduce_scatter_by_ring(plan, data, parts);
    plan.copy(result, data + parts.begin(me), parts.bytes(me));
    return;
  }
  Operands operands(plan, collective, parts.all_elements(), data);
  plan.copy(result, allreduce_by_doubling(plan, operands) + parts.begin(me), parts.bytes(me));
}

void plan_scan(Plan& plan, const rma_collective_t& collective, bool exclusive) {
  // After the step with distance d, `combined` has the elements of the 2d members up to this one, as far as
  // they exist, and `before` those of the same members without this one.
  auto* const result = static_cast<std::byte*>(collective.dst);
  const std::size_t bytes = collective.count * collective.reducer.element_bytes;
  const Operands operands(plan, collective, collective.count, exclusive ? plan.scratch(bytes) : result);
  const int me = plan.member();
  for (int distance = 1; distance < plan.members(); distance <<= 1) {
    const bool receives = me >= distance;
    if (me + distance < plan.members()) plan.send(me + distance, operands.combined, bytes);
    if (receives) plan.receive(me - distance, operands.other, bytes);
    plan.wait();
    if (!receives) continue;
    operands.add_lower(plan);
    if (!exclusive) continue;
    if (distance == 1) {
      plan.copy(result, operands.other, bytes);
    } else {
      plan.reduce(operands.other, result, collective.count);
    }
  }
}

void plan_collective(Plan& plan, const rma_collective_t& collective) {
  if (collective.first_group != 0) return plan_two_groups(plan, collective);
  switch (collective.kind) {
    case RMA_COLLECTIVE_BARRIER:
      return plan_barrier(plan);
    case RMA_COLLECTIVE_BROADCAST:
      return plan_broadcast(plan, static_cast<std::byte*>(collective.dst), collective.bytes, collective.root);
    case RMA_COLLECTIVE_GATHER:
      return plan_gather(plan, collective);
    case RMA_COLLECTIVE_SCATTER:
      return plan_scatter(plan, collective);
    case RMA_COLLECTIVE_ALLGATHER:
      return plan_allgather(plan, collective);
    case RMA_COLLECTIVE_ALLTOALL:
      return plan_alltoall(plan, collective);
    case RMA_COLLECTIVE_REDUCE:
      return plan_reduce(plan, collective);
    case RMA_COLLECTIVE_ALLREDUCE:
      return plan_allreduce(plan, collective);
    case RMA_COLLECTIVE_REDUCE_SCATTER:
      return plan_reduce_scatter(plan, collective);
    case RMA_COLLECTIVE_SCAN:
      return plan_scan(plan, collective, false);
    case RMA_COLLECTIVE_EXSCAN:
      return plan_scan(plan, collective, true);
    case RMA_COLLECTIVE_NEIGHBORS:
      return plan_neighbors(plan, collective);
  }
}

}  // namespace rma
