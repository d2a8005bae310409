#pragma once

#include <vector>

#include "check.hpp"

// Two groups of processes that an intercommunicator connects.

namespace mpi_test {

/// Divides MPI_COMM_WORLD into two groups, of which the first has the ranks below `limit`, and connects them.
/// The first group's leader is its last process.
[[nodiscard]] inline MPI_Comm connect(int limit, MPI_Comm& local) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const bool low = rank < limit;
  MPI_Comm inter = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, rank, &local));
  MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
  SUCCEEDS(
      MPI_Intercomm_create(local, low ? limit - 1 : 0, MPI_COMM_WORLD, low ? limit : limit - 1, 12, &inter));
  return inter;
}

struct Sides {
  int rank;
  int size;
  int remote;
  bool low;

  Sides(MPI_Comm inter, int limit)
      : rank(rank_in(inter)), size(size_of(inter)), remote(-1), low(rank_in(MPI_COMM_WORLD) < limit) {
    SUCCEEDS(MPI_Comm_remote_size(inter, &remote));
  }
};

/// The world rank of a process of the other group.
[[nodiscard]] inline int remote_world(const Sides& side, int limit, int rank) {
  return rank + (side.low ? limit : 0);
}

/// The places at which the first group may end, so that both groups have members.
[[nodiscard]] inline std::vector<int> limits() {
  const int size = size_of(MPI_COMM_WORLD);
  std::vector<int> all;
  if (size > 1) all.push_back(1);
  if (size > 3) all.push_back(size / 2);
  return all;
}

}  // namespace mpi_test
