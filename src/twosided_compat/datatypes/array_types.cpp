// The datatypes of parts of arrays: a block of one, and the part of a process in a distributed one.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "twosided_compat/binding/checked_arithmetic.hpp"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

int check_array(int dimensions, const Counts& sizes, int order) {
  if (dimensions < 1) return failure(MPI_ERR_ARG, fmt::format("the array has {} dimensions", dimensions));
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return failure(MPI_ERR_ARG, "order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN");
  if (sizes.is_null()) return failure(MPI_ERR_ARG, "the array of sizes is null");
  for (int i = 0; i < dimensions; ++i) {
    if (sizes[i] < 1) return failure(MPI_ERR_ARG, fmt::format("dimension {} has the size {}", i, sizes[i]));
  }
  return MPI_SUCCESS;
}

/// Returns the dimensions, the one with the smallest stride first.
std::vector<int> fastest_first(int dimensions, int order) {
  std::vector<int> numbers(static_cast<std::size_t>(dimensions));
  std::iota(numbers.begin(), numbers.end(), 0);
  if (order == MPI_ORDER_C) std::ranges::reverse(numbers);
  return numbers;
}

/// A part of an array that grows dimension by dimension, from the one with the smallest stride on.
class ArrayPart {
 public:
  explicit ArrayPart(const Datatype& element) : layout_(element.layout()), stride_(element.bounds().extent) {}

  /// Takes the indices [start, start + count) of a dimension of `size` indices.
  void take(MPI_Count start, MPI_Count count, MPI_Count size) {
    layout_ = blocks(start, count, 1, 0);
    widen(size);
  }
  /// Takes the blocks of `block` indices that begin at `start` and go on at a distance of `distance` indices.
  void take_cyclic(MPI_Count start, MPI_Count block, MPI_Count distance, MPI_Count size) {
    const MPI_Count left = std::max<MPI_Count>(size - start, 0);
    const MPI_Count whole = left / distance + (left % distance >= block ? 1 : 0);
    const MPI_Count rest = left % distance < block ? left % distance : 0;
    std::vector<TypeLayout> parts;
    parts.push_back(blocks(start, block, whole, distance));
    parts.push_back(blocks(start + whole * distance, rest, 1, 0));
    layout_ = TypeLayout::joined(std::move(parts));
    widen(size);
  }
  /// Returns the layout. Its extent is that of the whole array.
  [[nodiscard]] TypeLayout layout() const {
    const TypeLayout layout = layout_.resized(0, stride_);
    return overflows_ ? layout.overflown() : layout;
  }

 private:
  [[nodiscard]] TypeLayout blocks(MPI_Count start, MPI_Count length, MPI_Count count, MPI_Count distance) {
    const MPI_Count from = times(start, stride_, overflows_);
    const MPI_Count step = times(distance, stride_, overflows_);
    return layout_.repeated(length, stride_).repeated(count, step).moved(from);
  }
  void widen(MPI_Count size) { stride_ = times(stride_, size, overflows_); }

  TypeLayout layout_;
  MPI_Count stride_;  // of the next dimension, in bytes
  bool overflows_ = false;
};

}  // namespace

int type_create_subarray(int dimensions, Counts sizes, Counts subsizes, Counts starts, int order,
                         MPI_Datatype oldtype, MPI_Datatype* newtype, Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  RMA_TRY(check_array(dimensions, sizes, order));
  if (subsizes.is_null() || starts.is_null()) return failure(MPI_ERR_ARG, "an array is null");
  for (int i = 0; i < dimensions; ++i) {
    if (subsizes[i] < 1 || subsizes[i] > sizes[i] || starts[i] < 0 || starts[i] > sizes[i] - subsizes[i]) {
      return failure(MPI_ERR_ARG, fmt::format("dimension {}: {} indices from {} on, of {}", i, subsizes[i],
                                              starts[i], sizes[i]));
    }
  }
  ArrayPart part(*type);
  for (const int i : fastest_first(dimensions, order)) part.take(starts[i], subsizes[i], sizes[i]);
  TypeContents contents(MPI_COMBINER_SUBARRAY, form);
  contents.add_int(dimensions).add_counts(sizes, dimensions).add_counts(subsizes, dimensions);
  contents.add_counts(starts, dimensions).add_int(order).add_type(*type);
  return make_datatype(part.layout(), std::move(contents), newtype);
}

