// Transfers between two layouts, of which each is contiguous or a datatype's.

#include "twosided_compat/windows/window_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "twosided_compat/datatypes/noncontiguous.hpp"

namespace librma::mpi {
namespace {

/// The arguments of a strided transfer, the target's addresses among them.
struct StridedCopy {
  std::byte* local = nullptr;
  std::byte* remote = nullptr;
  std::array<std::ptrdiff_t, RMA_MAX_LEVELS> local_strides = {};
  std::array<std::ptrdiff_t, RMA_MAX_LEVELS> remote_strides = {};
  std::array<std::size_t, RMA_MAX_LEVELS + 1> counts = {};
  int levels = 0;
};

std::byte* moved(std::byte* base, MPI_Count distance) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                      static_cast<std::uintptr_t>(distance));
}

/// Returns the grid of a buffer's data; that of contiguous data has no dimensions.
std::optional<TypeMap::Grid> grid_of(const Buffer& buffer) {
  if (buffer.is_contiguous())
    return TypeMap::Grid{.start = 0, .bytes = static_cast<MPI_Count>(buffer.bytes), .dimensions = {}};
  return buffer.type->map_of(buffer.count).grid();
}

/// Gives contiguous data the dimensions of the other side.
void divide(TypeMap::Grid& contiguous, const TypeMap::Grid& like) {
  MPI_Count stride = like.bytes;
  for (const TypeMap::Dimension& dimension : like.dimensions) {
    contiguous.dimensions.push_back({.count = dimension.count, .stride = stride});
    stride *= dimension.count;
  }
  contiguous.bytes = like.bytes;
}

/// Returns whether two grids of as many data have as many parts along each dimension. Then the parts have as
/// many bytes.
bool same_counts(const TypeMap::Grid& one, const TypeMap::Grid& other) {
  return std::ranges::equal(one.dimensions, other.dimensions, {}, &TypeMap::Dimension::count,
                            &TypeMap::Dimension::count);
}

/// Returns the transfer of all data of both sides, which are as many, or no value if no strided transfer does
/// it.
std::optional<StridedCopy> strided_copy(const Buffer& local, const Buffer& remote) {
  std::optional<TypeMap::Grid> here = grid_of(local);
  std::optional<TypeMap::Grid> there = grid_of(remote);
  if (!here || !there) return std::nullopt;
  if (here->dimensions.empty()) divide(*here, *there);
  if (there->dimensions.empty()) divide(*there, *here);
  if (!same_counts(*here, *there) || here->dimensions.size() > RMA_MAX_LEVELS) return std::nullopt;
  StridedCopy copy;
  copy.local = moved(local.data, here->start);
  copy.remote = moved(remote.data, there->start);
  copy.counts[0] = static_cast<std::size_t>(here->bytes);
  for (std::size_t level = 0; level < here->dimensions.size(); ++level) {
    copy.local_strides[level] = here->dimensions[level].stride;
    copy.remote_strides[level] = there->dimensions[level].stride;
    copy.counts[level + 1] = static_cast<std::size_t>(here->dimensions[level].count);
  }
  copy.levels = static_cast<int>(here->dimensions.size());
  return copy;
}

rma_status_t transfer_strided(Direction direction, const StridedCopy& copy, int rank,
                              rma_request_t* request) {
  const std::ptrdiff_t* const local = copy.local_strides.data();
  const std::ptrdiff_t* const remote = copy.remote_strides.data();
  const std::size_t* const counts = copy.counts.data();
  if (direction == Direction::kPut) {
    return request != nullptr
               ? rma_put_strided_nb(copy.remote, remote, copy.local, local, counts, copy.levels, rank,
                                    request)
               : rma_put_strided_nbi(copy.remote, remote, copy.local, local, counts, copy.levels, rank);
  }
  return request != nullptr
             ? rma_get_strided_nb(copy.local, local, copy.remote, remote, counts, copy.levels, rank, request)
             : rma_get_strided_nbi(copy.local, local, copy.remote, remote, counts, copy.levels, rank);
}

