#include "strided/strided.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "atomics/remote_atomics.hpp"
#include "atomics/types.hpp"
#include "core/network/transfers.hpp"
#include "core/one_sided/layout.hpp"
#include "strided/segment_copy.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

std::byte* at(void* base, std::ptrdiff_t offset) { return static_cast<std::byte*>(base) + offset; }
const std::byte* at(const void* base, std::ptrdiff_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}

/// Returns whether an extent wraps around the address space. Computes with numbers, because pointers
/// must not wrap.
bool wraps(const void* base, const StridedShape::Extent& extent) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
  return __builtin_add_overflow(address, extent.low, &low) ||
         __builtin_add_overflow(address, extent.high, &high);
}

[[gnu::cold]] Status wrapped(const void* base, const StridedShape::Extent& extent) {
  return {RMA_ERR_SIZE, text("a strided transfer with base address {} reaches from {} to {} bytes off it, "
                             "past the ends of the address space",
                             base, extent.low, extent.high)};
}

Status check_extents(const void* dst, const void* src, const StridedShape& shape) {
  if (wraps(dst, shape.dst_extent())) [[unlikely]]
    return wrapped(dst, shape.dst_extent());
  if (wraps(src, shape.src_extent())) [[unlikely]]
    return wrapped(src, shape.src_extent());
  return {};
}

/// Returns the path to all of `rank`'s side. If no single path leads to all of it, looks up each segment and
/// returns a path of kind none, which then means that each segment is reachable. Looks up nothing for a rank
/// of another host.
Result<Path> find(const Job& job, const void* base, Side side, const StridedShape& shape, int rank) {
  const StridedShape::Extent& extent = side == Side::dst ? shape.dst_extent() : shape.src_extent();
  const Path whole = job.resolve(at(base, extent.low), extent.bytes(), rank);
  if (whole.kind != Path::Kind::none) return whole;
  const void* missing = nullptr;
  shape.for_each_segment([&](std::ptrdiff_t dst, std::ptrdiff_t src) {
    const void* const segment = at(base, side == Side::dst ? dst : src);
    if (job.resolve(segment, shape.segment_bytes(), rank).kind == Path::Kind::none) missing = segment;
    return missing == nullptr;
  });
  if (missing != nullptr) return unreachable(missing, shape.segment_bytes(), rank);
  return whole;
}

/// Does the same for a put or a get, and also looks up memory on another host.
Result<Path> find(const Job& job, RemoteAccess& remote_access, const void* base, Side side,
                  const StridedShape& shape, int rank) {
  auto found = find(job, base, side, shape, rank);
  if (!found.ok() || found->kind != Path::Kind::network) return found;
  const StridedShape::Extent& extent = side == Side::dst ? shape.dst_extent() : shape.src_extent();
  if (remote_access.network()->transfers().reachable(at(base, extent.low), extent.bytes(), rank).ok())
    return found;
  Status status;
  shape.for_each_segment([&](std::ptrdiff_t dst, std::ptrdiff_t src) {
    const void* const segment = at(base, side == Side::dst ? dst : src);
    status = remote_access.network()->transfers().reachable(segment, shape.segment_bytes(), rank);
    return status.ok();
  });
  if (!status.ok()) return status;
  return found;
}

/// Stores the result of `look`, one of the functions above, into `path`. Finds the usual case, that all of
/// the side is mapped here in one piece, inline and without a call.
template <typename Look>
[[gnu::always_inline]] inline Status find_at_once(const Job& job, const void* base,
                                                  const StridedShape::Extent& extent, int rank, Path& path,
                                                  const Look& look) {
  path = {.kind = Path::Kind::direct, .here = job.direct(at(base, extent.low), extent.bytes(), rank)};
  if (path.here != nullptr) [[likely]]
    return {};
  RMA_TRY_ASSIGN(found, look());
  path = found;
  return {};
}

