// The common part of all topologies: communicators that have one, and the checks of arguments.

#include "twosided_compat/topologies/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "twosided_compat/calls.hpp"
#include "util/try.hpp"

namespace librma::mpi {

// The ranks stay as they are: no order is known to be better on the hosts of the job, and the standard allows
// it.
int make_with_topology(const Communicator& parent, int size, Topology::Shape shape, MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  if (parent.rank() >= size) return MPI_SUCCESS;
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  RMA_TRY(make_communicator(parent, ranks, made));
  find<Communicator>(*made)->topology = std::make_shared<const Topology>(std::move(shape), parent.rank());
  return MPI_SUCCESS;
}

int copy_out(const std::vector<int>& values, int room, int* array) {
  if (room < 0) return failure(MPI_ERR_ARG, fmt::format("the length of an array is {}", room));
  const std::size_t count = std::min(values.size(), static_cast<std::size_t>(room));
  if (count != 0 && array == nullptr) return failure(MPI_ERR_ARG, "an array is null");
  std::copy_n(values.begin(), count, array);
  return MPI_SUCCESS;
}

int check_grid(int count, const int* dims, const int* periods, int limit, int& size) {
  if (count < 0) return failure(MPI_ERR_DIMS, fmt::format("ndims is {}", count));
  if (count != 0 && (dims == nullptr || periods == nullptr))
    return failure(MPI_ERR_ARG, "dims or periods is null");
  size = 1;
  for (int i = 0; i < count; ++i) {
    if (dims[i] <= 0) return failure(MPI_ERR_DIMS, fmt::format("dimension {} has the length {}", i, dims[i]));
    if (__builtin_mul_overflow(size, dims[i], &size) || size > limit)
      return failure(MPI_ERR_ARG,
                     fmt::format("the grid has more than the {} processes of the communicator", limit));
  }
  return MPI_SUCCESS;
}

int check_graph(int nodes, const int* index, const int* edges, int limit) {
  if (nodes < 0 || nodes > limit)
    return failure(MPI_ERR_ARG,
                   fmt::format("nnodes is {}, and the communicator has {} processes", nodes, limit));
  if (nodes != 0 && index == nullptr) return failure(MPI_ERR_ARG, "index is null");
  for (int node = 0; node < nodes; ++node) {
    if (index[node] < (node == 0 ? 0 : index[node - 1]))
      return failure(MPI_ERR_ARG, fmt::format("index decreases at node {}", node));
  }
  const int count = nodes != 0 ? index[nodes - 1] : 0;
  if (count != 0 && edges == nullptr) return failure(MPI_ERR_ARG, "edges is null");
  for (int i = 0; i < count; ++i) {
    if (edges[i] < 0 || edges[i] >= nodes)
      return failure(MPI_ERR_ARG,
                     fmt::format("edge {} ends at {}, and the graph has {} nodes", i, edges[i], nodes));
  }
  return MPI_SUCCESS;
}

int topo_test(MPI_Comm handle, int* status) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  if (comm->topology == nullptr) {
    *status = MPI_UNDEFINED;
  } else if (std::holds_alternative<Cartesian>(comm->topology->shape)) {
    *status = MPI_CART;
  } else {
    *status = std::holds_alternative<Graph>(comm->topology->shape) ? MPI_GRAPH : MPI_DIST_GRAPH;
  }
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
