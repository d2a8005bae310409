// Cartesian topologies.

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/topologies/topology.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

std::vector<int> Cartesian::coordinates(int rank) const {
  std::vector<int> result(dims.size());
  for (std::size_t i = dims.size(); i-- > 0;) {
    result[i] = rank % dims[i];
    rank /= dims[i];
  }
  return result;
}

int Cartesian::rank_at(const std::vector<int>& coordinates) const {
  int rank = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    int place = coordinates[i];
    if (place < 0 || place >= dims[i]) {
      if (periods[i] == 0) return MPI_PROC_NULL;
      place = (place % dims[i] + dims[i]) % dims[i];
    }
    rank = rank * dims[i] + place;
  }
  return rank;
}

int Cartesian::neighbor(int rank, std::size_t dimension, int displacement) const {
  std::vector<int> there = coordinates(rank);
  long place = static_cast<long>(there[dimension]) + displacement;
  if (periods[dimension] != 0) place %= dims[dimension];  // so that it is an int again
  if (place >= dims[dimension] || (periods[dimension] == 0 && place < 0)) return MPI_PROC_NULL;
  there[dimension] = static_cast<int>(place);
  return rank_at(there);
}

namespace {

int check_member(const Communicator& comm, int rank) {
  if (rank >= 0 && rank < comm.size()) return MPI_SUCCESS;
  return failure(MPI_ERR_RANK,
                 fmt::format("rank {} is not in a communicator of {} processes", rank, comm.size()));
}

Cartesian grid_of(int count, const int* dims, const int* periods) {
  Cartesian grid = {.dims = {dims, dims + count}, .periods = {periods, periods + count}};
  for (int& period : grid.periods) period = period != 0 ? 1 : 0;
  return grid;
}

}  // namespace

int cart_create(MPI_Comm handle, int count, const int dims[], const int periods[], int /*reorder*/,
                MPI_Comm* made) {
  int size = 0;
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  RMA_TRY(check_grid(count, dims, periods, comm->size(), size));
  return make_with_topology(*comm, size, grid_of(count, dims, periods), made);
}

// The rank that cart_create() gives the process.
int cart_map(MPI_Comm handle, int count, const int dims[], const int periods[], int* rank) {
  int size = 0;
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  RMA_TRY(check_grid(count, dims, periods, comm->size(), size));
  *rank = comm->rank() < size ? comm->rank() : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int cartdim_get(MPI_Comm handle, int* count) {
  RMA_TRY_ASSIGN(grid, find_topology<Cartesian>(handle));
  *count = static_cast<int>(grid->dims.size());
  return MPI_SUCCESS;
}

int cart_get(MPI_Comm handle, int room, int dims[], int periods[], int coords[]) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  RMA_TRY_ASSIGN(grid, find_topology<Cartesian>(*comm));
  RMA_TRY(copy_out(grid->dims, room, dims));
  RMA_TRY(copy_out(grid->periods, room, periods));
  return copy_out(grid->coordinates(comm->rank()), room, coords);
}

int cart_rank(MPI_Comm handle, const int coords[], int* rank) {
  RMA_TRY_ASSIGN(grid, find_topology<Cartesian>(handle));
  if (coords == nullptr && !grid->dims.empty()) return failure(MPI_ERR_ARG, "coords is null");
  const int found = grid->rank_at({coords, coords + grid->dims.size()});
  if (found == MPI_PROC_NULL)
    return failure(MPI_ERR_ARG, "a coordinate lies outside the grid, in a dimension that is not periodic");
  *rank = found;
  return MPI_SUCCESS;
}

int cart_coords(MPI_Comm handle, int rank, int room, int coords[]) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  RMA_TRY_ASSIGN(grid, find_topology<Cartesian>(*comm));
  RMA_TRY(check_member(*comm, rank));
  return copy_out(grid->coordinates(rank), room, coords);
}

int cart_shift(MPI_Comm handle, int direction, int displacement, int* source, int* destination) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  RMA_TRY_ASSIGN(grid, find_topology<Cartesian>(*comm));
  const auto count = static_cast<int>(grid->dims.size());
  if (direction < 0 || direction >= count)
    return failure(MPI_ERR_DIMS, fmt::format("direction {} of a grid of {} dimensions", direction, count));
  if (displacement == INT_MIN) return failure(MPI_ERR_ARG, "disp has no opposite");
  const auto dimension = static_cast<std::size_t>(direction);
  *source = grid->neighbor(comm->rank(), dimension, -displacement);
  *destination = grid->neighbor(comm->rank(), dimension, displacement);
  return MPI_SUCCESS;
}

// Every process knows who is in its part of the grid, so the members only agree on a context.
int cart_sub(MPI_Comm handle, const int remain[], MPI_Comm* made) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  RMA_TRY_ASSIGN(grid, find_topology<Cartesian>(*comm));
  if (remain == nullptr && !grid->dims.empty()) return failure(MPI_ERR_ARG, "remain_dims is null");
  Cartesian part;
  std::vector<std::size_t> dropped;
  for (std::size_t i = 0; i < grid->dims.size(); ++i) {
    if (remain[i] != 0) {
      part.dims.push_back(grid->dims[i]);
      part.periods.push_back(grid->periods[i]);
    } else {
      dropped.push_back(i);
    }
  }
  const std::vector<int> own = grid->coordinates(comm->rank());
  std::vector<int> ranks;
  for (int rank = 0; rank < comm->size(); ++rank) {
    const std::vector<int> place = grid->coordinates(rank);
    if (std::ranges::all_of(dropped, [&](std::size_t i) { return place[i] == own[i]; }))
      ranks.push_back(rank);
  }
  RMA_TRY(make_communicator(*comm, ranks, made));
  auto& sub = *find<Communicator>(*made);
  sub.topology = std::make_shared<const Topology>(std::move(part), sub.rank());
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
