#include "strided/vector.hpp"

#include <memory>
#include <vector>

#include "atomics/remote_atomics.hpp"
#include "atomics/types.hpp"
#include "core/one_sided/layout.hpp"
#include "strided/segment_copy.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// The result of a check of all pieces.
struct Survey {
  std::size_t bytes = 0;
  std::size_t pieces = 0;
  std::size_t breaks = 0;  ///< pieces that do not continue the one before them on both sides
  bool direct = true;      ///< all of the rank's pieces are in its heap, which is mapped here
  bool foreign = true;     ///< none of them is
};

/// Returns whether [address, address + bytes) does not wrap around the address space.
bool fits(const void* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) <= UINTPTR_MAX - bytes;
}

Status check_piece(const rma_iov_t& list, std::size_t descriptor, std::size_t piece) {
  const void* const dst = list.dst[piece];
  const void* const src = list.src[piece];
  if (dst == nullptr || src == nullptr) {
    return {RMA_ERR_ARGUMENT, text("piece {} of descriptor {} has a null {}", piece, descriptor,
                                   dst == nullptr ? "dst" : "src")};
  }
  if (fits(dst, list.bytes) && fits(src, list.bytes)) return {};
  return {RMA_ERR_SIZE, text("piece {} of descriptor {}, {} bytes from {} to {}, passes the end of the "
                             "address space",
                             piece, descriptor, list.bytes, src, dst)};
}

bool empty(const rma_iov_t& list) { return list.segments == 0 || list.bytes == 0; }

/// Where the last piece ends on each side.
struct Ends {
  std::uintptr_t dst = 0;
  std::uintptr_t src = 0;
};

/// Adds a list to the survey if no piece has a null or passes the end of the address space, and all of the
/// rank's pieces are in its heap. Returns false otherwise, and changes nothing. The loop has no branches, and
/// its variables stay in registers.
bool add_direct(const Job& job, const rma_iov_t& list, Side side, int rank, Survey& result, Ends& ends) {
  /// Addresses [first, first + most].
  struct Range {
    std::uintptr_t first;
    std::uintptr_t most;
    [[nodiscard]] bool misses(std::uintptr_t address) const { return address - first > most; }
  };
  const rma_direct_peer_t& peer = job.direct_table()[static_cast<std::size_t>(rank)];
  const std::size_t bytes = list.bytes;
  if (bytes > peer.bytes) return false;
  const Range theirs = {.first = peer.base, .most = peer.bytes - bytes};
  const Range ours = {.first = 1, .most = UINTPTR_MAX - bytes - 1};
  const Range dst_range = side == Side::dst ? theirs : ours;
  const Range src_range = side == Side::dst ? ours : theirs;
  bool missed = false;
  std::size_t breaks = 0;
  Ends last = ends;
  for (std::size_t i = 0; i < list.segments; ++i) {
    const auto dst = reinterpret_cast<std::uintptr_t>(list.dst[i]);
    const auto src = reinterpret_cast<std::uintptr_t>(list.src[i]);
    missed |= dst_range.misses(dst) | src_range.misses(src);
    breaks += static_cast<std::size_t>(dst != last.dst) | static_cast<std::size_t>(src != last.src);
    last = {.dst = dst + bytes, .src = src + bytes};
  }
  if (missed) return false;
  result.foreign = false;
  result.breaks += breaks;
  ends = last;
  return true;
}

/// Checks every piece before any moves. `reachable(address, bytes)` checks pieces outside mapped heaps.
template <typename Reachable>
Result<Survey> survey(const Job& job, std::span<const rma_iov_t> iov, Side side, int rank,
                      const Reachable& reachable) {
  Survey result;
  Ends ends;
  for (std::size_t descriptor = 0; descriptor < iov.size(); ++descriptor) {
    const rma_iov_t& list = iov[descriptor];
    if (empty(list)) continue;
    const std::size_t bytes = list.bytes;
    result.pieces += list.segments;
    result.bytes += list.segments * bytes;
    if (add_direct(job, list, side, rank, result, ends)) continue;
    for (std::size_t i = 0; i < list.segments; ++i) {
      const void* const dst = list.dst[i];
      const void* const src = list.src[i];
      const void* const theirs = side == Side::dst ? dst : src;
      if (dst == nullptr || src == nullptr || !fits(dst, bytes) || !fits(src, bytes)) [[unlikely]] {
        return check_piece(list, descriptor, i);
      }
      if (job.direct(theirs, bytes, rank) == nullptr) [[unlikely]] {
        RMA_TRY(reachable(theirs, bytes));
        result.direct = false;
      } else {
        result.foreign = false;
      }
      const auto dst_address = reinterpret_cast<std::uintptr_t>(dst);
      const auto src_address = reinterpret_cast<std::uintptr_t>(src);
      result.breaks += static_cast<std::size_t>(dst_address != ends.dst) |
                       static_cast<std::size_t>(src_address != ends.src);
      ends = {.dst = dst_address + bytes, .src = src_address + bytes};
    }
  }
  return result;
}

