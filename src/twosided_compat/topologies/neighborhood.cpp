#include "twosided_compat/topologies/neighborhood.hpp"

#include <utility>

#include "twosided_compat/topologies/topology.hpp"
#include "util/try.hpp"

namespace librma::mpi {

Neighborhood::Neighborhood(std::vector<int> all_sources, std::vector<int> all_destinations, bool grid)
    : sources(std::move(all_sources)), destinations(std::move(all_destinations)), is_grid(grid) {
  const auto add = [](Processes& to, const std::vector<int>& all, int place) {
    const int rank = all[static_cast<std::size_t>(place)];
    if (rank == MPI_PROC_NULL) return;
    to.places.push_back(place);
    to.ranks.push_back(rank);
  };
  for (int i = 0; i < static_cast<int>(sources.size()); ++i) add(arrivals_, sources, is_grid ? i ^ 1 : i);
  for (int i = 0; i < static_cast<int>(destinations.size()); ++i) add(departures_, destinations, i);
}

Neighborhood Cartesian::neighborhood(int rank) const {
  std::vector<int> neighbors;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    for (const int step : {-1, 1}) neighbors.push_back(neighbor(rank, i, step));
  }
  return {neighbors, neighbors, true};
}

Neighborhood Graph::neighborhood(int rank) const { return {neighbors(rank), neighbors(rank), false}; }

Neighborhood DistributedGraph::neighborhood(int /*rank*/) const { return {sources, destinations, false}; }

int find_neighborhood(MPI_Comm handle, Communicator*& comm, const Neighborhood*& all) {
  RMA_TRY(find_communicator(handle).store(comm));
  if (comm->topology == nullptr) return failure(MPI_ERR_TOPOLOGY, "the communicator has no topology");
  all = &comm->topology->neighborhood;
  return MPI_SUCCESS;
}

int check_array(const void* array, const std::vector<int>& neighbors) {
  if (array == nullptr && !neighbors.empty())
    return failure(MPI_ERR_ARG, "an array of counts, displacements or types is null");
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