/// Returns the layout of one side of a transfer that is not empty.
std::shared_ptr<const Layout> layout_of(const void* base, Side side, const StridedShape& shape) {
  std::array<Layout::Dimension, RMA_MAX_LEVELS> dimensions;
  const auto given = shape.dimensions();
  for (std::size_t i = 0; i < given.size(); ++i) {
    dimensions[i] = {.count = given[i].count,
                     .stride = side == Side::dst ? given[i].dst_stride : given[i].src_stride};
  }
  const std::ptrdiff_t start = side == Side::dst ? shape.dst_start() : shape.src_start();
  return std::make_shared<Layout>(
      Layout::strided(reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(start),
                      shape.segment_bytes(), {dimensions.data(), given.size()}));
}

/// Issues every segment by `move(dst, src)`, until one fails. If the target unregisters memory meanwhile, the
/// earlier segments have moved.
template <typename Move>
Status each_segment(void* dst, const void* src, const StridedShape& shape, const Move& move) {
  Status status;
  shape.for_each_segment([&](std::ptrdiff_t dst_offset, std::ptrdiff_t src_offset) {
    status = move(at(dst, dst_offset), at(src, src_offset));
    return status.ok();
  });
  return status;
}

/// Returns whether a get from memory that is not mapped reads what lies between the segments of the innermost
/// dimension, too, and drops it (data sieving: Thakur, Gropp, Lusk, Frontiers 1999). The system calls that
/// copy between processes take about as long for a segment more as for kMostGap bytes more.
bool sieves(const StridedShape& shape) {
  constexpr std::size_t kMostGap = 512;
  constexpr std::size_t kMostSegment = 1024;  // longer ones are not copied twice
  constexpr std::size_t kFewest = 4;          // of an own system call
  if (shape.dimensions().empty() || shape.segment_bytes() > kMostSegment) return false;
  const StridedShape::Dimension& inner = shape.dimensions().front();
  const auto stride = static_cast<std::size_t>(inner.src_stride);
  return inner.count >= kFewest && inner.src_stride > 0 && stride >= shape.segment_bytes() &&
         stride - shape.segment_bytes() <= kMostGap;
}

/// Executes a get for which sieves() is true.
Status get_by_sieve(const TransferPaths& paths, void* dst, const void* src, const StridedShape& shape,
                    int rank) {
  constexpr std::size_t kAtOnce = std::size_t{64} << 10U;  // stays in the cache until it is copied
  const StridedShape::Dimension inner = shape.dimensions().front();
  const std::size_t segment = shape.segment_bytes();
  const auto stride = static_cast<std::size_t>(inner.src_stride);
  const std::size_t most = std::min(inner.count, std::max<std::size_t>(kAtOnce / stride, 1));
  const auto read = std::make_unique_for_overwrite<std::byte[]>(most * stride);
  Status status;
  shape.for_each_outer(1, [&](std::ptrdiff_t to, std::ptrdiff_t from) {
    for (std::size_t left = inner.count; left > 0 && status.ok();) {
      const std::size_t count = std::min(most, left);
      Operation operation(paths.job, paths.remote_access, rank);
      status = operation.get(read.get(), at(src, from), (count - 1) * stride + segment);
      if (status.ok()) status = operation.end({});
      if (!status.ok()) break;
      const StridedShape::Dimension run = {
          .count = count, .dst_stride = inner.dst_stride, .src_stride = inner.src_stride};
      with_segment_size(segment, [&]<std::size_t kBytes>() {
        copy_nest<1, kBytes>(at(dst, to), read.get(), &run, segment, count * segment);
      });
      to += static_cast<std::ptrdiff_t>(count) * inner.dst_stride;
      from += static_cast<std::ptrdiff_t>(count) * inner.src_stride;
      left -= count;
    }
    return status.ok();
  });
  return status;
}