/// Does the same for a put or a get.
Result<Survey> survey_transfer(const Job& job, RemoteAccess& remote_access, std::span<const rma_iov_t> iov,
                               Side side, int rank) {
  return survey(job, iov, side, rank, [&](const void* address, std::size_t bytes) {
    return check_reachable(job, remote_access, address, bytes, rank);
  });
}

enum class Joining : bool { off, on };

/// Calls `move(dst, src, bytes)` for each piece until one call fails. If `joining` is on, does so for each
/// run of pieces that continue each other on both sides. If the target unregisters memory meanwhile, the
/// earlier pieces have moved.
template <typename Move>
Status each_run(std::span<const rma_iov_t> iov, Joining joining, const Move& move) {
  std::byte* dst = nullptr;
  const std::byte* src = nullptr;
  std::size_t bytes = 0;
  for (const rma_iov_t& list : iov) {
    if (empty(list)) continue;
    for (std::size_t i = 0; i < list.segments; ++i) {
      auto* const next_dst = static_cast<std::byte*>(list.dst[i]);
      const auto* const next_src = static_cast<const std::byte*>(list.src[i]);
      if (joining == Joining::on && bytes != 0 && next_dst == dst + bytes && next_src == src + bytes) {
        bytes += list.bytes;
        continue;
      }
      if (bytes != 0) {
        RMA_TRY(move(dst, src, bytes));
      }
      dst = next_dst;
      src = next_src;
      bytes = list.bytes;
    }
  }
  return bytes == 0 ? Status() : move(dst, src, bytes);
}

/// Decides whether to join pieces: if the joined ones are reachable, too. The owner may unregister memory
/// meanwhile.
Joining joining_for(const Job& job, std::span<const rma_iov_t> iov, const Survey& found, Side side,
                    int rank) {
  if (found.direct) return Joining::on;
  bool reachable = true;
  static_cast<void>(each_run(iov, Joining::on,
                             [&](const std::byte* dst, const std::byte* src, std::size_t bytes) -> Status {
                               const void* const theirs = side == Side::dst ? dst : src;
                               reachable =
                                   reachable && job.resolve(theirs, bytes, rank).kind != Path::Kind::none;
                               return {};
                             })
                        .ok());
  return reachable ? Joining::on : Joining::off;
}

/// Copies each piece. Adds `dst_delta` and `src_delta` to the addresses of the lists.
void copy_pieces(std::span<const rma_iov_t> iov, std::ptrdiff_t dst_delta, std::ptrdiff_t src_delta) {
  for (const rma_iov_t& list : iov) {
    if (empty(list)) continue;
    with_segment_size(list.bytes, [&]<std::size_t kBytes>() {
      // These local variables stay in registers, because the stores of the loop cannot change them.
      void* const* const dst = list.dst;
      const void* const* const src = list.src;
      const std::size_t segments = list.segments;
      const std::size_t bytes = list.bytes;
      const std::size_t all = segments * bytes;
      const std::ptrdiff_t to = dst_delta;
      const std::ptrdiff_t from = src_delta;
      for (std::size_t i = 0; i < segments; ++i) {
        copy_segment<kBytes>(static_cast<std::byte*>(dst[i]) + to,
                             static_cast<const std::byte*>(src[i]) + from, bytes, all);
      }
    });
  }
}

/// Joining is worth its cost if runs have at least this many pieces on average.
constexpr std::size_t kPiecesPerRun = 8;

/// Copies the pieces between mapped memory. All of them are direct.
void copy_direct(std::span<const rma_iov_t> iov, const Survey& found, std::ptrdiff_t dst_delta,
                 std::ptrdiff_t src_delta) {
  if (found.breaks > found.pieces / kPiecesPerRun) return copy_pieces(iov, dst_delta, src_delta);
  static_cast<void>(each_run(iov, Joining::on, [&](std::byte* dst, const std::byte* src, std::size_t bytes) {
                      copy_bytes(dst + dst_delta, src + src_delta, bytes);
                      return Status();
                    }).ok());
}

std::ptrdiff_t delta_of(const Job& job, int rank) {
  return job.direct_table()[static_cast<std::size_t>(rank)].delta;
}

