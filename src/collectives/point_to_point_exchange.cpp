#include "collectives/point_to_point_exchange.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace rma {
namespace {

constexpr std::size_t kPieceBytes = PointToPointBlock::kPieceBytes;
/// The number of pieces of a result that the top of the tree keeps for another member.
constexpr std::size_t kKept = 4;

std::size_t pieces_of(std::size_t bytes) { return (bytes + kPieceBytes - 1) / kPieceBytes; }

/// Returns the size of piece `number` of `bytes` bytes.
std::size_t piece_bytes(std::size_t number, std::size_t bytes) {
  return std::min(kPieceBytes, bytes - number * kPieceBytes);
}

/// Consecutive blocks of an allgather's result, which may wrap around its end. They are one range of bytes or
/// two, and each range is cut into pieces by itself. Sender and receiver of the same blocks have the same
/// pieces.
class Blocks {
 public:
  struct Piece {
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };

  Blocks(std::size_t first, std::size_t count, std::size_t all, std::size_t bytes)
      : begin_(first * bytes),
        bytes_(std::min(count, all - first) * bytes),
        wrapped_(count * bytes - bytes_) {}

  [[nodiscard]] std::size_t pieces() const { return pieces_of(bytes_) + pieces_of(wrapped_); }
  [[nodiscard]] Piece piece(std::size_t number) const {
    const std::size_t unwrapped = pieces_of(bytes_);
    if (number < unwrapped) {
      return {.begin = begin_ + number * kPieceBytes, .bytes = piece_bytes(number, bytes_)};
    }
    number -= unwrapped;
    return {.begin = number * kPieceBytes, .bytes = piece_bytes(number, wrapped_)};
  }

 private:
  std::size_t begin_;    ///< start of the range that lies before the end of all blocks
  std::size_t bytes_;    ///< size of this range
  std::size_t wrapped_;  ///< size of the range that wraps around to the beginning
};

}  // namespace

int PointToPointExchange::children(int place) const {
  return place == 0 ? p2p_.distances() : std::countr_zero(static_cast<unsigned>(place));
}

Status PointToPointExchange::pass_down(int place, std::byte* data, std::size_t bytes, int wanting) {
  const int below = children(place);
  const std::byte* from = data;
  if (place != 0) {
    if (Status status = p2p_.receive(below, Direction::up, &from); !status.ok()) return status;
  }
  // Sends to the largest subtree first, because that takes longest.
  for (int k = below - 1; k >= 0; --k) {
    const int child = place + (1 << k);
    const bool wanted = wanting == kEveryone || (wanting >= child && wanting < child + (1 << k));
    if (child >= p2p_.members() || !wanted) continue;
    if (Status status = p2p_.send(k, Direction::up, from, bytes); !status.ok()) return status;
  }
  if (place == 0) return {};
  if (data != nullptr) std::memcpy(data, from, bytes);
  return p2p_.done(below, Direction::up);
}

Status PointToPointExchange::broadcast(void* buffer, std::size_t bytes, int root) {
  const int place = (p2p_.member() - root + p2p_.members()) % p2p_.members();
  auto* const data = static_cast<std::byte*>(buffer);
  for (std::size_t i = 0; i < pieces_of(bytes); ++i) {
    Status status = pass_down(place, data + i * kPieceBytes, piece_bytes(i, bytes), kEveryone);
    if (!status.ok()) return status;
  }
  return {};
}

Status PointToPointExchange::pass_up(int place, std::byte* result, const std::byte* src, std::size_t bytes,
                                     const Reduction& reduction) {
  const int below = children(place);
  alignas(64) std::array<std::byte, kPieceBytes> sum;  // `result` may be `src`
  const std::byte* mine = src;
  for (int k = 0; k < below && place + (1 << k) < p2p_.members(); ++k) {
    if (mine == src) {
      std::memcpy(sum.data(), src, bytes);
      mine = sum.data();
    }
    const std::byte* theirs = nullptr;
    if (Status status = p2p_.receive(k, Direction::down, &theirs); !status.ok()) return status;
    reduction.combine(sum.data(), theirs, bytes / reduction.element_bytes);
    if (Status status = p2p_.done(k, Direction::down); !status.ok()) return status;
  }
  if (place != 0) return p2p_.send(below, Direction::down, mine, bytes);
  if (result != mine) std::memcpy(result, mine, bytes);
  return {};
}

