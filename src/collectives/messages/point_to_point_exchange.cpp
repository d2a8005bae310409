#include "collectives/messages/point_to_point_exchange.hpp"
#include "util/try.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace rma {
namespace {

constexpr std::size_t pieces_of(std::size_t bytes, std::size_t piece) { return (bytes + piece - 1) / piece; }

/// Returns piece `number` of the data, which are cut into pieces of `piece` bytes.
PointToPoint::Bytes piece_of(PointToPoint::Bytes data, std::size_t number, std::size_t piece) {
  return data.subspan(number * piece, std::min(piece, data.size() - number * piece));
}

/// Consecutive blocks of an allgather's result, which may wrap around its end: one range of bytes or two.
class Blocks {
 public:
  /// `count` of `all` blocks, from number `first` on. `to` are all blocks, and `offset(i)` says where block i
  /// begins.
  template <typename Offset>
  Blocks(PointToPoint::Bytes to, std::size_t first, std::size_t count, std::size_t all,
         const Offset& offset) {
    const std::size_t before_end = std::min(count, all - first);
    ranges_ = {to.subspan(offset(first), offset(first + before_end) - offset(first)),
               to.first(offset(count - before_end))};
    used_ = before_end < count ? 2 : 1;
  }
  [[nodiscard]] std::span<const PointToPoint::Bytes> ranges() const {
    return std::span(ranges_).first(used_);
  }

 private:
  std::array<PointToPoint::Bytes, 2> ranges_;
  std::size_t used_ = 0;
};

}  // namespace

Status PointToPointExchange::run(const rma_collective_t& collective, bool& done) {
  done = collective.uneven == 0;
  if (!done) return {};
  const bool kept = collective.reducer.element_bytes <= kReductionPiece;
  switch (collective.kind) {
    case RMA_COLLECTIVE_BARRIER:
      return barrier();
    case RMA_COLLECTIVE_BROADCAST:
      return broadcast(collective.dst, collective.bytes, collective.root);
    case RMA_COLLECTIVE_ALLGATHER:
      return allgather(collective.dst, collective.src, collective.bytes);
    case RMA_COLLECTIVE_REDUCE:
      if (kept) {
        return reduce(collective.dst, collective.src, collective.count, collective.reducer, collective.root);
      }
      break;
    case RMA_COLLECTIVE_ALLREDUCE:
      if (kept) return allreduce(collective.dst, collective.src, collective.count, collective.reducer);
      break;
    default:
      break;
  }
  done = false;
  return {};
}

int PointToPointExchange::children(int place) const {
  return place == 0 ? p2p_.distances() : std::countr_zero(static_cast<unsigned>(place));
}

Status PointToPointExchange::pass_down(int place, Bytes piece, int wanting) {
  const int deep = children(place);
  if (place != 0) {
    RMA_TRY(p2p_.receive(p2p_.below(deep), piece));
  }
  // Sends to the largest subtree first, because that takes longest.
  std::array<int, 32> to;
  std::size_t count = 0;
  for (int k = deep - 1; k >= 0; --k) {
    const int child = place + (1 << k);
    const bool wanted = wanting == kEveryone || (wanting >= child && wanting < child + (1 << k));
    if (child < p2p_.members() && wanted) to[count++] = p2p_.above(k);
  }
  return count != 0 ? p2p_.send({to.data(), count}, piece) : Status();
}

Status PointToPointExchange::broadcast(void* buffer, std::size_t bytes, int root) {
  const int place = (p2p_.member() - root + p2p_.members()) % p2p_.members();
  const Bytes data(static_cast<std::byte*>(buffer), bytes);
  for (std::size_t i = 0; i < pieces_of(bytes, kBroadcastPiece); ++i) {
    Status status = pass_down(place, piece_of(data, i, kBroadcastPiece), kEveryone);
    if (!status.ok()) return status;
  }
  return {};
}