namespace {

/// How one dimension of a distributed array is divided.
struct Distribution {
  int kind;
  int argument;
  int processes;
};

/// Returns the length of the blocks in which a dimension is dealt out, or 0 if the arguments are wrong.
MPI_Count block_length(const Distribution& distribution, MPI_Count size) {
  const auto [kind, argument, processes] = distribution;
  if (processes < 1 || (argument < 1 && argument != MPI_DISTRIBUTE_DFLT_DARG)) return 0;
  const bool given = argument != MPI_DISTRIBUTE_DFLT_DARG;
  switch (kind) {
    case MPI_DISTRIBUTE_NONE:
      return processes == 1 ? size : 0;
    case MPI_DISTRIBUTE_CYCLIC:
      return given ? argument : 1;
    case MPI_DISTRIBUTE_BLOCK: {
      const MPI_Count least = size / processes + (size % processes != 0 ? 1 : 0);
      if (!given) return least;
      return argument >= least ? argument : 0;
    }
    default:
      return 0;
  }
}

}  // namespace

int type_create_darray(int size, int rank, int dimensions, Counts sizes, const int distributions[],
                       const int arguments[], const int process_counts[], int order, MPI_Datatype oldtype,
                       MPI_Datatype* newtype, Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  RMA_TRY(check_array(dimensions, sizes, order));
  if (distributions == nullptr || arguments == nullptr || process_counts == nullptr)
    return failure(MPI_ERR_ARG, "an array is null");
  if (size < 1 || rank < 0 || rank >= size)
    return failure(MPI_ERR_ARG, fmt::format("rank {} of {} processes", rank, size));

  // The grid of processes is in the order of C, whatever the array's order is.
  std::vector<int> place(static_cast<std::size_t>(dimensions));
  int left = rank;
  MPI_Count processes = 1;
  for (int i = dimensions - 1; i >= 0; --i) {
    const Distribution distribution = {distributions[i], arguments[i], process_counts[i]};
    if (block_length(distribution, sizes[i]) == 0) {
      return failure(MPI_ERR_ARG,
                     fmt::format("dimension {} of {} indices cannot be divided so among {} processes", i,
                                 sizes[i], process_counts[i]));
    }
    place[static_cast<std::size_t>(i)] = left % process_counts[i];
    left /= process_counts[i];
    processes = std::min<MPI_Count>(processes * process_counts[i], MPI_Count{size} + 1);
  }
  if (processes != size) return failure(MPI_ERR_ARG, "the grid has not as many processes as size says");

  ArrayPart part(*type);
  for (const int i : fastest_first(dimensions, order)) {
    const MPI_Count block = block_length({distributions[i], arguments[i], process_counts[i]}, sizes[i]);
    // A longer block is the whole dimension, and what begins behind the dimension has no indices.
    const MPI_Count length = std::min(block, sizes[i]);
    const auto blocks = [&](MPI_Count count) {
      return count > sizes[i] / length ? sizes[i] : count * length;
    };
    part.take_cyclic(blocks(place[static_cast<std::size_t>(i)]), length, blocks(process_counts[i]), sizes[i]);
  }
  TypeContents contents(MPI_COMBINER_DARRAY, form);
  contents.add_int(size).add_int(rank).add_int(dimensions).add_counts(sizes, dimensions);
  contents.add_ints(distributions, dimensions).add_ints(arguments, dimensions);
  contents.add_ints(process_counts, dimensions).add_int(order).add_type(*type);
  return make_datatype(part.layout(), std::move(contents), newtype);
}

}  // namespace librma::mpi