/// Executes a put if `kTheirs` is Side::dst, else a get.
template <Side kTheirs>
[[gnu::always_inline]] inline Status move_strided(const TransferPaths& paths, void* dst, const void* src,
                                                  const StridedShape& shape, int rank, const Ending& ending) {
  constexpr bool kPut = kTheirs == Side::dst;
  if (shape.empty()) return complete(ending);
  RMA_TRY(check_extents(dst, src, shape));
  const void* const theirs = kPut ? dst : src;
  const StridedShape::Extent& extent = kPut ? shape.dst_extent() : shape.src_extent();
  Path path;
  if (Status status =
          find_at_once(paths.job, theirs, extent, rank, path,
                       [&] { return find(paths.job, paths.remote_access, theirs, kTheirs, shape, rank); });
      !status.ok())
    return status;
  count(Counter::strided);
  count(kPut ? Counter::put_bytes : Counter::get_bytes, shape.bytes());
  if (path.here != nullptr) {
    std::byte* const base = path.here - extent.low;
    if constexpr (kPut) {
      copy_shape(base, static_cast<const std::byte*>(src), shape);
    } else {
      copy_shape(static_cast<std::byte*>(dst), base, shape);
    }
    return complete(ending);
  }
  if constexpr (!kPut) {
    if (path.kind == Path::Kind::foreign && sieves(shape) && paths.remote_access.permitted(rank)) {
      RMA_TRY(get_by_sieve(paths, dst, src, shape, rank));
      return complete(ending);
    }
  }
  const auto layout = [&](Side side) { return layout_of(side == Side::dst ? dst : src, side, shape); };
  const auto each = [&](const auto& move) {
    return each_segment(dst, src, shape,
                        [&](void* to, const void* from) { return move(to, from, shape.segment_bytes()); });
  };
  return transfer_segments(
      paths, kTheirs, rank,
      {.count = shape.segments(), .bytes = shape.bytes(), .foreign = path.kind == Path::Kind::foreign},
      layout, each, ending);
}

}  // namespace

Status put_strided(const TransferPaths& paths, void* dst, const void* src, const StridedShape& shape,
                   int rank, const Ending& ending) {
  return move_strided<Side::dst>(paths, dst, src, shape, rank, ending);
}

Status get_strided(const TransferPaths& paths, void* dst, const void* src, const StridedShape& shape,
                   int rank, const Ending& ending) {
  return move_strided<Side::src>(paths, dst, src, shape, rank, ending);
}

Status acc_strided(Accumulator& accumulator, void* dst, const void* src, const StridedShape& shape,
                   rma_type_t type, const void* scale, int rank) {
  if (shape.empty()) return {};
  if (shape.given_bytes() % type_size(type) != 0) {
    return {RMA_ERR_SIZE, text("counts[0] is {} bytes: expected a multiple of the element's {}",
                               shape.given_bytes(), type_size(type))};
  }
  // Every element is aligned if the first one is and all strides are multiples of the alignment.
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(dst);
  for (const StridedShape::Dimension& dimension : shape.dimensions()) {
    bits |= static_cast<std::uintptr_t>(dimension.dst_stride);
  }
  if (bits % type_alignment(type) != 0) {
    return {RMA_ERR_ALIGNMENT, text("elements from {} on, or strides between them, are not multiples of {}",
                                    static_cast<const void*>(dst), type_alignment(type))};
  }
  RMA_TRY(check_extents(dst, src, shape));
  Path path;
  if (Status status = find_at_once(accumulator.job(), dst, shape.dst_extent(), rank, path,
                                   [&] { return find(accumulator.job(), dst, Side::dst, shape, rank); });
      !status.ok())
    return status;
  count(Counter::strided);
  count(Counter::accumulate);
  if (!accumulator.job().mapped(rank) && accumulator.remote() != nullptr) {
    return accumulator.remote()->accumulate(layout_of(dst, Side::dst, shape),
                                            layout_of(src, Side::src, shape), type, scale, rank);
  }
  Accumulation accumulation(accumulator, type, scale, rank);
  if (std::byte* const here = path.here; here != nullptr) {
    std::byte* const base = here - shape.dst_extent().low;
    shape.for_each_segment([&](std::ptrdiff_t to, std::ptrdiff_t from) {
      accumulation.add_mapped(base + to, at(dst, to), at(src, from), shape.segment_bytes());
      return true;
    });
    return {};
  }
  return each_segment(dst, src, shape, [&](void* to, const void* from) {
    return accumulation.add(to, from, shape.segment_bytes());
  });
}

}  // namespace librma
