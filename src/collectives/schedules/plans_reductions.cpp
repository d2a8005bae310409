// The collective operations that combine data. The algorithms are those of Thakur, Rabenseifner and Gropp,
// "Optimization of Collective Communication Operations in MPICH" (2005).
//
// Unless a comment says that the operation has to commute, the members' elements are combined in the order of
// team ranks. Where the parentheses are depends only on the number of members: a reduce to any root and an
// allreduce of any length give the same bits.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/schedules/plans.hpp"

namespace librma {
namespace {

/// A reduction of this size or more is divided: each member combines one part, if it has this many bytes.
constexpr std::size_t kLongReduction = std::size_t{32} << 10U;
constexpr std::size_t kShortestPart = std::size_t{4} << 10U;

/// A reduce-scatter whose data have up to this size has a logarithmic number of steps, with all data in each.
constexpr std::size_t kShortReduceScatter = 4096;

/// Where a plan has the elements of one reduction. `combined` holds what the member has combined so far. What
/// comes next from another member is received into `other`.
struct Operands {
  /// Adds the steps that combine elements at `offset` of both buffers. Those in `other` are of lower ranks,
  /// or of higher ones: then the result is where they were, so the buffers change their roles.
  void add_lower(Plan& plan, std::size_t offset, std::size_t elements) const {
    plan.reduce(other + offset, combined + offset, elements);
  }
  void add_higher(Plan& plan, std::size_t offset, std::size_t elements) {
    plan.reduce(combined + offset, other + offset, elements);
    std::swap(combined, other);
  }

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

/// The part of one member in reductions whose result one member wants, or all.
///
/// The number of *takers* is a power of two. First, each of the first members with an odd rank hands its
/// elements to its neighbour below, a taker, and gets the result from there if it wants it. In step k two
/// takers whose numbers differ in bit k alone combine what each of them has: the elements of 2^k takers. So
/// the order does not depend on the member that wants the result.
class TakersReduction {
 public:
  static constexpr int kAll = -1;

  /// `root` is the member that wants the result, or kAll. Each call of add() is for up to `most` elements.
  TakersReduction(Plan& plan, std::size_t element_bytes, int root, std::size_t most)
      : plan_(plan),
        element_bytes_(element_bytes),
        root_(root),
        takers_(static_cast<int>(std::bit_floor(static_cast<unsigned>(plan.members())))),
        pairs_(plan.members() - takers_),
        wants_(root == kAll || root == plan.member()),
        stride_((most * element_bytes + kAlignment - 1) / kAlignment * kAlignment),
        scratch_(plan.scratch(wants_ ? stride_ : 2 * stride_)) {}

  /// Adds the reduction of `elements` elements. `result` is for this member, if it wants the result.
  void add(const std::byte* src, std::byte* result, std::size_t elements) {
    const std::size_t bytes = elements * element_bytes_;
    const int me = plan_.member();
    const bool paired = me < 2 * pairs_;
    const bool folded = paired && me % 2 != 0;
    const bool parts = takers_ > 1 && bytes >= kLongReduction &&
                       bytes / static_cast<std::size_t>(takers_) >= kShortestPart &&
                       elements >= static_cast<std::size_t>(takers_);
    operands_ = {.combined = wants_ ? result : scratch_ + stride_, .other = scratch_};
    if (!wants_ && (folded || (!paired && !parts && !toward_root(1)))) {
      operands_.combined = const_cast<std::byte*>(src);  // this member only sends it
    } else {
      plan_.copy(operands_.combined, src, bytes);
    }
    if (folded) {
      plan_.send(me - 1, operands_.combined, bytes);
      plan_.wait();
      if (wants_) plan_.receive(me - 1, result, bytes);
      plan_.wait();
      return;
    }
    if (paired) {
      plan_.receive(me + 1, operands_.other, bytes);
      plan_.wait();
      operands_.add_higher(plan_, 0, elements);
    }
    const std::byte* const at = parts ? combine_parts(elements, result) : combine_whole(elements);
    if (wants_) plan_.copy(result, at, bytes);
    if (paired && (root_ == kAll || root_ == me + 1)) {
      plan_.send(me + 1, at, bytes);
      plan_.wait();
    }
  }