/// Returns the layout of one side of an I/O vector, whose pieces are not all empty. Neighbours that are
/// adjacent on both sides form one segment. So both sides have the same segments.
std::shared_ptr<const Layout> layout_of(std::span<const rma_iov_t> iov, Side side) {
  std::vector<Layout::Segment> segments;
  std::uintptr_t dst_end = 0;
  std::uintptr_t src_end = 0;
  for (const rma_iov_t& list : iov) {
    if (list.bytes == 0) continue;
    for (std::size_t i = 0; i < list.segments; ++i) {
      const auto dst = reinterpret_cast<std::uintptr_t>(list.dst[i]);
      const auto src = reinterpret_cast<std::uintptr_t>(list.src[i]);
      if (!segments.empty() && dst == dst_end && src == src_end) {
        segments.back().bytes += list.bytes;
      } else {
        segments.push_back({.address = side == Side::dst ? dst : src, .bytes = list.bytes});
      }
      dst_end = dst + list.bytes;
      src_end = src + list.bytes;
    }
  }
  return std::make_shared<Layout>(Layout::list(std::move(segments)));
}

/// Executes a put if `theirs` is Side::dst, else a get.
Status move_vector(const TransferPaths& paths, std::span<const rma_iov_t> iov, Side theirs, int rank,
                   const Ending& ending) {
  const bool put = theirs == Side::dst;
  RMA_TRY_ASSIGN(found, survey_transfer(paths.job, paths.remote_access, iov, theirs, rank));
  count(Counter::vector);
  count(put ? Counter::put_bytes : Counter::get_bytes, found.bytes);
  if (found.direct) {
    const std::ptrdiff_t delta = delta_of(paths.job, rank);
    copy_direct(iov, found, put ? delta : 0, put ? 0 : delta);
    return complete(ending);
  }
  const auto layout = [&](Side side) { return layout_of(iov, side); };
  const Joining joining = joining_for(paths.job, iov, found, theirs, rank);
  const auto each = [&](const auto& move) { return each_run(iov, joining, move); };
  // A layout joins neighbours, so it cannot tell of those in two regions.
  const Segments segments = {
      .count = found.breaks, .bytes = found.bytes, .foreign = found.foreign && joining == Joining::on};
  return transfer_segments(paths, theirs, rank, segments, layout, each, ending);
}

}  // namespace

Status put_vector(const TransferPaths& paths, std::span<const rma_iov_t> iov, int rank,
                  const Ending& ending) {
  return move_vector(paths, iov, Side::dst, rank, ending);
}

Status get_vector(const TransferPaths& paths, std::span<const rma_iov_t> iov, int rank,
                  const Ending& ending) {
  return move_vector(paths, iov, Side::src, rank, ending);
}

Status acc_vector(Accumulator& accumulator, std::span<const rma_iov_t> iov, rma_type_t type,
                  const void* scale, int rank) {
  for (std::size_t descriptor = 0; descriptor < iov.size(); ++descriptor) {
    const rma_iov_t& list = iov[descriptor];
    if (list.bytes % type_size(type) != 0) {
      return {RMA_ERR_SIZE,
              text("descriptor {} has pieces of {} bytes: expected a multiple of the element's {}",
                   descriptor, list.bytes, type_size(type))};
    }
    if (list.bytes == 0) continue;
    for (std::size_t i = 0; i < list.segments; ++i) {
      if (reinterpret_cast<std::uintptr_t>(list.dst[i]) % type_alignment(type) == 0) continue;
      return {RMA_ERR_ALIGNMENT,
              text("piece {} of descriptor {} is at {}: expected a multiple of {}", i, descriptor,
                   static_cast<const void*>(list.dst[i]), type_alignment(type))};
    }
  }
  const Job& job = accumulator.job();
  // A rank of another host that no helper reaches is refused later, by the accumulation itself.
  RMA_TRY_ASSIGN(found,
                 survey(job, iov, Side::dst, rank, [&](const void* address, std::size_t bytes) -> Status {
                   if (job.resolve(address, bytes, rank).kind != Path::Kind::none) return {};
                   return unreachable(address, bytes, rank);
                 }));
  count(Counter::vector);
  count(Counter::accumulate);
  if (found.bytes == 0) return {};
  if (!job.mapped(rank) && accumulator.remote() != nullptr) {
    return accumulator.remote()->accumulate(layout_of(iov, Side::dst), layout_of(iov, Side::src), type, scale,
                                            rank);
  }
  Accumulation accumulation(accumulator, type, scale, rank);
  const Joining joining = joining_for(job, iov, found, Side::dst, rank);
  return each_run(iov, joining, [&](void* dst, const void* src, std::size_t bytes) {
    return accumulation.add(dst, src, bytes);
  });
}

}  // namespace librma
