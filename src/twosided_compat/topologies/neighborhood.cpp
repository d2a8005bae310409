#include "twosided_compat/topologies/neighborhood.hpp"

#include "twosided_compat/topologies/topology.hpp"
#include "util/try.hpp"

namespace rma::mpi {
namespace {

Neighborhood neighborhood_of(const Cartesian& grid, int rank) {
  Neighborhood all;
  for (std::size_t i = 0; i < grid.dims.size(); ++i) {
    for (const int step : {-1, 1}) all.sources.push_back(grid.neighbor(rank, i, step));
  }
  all.destinations = all.sources;
  all.is_grid = true;
  return all;
}

}  // namespace

int find_neighborhood(MPI_Comm handle, Communicator*& comm, Neighborhood& all) {
  RMA_TRY(find_communicator(handle, comm));
  if (comm->topology == nullptr) return failure(MPI_ERR_TOPOLOGY, "the communicator has no topology");
  const auto& shape = comm->topology->shape;
  if (const auto* const grid = std::get_if<Cartesian>(&shape)) {
    all = neighborhood_of(*grid, comm->rank());
  } else if (const auto* const graph = std::get_if<Graph>(&shape)) {
    all.sources = graph->neighbors(comm->rank());
    all.destinations = all.sources;
  } else {
    const auto& distributed = std::get<DistributedGraph>(shape);
    all.sources = distributed.sources;
    all.destinations = distributed.destinations;
  }
  return MPI_SUCCESS;
}

int check_array(const void* array, const std::vector<int>& neighbors) {
  if (array == nullptr && !neighbors.empty())
    return failure(MPI_ERR_ARG, "an array of counts, displacements or types is null");
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