 private:
  static constexpr std::size_t kAlignment = 64;  ///< of operands, as rma_reducer_t says

  /// Consecutive elements, in bytes, and their number.
  struct Part {
    std::size_t begin = 0;
    std::size_t bytes = 0;
    std::size_t elements = 0;
  };

  [[nodiscard]] int taker_of(int member) const { return member < 2 * pairs_ ? member / 2 : member - pairs_; }
  [[nodiscard]] int member_at(int taker) const { return taker < pairs_ ? 2 * taker : taker + pairs_; }
  [[nodiscard]] int taker() const { return taker_of(plan_.member()); }
  /// Returns whether this taker, rather than its partner in the step of `bit`, is on the way to the root.
  [[nodiscard]] bool toward_root(int bit) const {
    return root_ == kAll || ((taker() ^ taker_of(root_)) & bit) == 0;
  }

  /// Each step combines all elements. Returns where the result is.
  std::byte* combine_whole(std::size_t elements) {
    const std::size_t bytes = elements * element_bytes_;
    for (int bit = 1; bit < takers_; bit <<= 1) {
      const int partner = taker() ^ bit;
      const bool takes = toward_root(bit);
      if (root_ == kAll || !takes) plan_.send(member_at(partner), operands_.combined, bytes);
      if (takes) plan_.receive(member_at(partner), operands_.other, bytes);
      plan_.wait();
      if (!takes) break;
      add(partner, {.begin = 0, .bytes = bytes, .elements = elements});
    }
    return operands_.combined;
  }

  /// In each step both partners combine one half of the elements that they have. Then the parts go back by
  /// the same steps, or to the root. Returns where the result is.
  std::byte* combine_parts(std::size_t elements, std::byte* result) {
    for (int bit = 1; bit < takers_; bit <<= 1) {
      const int partner = taker() ^ bit;
      const Part mine = part_of(taker(), 2 * bit, elements);
      const Part theirs = part_of(partner, 2 * bit, elements);
      plan_.send(member_at(partner), operands_.combined + theirs.begin, theirs.bytes);
      plan_.receive(member_at(partner), operands_.other + mine.begin, mine.bytes);
      plan_.wait();
      add(partner, mine);
    }
    const Part own = part_of(taker(), takers_, elements);
    std::byte* const whole = wants_ ? result : operands_.combined;
    plan_.copy(whole + own.begin, operands_.combined + own.begin, own.bytes);
    for (int bit = takers_ / 2; bit > 0; bit >>= 1) {
      const int partner = taker() ^ bit;
      const Part mine = part_of(taker(), 2 * bit, elements);
      const Part theirs = part_of(partner, 2 * bit, elements);
      const bool takes = toward_root(bit);
      if (root_ == kAll || !takes) plan_.send(member_at(partner), whole + mine.begin, mine.bytes);
      if (takes) plan_.receive(member_at(partner), whole + theirs.begin, theirs.bytes);
      plan_.wait();
      if (!takes) break;
    }
    return whole;
  }

  void add(int partner, const Part& part) {
    if (partner < taker()) {
      operands_.add_lower(plan_, part.begin, part.elements);
    } else {
      operands_.add_higher(plan_, part.begin, part.elements);
    }
  }

  /// Returns the elements that a taker combines in the step of bit `end` / 2.
  [[nodiscard]] Part part_of(int taker, int end, std::size_t elements) const {
    std::size_t first = 0;
    for (int bit = 1; bit < end; bit <<= 1) {
      const std::size_t half = elements / 2;
      if ((taker & bit) != 0) first += half;
      elements = (taker & bit) != 0 ? elements - half : half;
    }
    return {.begin = first * element_bytes_, .bytes = elements * element_bytes_, .elements = elements};
  }

