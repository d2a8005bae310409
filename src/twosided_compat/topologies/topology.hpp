#pragma once

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "mpi.h"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/topologies/neighborhood.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

/// A grid: the ranks lie in it in row-major order.
struct Cartesian {
  std::vector<int> dims;
  std::vector<int> periods;  ///< 1 if the dimension is a ring, else 0

  /// Returns the coordinates of a rank.
  [[nodiscard]] std::vector<int> coordinates(int rank) const;
  /// Returns the rank at coordinates, or MPI_PROC_NULL if they lie outside a dimension that is no ring.
  [[nodiscard]] int rank_at(const std::vector<int>& coordinates) const;
  /// Returns the rank that lies `displacement` steps from `rank` in one dimension, or MPI_PROC_NULL.
  [[nodiscard]] int neighbor(int rank, std::size_t dimension, int displacement) const;
  [[nodiscard]] Neighborhood neighborhood(int rank) const;
};

/// A graph that every process knows. The neighbours of rank r are edges[index[r - 1]] to edges[index[r] - 1].
struct Graph {
  std::vector<int> index;
  std::vector<int> edges;

  [[nodiscard]] std::vector<int> neighbors(int rank) const;
  [[nodiscard]] Neighborhood neighborhood(int rank) const;
};

/// The edges of a distributed graph that begin or end at this process. The weights are empty if the graph has
/// none.
struct DistributedGraph {
  std::vector<int> sources;
  std::vector<int> source_weights;
  std::vector<int> destinations;
  std::vector<int> destination_weights;
  bool weighted = false;

  [[nodiscard]] Neighborhood neighborhood(int rank) const;
};

/// The topology of a communicator (MPI 4.1, chapter 8), with this process's neighbours. It never changes.
struct Topology {
  using Shape = std::variant<Cartesian, Graph, DistributedGraph>;
  /// `rank`: that of this process in the communicator.
  Topology(Shape its_shape, int rank)
      : shape(std::move(its_shape)),
        neighborhood(std::visit([rank](const auto& form) { return form.neighborhood(rank); }, shape)) {}

  const Shape shape;
  const Neighborhood neighborhood;
};

/// Finds the topology of one shape that a communicator has. MPI_ERR_TOPOLOGY, and MPI_ERR_COMM of a handle.
template <class Shape>
[[nodiscard]] Found<const Shape> find_topology(const Communicator& comm) {
  const auto* shape = comm.topology != nullptr ? std::get_if<Shape>(&comm.topology->shape) : nullptr;
  if (shape == nullptr) return failure(MPI_ERR_TOPOLOGY, "the communicator has no topology of this kind");
  return shape;
}
template <class Shape>
[[nodiscard]] Found<const Shape> find_topology(MPI_Comm handle) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  return find_topology<Shape>(*comm);
}

/// Makes the communicator of the first `size` members of `parent`, and gives it a topology. All members call
/// it. The others get MPI_COMM_NULL.
[[nodiscard]] int make_with_topology(const Communicator& parent, int size, Topology::Shape shape,
                                     MPI_Comm* made);

/// Copies as many of `values` as the program's array has room for.
[[nodiscard]] int copy_out(const std::vector<int>& values, int room, int* array);

/// Checks the dimensions of a grid for at most `limit` processes, and sets `size` to their product.
/// MPI_ERR_DIMS, MPI_ERR_ARG.
[[nodiscard]] int check_grid(int count, const int* dims, const int* periods, int limit, int& size);
/// Checks the arrays of a graph of at most `limit` nodes. MPI_ERR_ARG.
[[nodiscard]] int check_graph(int nodes, const int* index, const int* edges, int limit);

}  // namespace librma::mpi