/// Calls visit(local, remote, bytes) for pieces that are contiguous on both sides, in the order of the data.
template <class Visit>
void for_each_pair(const Buffer& local, const Buffer& remote, std::size_t bytes, const Visit& visit) {
  struct Piece {
    std::byte* at;
    std::size_t bytes;
  };
  std::vector<Piece> pieces;
  local.visit(bytes, [&](std::byte* at, std::size_t size) { pieces.push_back({at, size}); });
  auto piece = pieces.begin();
  remote.visit(bytes, [&](std::byte* at, std::size_t left) {
    while (left > 0) {
      const std::size_t size = std::min(left, piece->bytes);
      visit(piece->at, at, size);
      at += size;
      left -= size;
      piece->at += size;
      piece->bytes -= size;
      if (piece->bytes == 0) ++piece;
    }
  });
}

/// The lists of vector transfers. Transfers the segments whenever there are many.
class VectorCopy {
 public:
  VectorCopy(Direction direction, int rank) : direction_(direction), rank_(rank) {}

  void add(std::byte* local, std::byte* remote, std::size_t bytes) {
    if (local_.size() == kMostPartsOfTransfer && status_ == RMA_SUCCESS) status_ = run(nullptr);
    if (runs_.empty() || runs_.back().bytes != bytes)
      runs_.push_back({.first = local_.size(), .bytes = bytes});
    local_.push_back(local);
    remote_.push_back(remote);
  }
  /// Transfers the last segments.
  [[nodiscard]] rma_status_t finish(rma_request_t* request) {
    return status_ == RMA_SUCCESS ? run(request) : status_;
  }

 private:
  /// Segments of equal size that follow each other.
  struct Run {
    std::size_t first;
    std::size_t bytes;
  };

  [[nodiscard]] rma_status_t run(rma_request_t* request) {
    const bool puts = direction_ == Direction::kPut;
    std::vector<const void*> sources(puts ? local_.begin() : remote_.begin(),
                                     puts ? local_.end() : remote_.end());
    std::vector<void*>& destinations = puts ? remote_ : local_;
    std::vector<rma_iov_t> list;
    list.reserve(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::size_t end = i + 1 < runs_.size() ? runs_[i + 1].first : local_.size();
      list.push_back({.dst = destinations.data() + runs_[i].first,
                      .src = sources.data() + runs_[i].first,
                      .segments = end - runs_[i].first,
                      .bytes = runs_[i].bytes});
    }
    const rma_status_t status = call(list, request);
    local_.clear();
    remote_.clear();
    runs_.clear();
    return status;
  }
  /// All but the last segments of a transfer with a request go by blocking calls, because there is one
  /// request.
  [[nodiscard]] rma_status_t call(const std::vector<rma_iov_t>& list, rma_request_t* request) const {
    if (direction_ == Direction::kPut) {
      return request != nullptr ? rma_put_vector_nb(list.data(), list.size(), rank_, request)
                                : rma_put_vector(list.data(), list.size(), rank_);
    }
    return request != nullptr ? rma_get_vector_nb(list.data(), list.size(), rank_, request)
                              : rma_get_vector(list.data(), list.size(), rank_);
  }

  const Direction direction_;
  const int rank_;
  rma_status_t status_ = RMA_SUCCESS;
  std::vector<void*> local_;
  std::vector<void*> remote_;
  std::vector<Run> runs_;
};

rma_status_t transfer_contiguous(Direction direction, std::byte* local, std::byte* remote, std::size_t bytes,
                                 int rank, rma_request_t* request) {
  if (direction == Direction::kPut) {
    return request != nullptr ? rma_put_nb(remote, local, bytes, rank, request)
                              : rma_put_nbi(remote, local, bytes, rank);
  }
  return request != nullptr ? rma_get_nb(local, remote, bytes, rank, request)
                            : rma_get_nbi(local, remote, bytes, rank);
}

/// Moves a target inside of its owner's static data to the place where these lie in the heap, if they do. All
/// of its bytes are in the `bytes` bytes at `first`.
void move_to_heap(Target& target, std::uintptr_t first, std::size_t bytes) {
  const std::uintptr_t there = target.part->data.common_address(first, bytes);
  target.buffer.data = moved(target.buffer.data, static_cast<MPI_Count>(there - first));
}

}  // namespace