Status PointToPointExchange::reduce_to(int wanting, std::byte* dst, const std::byte* src, std::size_t bytes,
                                       const Reduction& reduction) {
  // Member 0 is the top for every root, so that the order of combining is always the same. The result then
  // goes down the same tree, to one or to all. A piece goes down some turns after it went up. Meanwhile later
  // pieces go up.
  const int place = p2p_.member();
  const bool wants = wanting == kEveryone || wanting == place;
  const bool on_the_way = wanting >= place && wanting < place + (1 << children(place));
  const bool down = wanting != 0 && (wanting == kEveryone || on_the_way);
  const std::size_t lead = wanting == kEveryone ? 2 * static_cast<std::size_t>(p2p_.distances()) : kKept - 1;
  // The top keeps results here that it does not want itself.
  alignas(64) std::array<std::byte, kKept * kPieceBytes> kept;
  const auto place_of = [&](std::size_t piece) {
    if (wants) return dst + piece * kPieceBytes;
    return place == 0 ? kept.data() + piece % kKept * kPieceBytes : nullptr;
  };
  const std::size_t pieces = pieces_of(bytes);
  for (std::size_t turn = 0; turn < pieces + lead; ++turn) {
    if (turn < pieces) {
      Status status =
          pass_up(place, place_of(turn), src + turn * kPieceBytes, piece_bytes(turn, bytes), reduction);
      if (!status.ok()) return status;
    }
    if (down && turn >= lead) {
      const std::size_t piece = turn - lead;
      if (Status status = pass_down(place, place_of(piece), piece_bytes(piece, bytes), wanting);
          !status.ok()) {
        return status;
      }
    }
  }
  return {};
}

Status PointToPointExchange::reduce(void* dst, const void* src, std::size_t count, const Reduction& reduction,
                                    int root) {
  return reduce_to(root, static_cast<std::byte*>(dst), static_cast<const std::byte*>(src),
                   count * reduction.element_bytes, reduction);
}

Status PointToPointExchange::allreduce(void* dst, const void* src, std::size_t count,
                                       const Reduction& reduction) {
  return reduce_to(kEveryone, static_cast<std::byte*>(dst), static_cast<const std::byte*>(src),
                   count * reduction.element_bytes, reduction);
}

Status PointToPointExchange::allgather(void* dst, const void* src, std::size_t bytes) {
  // Bruck's algorithm. Before step k a member has its own block and the blocks of the 2^k - 1 members after
  // it, all at their places. It sends as many of them as are still missing to the member 2^k before it. It
  // gets the next blocks from the member 2^k after it.
  auto* const to = static_cast<std::byte*>(dst);
  const auto me = static_cast<std::size_t>(p2p_.member());
  const auto all = static_cast<std::size_t>(p2p_.members());
  if (std::byte* const own = to + me * bytes; own != src && bytes != 0) std::memcpy(own, src, bytes);
  for (int k = 0; k < p2p_.distances(); ++k) {
    const std::size_t distance = std::size_t{1} << static_cast<unsigned>(k);
    const std::size_t count = std::min(distance, all - distance);
    const Blocks out(me, count, all, bytes);
    const Blocks in((me + distance) % all, count, all, bytes);
    for (std::size_t i = 0; i < std::max(out.pieces(), in.pieces()); ++i) {
      if (i < out.pieces()) {
        const Blocks::Piece piece = out.piece(i);
        Status status = p2p_.send(k, Direction::down, to + piece.begin, piece.bytes);
        if (!status.ok()) return status;
      }
      if (i < in.pieces()) {
        const Blocks::Piece piece = in.piece(i);
        const std::byte* from = nullptr;
        if (Status status = p2p_.receive(k, Direction::down, &from); !status.ok()) return status;
        std::memcpy(to + piece.begin, from, piece.bytes);
        if (Status status = p2p_.done(k, Direction::down); !status.ok()) return status;
      }
    }
  }
  return {};
}

}  // namespace rma
