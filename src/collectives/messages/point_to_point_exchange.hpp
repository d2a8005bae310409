#pragma once

#include <cstddef>
#include <span>

#include "collectives/messages/point_to_point.hpp"
#include "rma/collectives.h"
#include "util/status.hpp"

namespace rma {

/// The part of one member in the collectives of a team whose members are on several hosts, by PointToPoint.
/// It has barrier, broadcast, reduce, allreduce, and allgather of blocks of one size. Long data of broadcasts
/// and reductions travel in pieces, and several pieces are on their way through the team at once. A piece
/// that is too long for an eager message goes from the buffer of one member straight into that of the next.
///
/// Broadcast and reduction use one binomial tree over the members' places relative to its top. The parent of
/// place p > 0 is p without its lowest set bit, at a distance of a power of two. So the subtree of p consists
/// of the places from p up to p plus that bit, exclusive.
///
/// Why no member waits for ever: all members go through the same *turns*, one per piece and direction, in the
/// same order. In a turn a member waits for messages of the same turn, sent by members that are deeper in the
/// tree (or higher, when data goes down), and then for its parent (or its children) to take its own message
/// in the same turn. Its parent waits for members that are deeper before it takes that. So of the members in
/// the earliest turn, the one nearest to the source of the data can go on.
class PointToPointExchange {
 public:
  /// The size of a piece of a reduction, which has to be kept while it is combined.
  static constexpr std::size_t kReductionPiece = std::size_t{32} << 10U;
  /// The size of a piece of a broadcast.
  static constexpr std::size_t kBroadcastPiece = std::size_t{256} << 10U;
  /// The memory that a member needs for reductions, aligned to 64 bytes.
  static constexpr std::size_t kScratch = 2 * kReductionPiece;

  /// `scratch` has kScratch bytes, and outlives the object.
  PointToPointExchange(PointToPoint& p2p, std::byte* scratch) : p2p_(p2p), scratch_(scratch) {}

  /// Executes a collective operation, whose arguments were checked. If `done` is false afterwards, the
  /// members did nothing, all alike: the operation has no form here. Needs no memory.
  [[nodiscard]] Status run(const rma_collective_t& collective, bool& done);

  [[nodiscard]] Status barrier() { return p2p_.meet(); }
  [[nodiscard]] Status broadcast(void* buffer, std::size_t bytes, int root);
  /// Combines the elements in an order that depends only on the team's size, so every root, and allreduce(),
  /// get the same result: ((e0 op e1) op (e2 op e3)) op ... An element has at most kReductionPiece bytes.
  [[nodiscard]] Status reduce(void* dst, const void* src, std::size_t count, const rma_reducer_t& reducer,
                              int root);
  [[nodiscard]] Status allreduce(void* dst, const void* src, std::size_t count, const rma_reducer_t& reducer);
  [[nodiscard]] Status allgather(void* dst, const void* src, std::size_t bytes);
  /// Gathers blocks of different sizes: block i lies from offsets[i] to offsets[i + 1] of `dst`, on all
  /// members. This member's own block is there already.
  [[nodiscard]] Status allgather_uneven(std::byte* dst, std::span<const std::size_t> offsets);

 private:
  using Bytes = PointToPoint::Bytes;

  /// Gathers blocks that follow each other in `to`. Block i begins at `offset(i)`, and the last one ends
  /// where offset(members()) says. This member's own block is there.
  template <typename Offset>
  [[nodiscard]] Status gather_blocks(Bytes to, const Offset& offset);

  /// A value of `wanting` that means that all places want the result.
  static constexpr int kEveryone = -1;

  /// Returns n: the children of `place` are at the distances 2^k for k below n, and its parent, unless it is
  /// the top, at 2^n.
  [[nodiscard]] int children(int place) const;
  /// Executes a piece's turn down the tree, to `wanting`: receives it into `piece`, except at the top, and
  /// passes it on.
  [[nodiscard]] Status pass_down(int place, Bytes piece, int wanting);
  /// Executes a piece's turn up the tree. Combines it into `sum`, which may be `src`. The top has the result
  /// there.
  [[nodiscard]] Status pass_up(int place, Bytes sum, const std::byte* src, const rma_reducer_t& reducer);
  [[nodiscard]] Status reduce_to(int wanting, std::byte* dst, const std::byte* src, std::size_t bytes,
                                 const rma_reducer_t& reducer);

  PointToPoint& p2p_;
  std::byte* const scratch_;
};

}  // namespace rma