int find_target(Window& win, int rank, MPI_Aint disp, MPI_Count count, MPI_Datatype type, Target& target) {
  if (rank < 0 || rank >= win.size())
    return failure(MPI_ERR_RANK, fmt::format("the target is rank {} of {}", rank, win.size()));
  target.part = win.accessible(rank);
  if (target.part == nullptr) {
    static_cast<void>(failure(MPI_ERR_RMA_SYNC, fmt::format("no epoch gives access to rank {}", rank)));
    return MPI_ERR_RMA_SYNC;  // a constant, so that clang's analyzer knows that there is no part
  }
  const WindowPart& part = *target.part;
  // A displacement in a dynamic window is an address, so it may be any number there.
  if (disp < 0 && !win.is_dynamic())
    return failure(MPI_ERR_DISP, fmt::format("the displacement is {}", disp));
  std::size_t offset = 0;
  const bool overflows = __builtin_mul_overflow(static_cast<std::size_t>(disp), part.unit, &offset);
  // The address of an empty target does not matter; find_buffer() refuses null.
  const std::uintptr_t address = part.base + offset;
  if (const int code = find_buffer(reinterpret_cast<const void*>(address), count, type, target.buffer);
      code != MPI_SUCCESS) {
    return code == MPI_ERR_BUFFER ? failure(MPI_ERR_RMA_RANGE, "the target address is null") : code;
  }
  if (target.buffer.bytes == 0) return MPI_SUCCESS;
  // A datatype's data may be contiguous and yet not begin at the address.
  auto low = static_cast<MPI_Count>(reinterpret_cast<std::uintptr_t>(target.buffer.data) - address);
  auto high = low + static_cast<MPI_Count>(target.buffer.bytes);
  if (!target.buffer.is_contiguous()) {
    const TypeMap map = target.buffer.type->map_of(count);
    low = map.low();
    high = map.high();
  }
  MPI_Count first = 0;
  MPI_Count end = 0;
  const bool outside = overflows ||
                       offset > static_cast<std::size_t>(std::numeric_limits<MPI_Count>::max()) ||
                       __builtin_add_overflow(static_cast<MPI_Count>(offset), low, &first) ||
                       __builtin_add_overflow(static_cast<MPI_Count>(offset), high, &end) || first < 0 ||
                       static_cast<std::size_t>(end) > part.bytes;
  if (!outside) {
    move_to_heap(target, static_cast<std::uintptr_t>(first), static_cast<std::size_t>(high - low));
    return MPI_SUCCESS;
  }
  return failure(MPI_ERR_RMA_RANGE,
                 fmt::format("the window of rank {} has {} bytes, and the target begins at {} and has {}",
                             rank, part.bytes, offset, high - low));
}

rma_status_t transfer(Direction direction, const Buffer& local, const Target& target, std::size_t bytes,
                      rma_request_t* request) {
  if (request != nullptr) *request = RMA_REQUEST_NULL;
  if (bytes == 0) return RMA_SUCCESS;
  const Buffer& remote = target.buffer;
  const int owner = target.part->owner;
  if (local.is_contiguous() && remote.is_contiguous())
    return transfer_contiguous(direction, local.data, remote.data, bytes, owner, request);
  if (local.bytes == bytes && remote.bytes == bytes) {
    if (const auto copy = strided_copy(local, remote))
      return transfer_strided(direction, *copy, owner, request);
  }
  if (target.part->here != nullptr) {
    for_each_pair(local, remote, bytes, [&](std::byte* at, std::byte* there, std::size_t size) {
      std::byte* const here = mapped(target, there);
      std::memcpy(direction == Direction::kPut ? here : at, direction == Direction::kPut ? at : here, size);
    });
    return RMA_SUCCESS;
  }
  VectorCopy copy(direction, owner);
  for_each_pair(local, remote, bytes,
                [&](std::byte* at, std::byte* there, std::size_t size) { copy.add(at, there, size); });
  return copy.finish(request);
}

}  // namespace librma::mpi
