#pragma once

#include <cstddef>

#include "collectives/point_to_point.hpp"
#include "collectives/reduce.hpp"
#include "util/status.hpp"

namespace rma {

/// The collectives over PointToPoint, as one member takes part in them: for teams whose members are on
/// several hosts. Arguments as in collectives.hpp. Data longer than a message travels in pieces, several of
/// which are on their way through the team at once.
///
/// Broadcast and reduction use one binomial tree over the members' places relative to its top: place p > 0
/// hangs below p without its lowest set bit, at a distance of a power of two. Below p hang so the places up
/// to p plus that bit.
///
/// Why nobody waits for ever: all members go through the same *turns*, one per piece and direction, in the
/// same order. In a turn a member waits for messages of the same turn, sent by members that are deeper in the
/// tree (or higher, when data goes down), and for the taking of messages of earlier turns. So the member that
/// is in the earliest turn, and there nearest to where data comes from, can go on.
class PointToPointExchange {
 public:
  explicit PointToPointExchange(PointToPoint& p2p) : p2p_(p2p) {}

  [[nodiscard]] Status barrier() { return p2p_.meet(); }
  [[nodiscard]] Status broadcast(void* buffer, std::size_t bytes, int root);
  /// The elements are combined in an order that depends on the team's size only, so to every root, and for
  /// allreduce(), with the same result: ((e0 op e1) op (e2 op e3)) op ...
  [[nodiscard]] Status reduce(void* dst, const void* src, std::size_t count, const Reduction& reduction,
                              int root);
  [[nodiscard]] Status allreduce(void* dst, const void* src, std::size_t count, const Reduction& reduction);
  [[nodiscard]] Status allgather(void* dst, const void* src, std::size_t bytes);

 private:
  /// As the receiver of a reduction's result: all places.
  static constexpr int kEveryone = -1;

  /// Children of `place` hang at distances 2^k for k below this; its parent, unless it is the top, at this k.
  [[nodiscard]] int children(int place) const;
  /// A piece's turn down the tree, to `wanting`. At the top it is at `data`; others get it there, except for
  /// those with null, who only pass it on.
  [[nodiscard]] Status pass_down(int place, std::byte* data, std::size_t bytes, int wanting);
  /// A piece's turn up the tree: the top gets the result in `result`.
  [[nodiscard]] Status pass_up(int place, std::byte* result, const std::byte* src, std::size_t bytes,
                               const Reduction& reduction);
  [[nodiscard]] Status reduce_to(int wanting, std::byte* dst, const std::byte* src, std::size_t bytes,
                                 const Reduction& reduction);

  PointToPoint& p2p_;
};

}  // namespace rma