Status PointToPointExchange::pass_up(int place, Bytes sum, const std::byte* src,
                                     const rma_reducer_t& reducer) {
  const int deep = children(place);
  const Bytes theirs(scratch_ + kReductionPiece, sum.size());
  const bool leaf = deep == 0 || place + 1 >= p2p_.members();
  if (!leaf || place == 0) {
    if (sum.data() != src) std::memcpy(sum.data(), src, sum.size());
  }
  for (int k = 0; k < deep && place + (1 << k) < p2p_.members(); ++k) {
    RMA_TRY(p2p_.receive(p2p_.above(k), theirs));
    // combine() performs inout = in op inout, and `theirs` are of higher members.
    const std::size_t elements = sum.size() / reducer.element_bytes;
    if (reducer.commutes != 0) {
      reducer.combine(theirs.data(), sum.data(), elements, reducer.context);
    } else {
      reducer.combine(sum.data(), theirs.data(), elements, reducer.context);
      std::memcpy(sum.data(), theirs.data(), sum.size());
    }
  }
  if (place == 0) return {};
  // A send only reads its data.
  const Bytes mine = leaf ? Bytes(const_cast<std::byte*>(src), sum.size()) : sum;
  return p2p_.send(p2p_.below(deep), mine);
}

Status PointToPointExchange::reduce_to(int wanting, std::byte* dst, const std::byte* src, std::size_t bytes,
                                       const rma_reducer_t& reducer) {
  // Member 0 is the top for every root, so that the order of combining is always the same. The result then
  // goes down the same tree, to one or to all. If all want it, a piece goes down some turns after it went up,
  // and later pieces go up meanwhile.
  const int place = p2p_.member();
  const bool wants = wanting == kEveryone || wanting == place;
  const bool on_the_way = wanting >= place && wanting < place + (1 << children(place));
  const bool down = wanting != 0 && (wanting == kEveryone || on_the_way);
  const std::size_t lead = wanting == kEveryone ? 2 * static_cast<std::size_t>(p2p_.distances()) : 0;
  const std::size_t most = kReductionPiece / reducer.element_bytes * reducer.element_bytes;
  const auto place_of = [&](std::size_t turn) {
    return Bytes(wants ? dst + turn * most : scratch_, std::min(most, bytes - turn * most));
  };
  const std::size_t pieces = pieces_of(bytes, most);
  for (std::size_t turn = 0; turn < pieces + lead; ++turn) {
    if (turn < pieces) {
      Status status = pass_up(place, place_of(turn), src + turn * most, reducer);
      if (!status.ok()) return status;
    }
    if (down && turn >= lead) {
      RMA_TRY(pass_down(place, place_of(turn - lead), wanting));
    }
  }
  return {};
}

Status PointToPointExchange::reduce(void* dst, const void* src, std::size_t count,
                                    const rma_reducer_t& reducer, int root) {
  return reduce_to(root, static_cast<std::byte*>(dst), static_cast<const std::byte*>(src),
                   count * reducer.element_bytes, reducer);
}

Status PointToPointExchange::allreduce(void* dst, const void* src, std::size_t count,
                                       const rma_reducer_t& reducer) {
  return reduce_to(kEveryone, static_cast<std::byte*>(dst), static_cast<const std::byte*>(src),
                   count * reducer.element_bytes, reducer);
}

Status PointToPointExchange::allgather(void* dst, const void* src, std::size_t bytes) {
  const auto me = static_cast<std::size_t>(p2p_.member());
  const auto all = static_cast<std::size_t>(p2p_.members());
  const Bytes to(static_cast<std::byte*>(dst), all * bytes);
  if (bytes == 0) return {};
  if (std::byte* const own = to.data() + me * bytes; own != src) std::memcpy(own, src, bytes);
  return gather_blocks(to, [&](std::size_t block) { return block * bytes; });
}

Status PointToPointExchange::allgather_uneven(std::byte* dst, std::span<const std::size_t> offsets) {
  const auto all = static_cast<std::size_t>(p2p_.members());
  return gather_blocks(Bytes(dst, offsets[all]), [&](std::size_t block) { return offsets[block]; });
}

template <typename Offset>
Status PointToPointExchange::gather_blocks(Bytes to, const Offset& offset) {
  // Bruck's algorithm. Before step k a member has its own block and the blocks of the 2^k - 1 members after
  // it, all at their places. It sends as many of them as are still missing to the member 2^k before it. It
  // gets the next blocks from the member 2^k after it.
  const auto me = static_cast<std::size_t>(p2p_.member());
  const auto all = static_cast<std::size_t>(p2p_.members());
  for (int k = 0; k < p2p_.distances(); ++k) {
    const std::size_t distance = std::size_t{1} << static_cast<unsigned>(k);
    const std::size_t count = std::min(distance, all - distance);
    const Blocks out(to, me, count, all, offset);
    const Blocks in(to, (me + distance) % all, count, all, offset);
    const int before = p2p_.below(k);
    Status status = p2p_.exchange({&before, 1}, out.ranges(), p2p_.above(k), in.ranges());
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace rma