  Plan& plan_;
  const std::size_t element_bytes_;
  const int root_;
  const int takers_;
  const int pairs_;  ///< takers that have a neighbour
  const bool wants_;
  const std::size_t stride_;  ///< the size of a buffer in the scratch
  std::byte* const scratch_;  ///< two buffers, or one if the caller's result is the other
  Operands operands_ = {};
};

/// Adds a reduction in as many pieces as the plan's scratch needs.
void reduce_in_pieces(Plan& plan, const rma_collective_t& collective, int root) {
  const std::size_t size = collective.reducer.element_bytes;
  const std::size_t buffers = root == TakersReduction::kAll ? 1 : 2;
  const std::size_t most =
      std::min(collective.count, std::max<std::size_t>(plan.most_scratch() / buffers / size, 1));
  TakersReduction reduction(plan, size, root, most);
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const result = static_cast<std::byte*>(collective.dst);
  for (std::size_t first = 0; first < collective.count; first += most) {
    std::byte* const to = result != nullptr ? result + first * size : nullptr;
    reduction.add(src + first * size, to, std::min(most, collective.count - first));
  }
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

/// Returns whether a long reduction goes around a ring. The takers of a number of members that is no power of
/// two would first get all elements of the others. The ring's order differs for each part.
bool goes_around(const Plan& plan, const rma_collective_t& collective) {
  return collective.reducer.commutes != 0 &&
         collective.count * collective.reducer.element_bytes >= kLongReduction &&
         collective.count >= static_cast<std::size_t>(plan.members()) &&
         !std::has_single_bit(static_cast<unsigned>(plan.members())) && plan.most_scratch() == SIZE_MAX;
}

}  // namespace

void plan_reduce(Plan& plan, const rma_collective_t& collective) {
  if (!goes_around(plan, collective)) return reduce_in_pieces(plan, collective, collective.root);
  auto* const result = static_cast<std::byte*>(collective.dst);
  const Parts parts(collective, plan.members(), false);
  std::byte* const data = plan.scratch(parts.all_bytes());
  plan.copy(data, static_cast<const std::byte*>(collective.src), parts.all_bytes());
  reduce_scatter_by_ring(plan, data, parts);
  const int me = plan.member();
  if (me == collective.root) {
    for (int part = 0; part < plan.members(); ++part) {
      if (part != me) plan.receive(part, result + parts.begin(part), parts.bytes(part));
    }
    plan.copy(result + parts.begin(me), data + parts.begin(me), parts.bytes(me));
  } else {
    plan.send(collective.root, data + parts.begin(me), parts.bytes(me));
  }
  plan.wait();
}

void plan_allreduce(Plan& plan, const rma_collective_t& collective) {
  if (!goes_around(plan, collective)) return reduce_in_pieces(plan, collective, TakersReduction::kAll);
  // Each part is combined by one member, so all members get the same bits.
  auto* const result = static_cast<std::byte*>(collective.dst);
  const Parts parts(collective, plan.members(), false);
  plan.copy(result, static_cast<const std::byte*>(collective.src), parts.all_bytes());
  reduce_scatter_by_ring(plan, result, parts);
  allgather_by_ring(plan, result, parts);
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
  TakersReduction reduction(plan, collective.reducer.element_bytes, TakersReduction::kAll,
                            parts.all_elements());
  reduction.add(static_cast<const std::byte*>(collective.src), data, parts.all_elements());
  plan.copy(result, data + parts.begin(me), parts.bytes(me));
}

void plan_scan(Plan& plan, const rma_collective_t& collective, bool exclusive) {
  // After the step with distance d, `combined` has the elements of the 2d members up to this one, as far as
  // they exist, and `before` those of the same members without this one.
  auto* const result = static_cast<std::byte*>(collective.dst);
  const std::size_t bytes = collective.count * collective.reducer.element_bytes;
  const Operands operands = {.combined = exclusive ? plan.scratch(bytes) : result,
                             .other = plan.scratch(bytes)};
  plan.copy(operands.combined, static_cast<const std::byte*>(collective.src), bytes);
  const int me = plan.member();
  for (int distance = 1; distance < plan.members(); distance <<= 1) {
    const bool receives = me >= distance;
    if (me + distance < plan.members()) plan.send(me + distance, operands.combined, bytes);
    if (receives) plan.receive(me - distance, operands.other, bytes);
    plan.wait();
    if (!receives) continue;
    operands.add_lower(plan, 0, collective.count);
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

}  // namespace librma
