#pragma once

#include <vector>

#include "mpi.h"
#include "twosided_compat/communicators/collective.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/objects/views.hpp"

namespace rma::mpi {

/// The neighbours of this process in the topology of a communicator. A rank may be there several times, and
/// in a grid MPI_PROC_NULL.
struct Neighborhood {
  std::vector<int> sources;
  std::vector<int> destinations;
  bool is_grid = false;

  // In a grid the neighbours are the one below and the one above in each dimension. What goes to the
  // neighbour below arrives there from above, also if the two are one process. So a message has the place of
  // its destination as its tag, and the receiver expects the opposite place. In a graph, messages between two
  // processes keep the order of the edges, so they need no tags.
  [[nodiscard]] int send_tag(int place) const { return kFirstTag + (is_grid ? place : 0); }
  [[nodiscard]] int receive_tag(int place) const { return kFirstTag + (is_grid ? place ^ 1 : 0); }

  /// Returns the place in `sources` of the message that comes as number `i`, if each process sends its
  /// messages in the order of its destinations.
  [[nodiscard]] int arrival(int i) const { return is_grid ? i ^ 1 : i; }

 private:
  static constexpr int kFirstTag = static_cast<int>(CollectiveTag::kNeighbors);
};

/// Finds a communicator and its topology. MPI_ERR_COMM, MPI_ERR_TOPOLOGY.
[[nodiscard]] int find_neighborhood(MPI_Comm handle, Communicator*& comm, Neighborhood& all);

/// Checks that an array is there if there are neighbours. MPI_ERR_ARG.
[[nodiscard]] int check_array(const void* array, const std::vector<int>& neighbors);
template <class View>
[[nodiscard]] int check_view(const View& view, const std::vector<int>& neighbors) {
  return check_array(view.is_null() ? nullptr : &view, neighbors);
}

}  // namespace rma::mpi
