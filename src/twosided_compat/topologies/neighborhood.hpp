#pragma once

#include <vector>

#include "mpi.h"
#include "twosided_compat/communicators/collective_transfers.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/objects/views.hpp"

namespace librma::mpi {

/// The neighbours of this process in the topology of a communicator. A rank may be there several times, and
/// in a grid MPI_PROC_NULL. It never changes.
class Neighborhood {
 public:
  Neighborhood(std::vector<int> all_sources, std::vector<int> all_destinations, bool grid);

  const std::vector<int> sources;
  const std::vector<int> destinations;
  const bool is_grid;

  /// The neighbours that are processes: their places in one of the lists above, and their ranks.
  struct Processes {
    std::vector<int> places;
    std::vector<int> ranks;
  };
  /// The sources in the order of their messages, if each process sends in the order of its destinations.
  [[nodiscard]] const Processes& arrivals() const { return arrivals_; }
  [[nodiscard]] const Processes& departures() const { return departures_; }

  // In a grid the neighbours are the one below and the one above in each dimension. A message to the
  // neighbour below arrives there from above, also if the two are one process. So a message has the place of
  // its destination as its tag, and the receiver expects the opposite place. In a graph, messages between two
  // processes keep the order of the edges, so they need no tags.
  [[nodiscard]] int send_tag(int place) const { return kFirstTag + (is_grid ? place : 0); }
  [[nodiscard]] int receive_tag(int place) const { return kFirstTag + (is_grid ? place ^ 1 : 0); }

 private:
  static constexpr int kFirstTag = static_cast<int>(CollectiveTag::kNeighbors);

  Processes arrivals_;
  Processes departures_;
};

/// Finds a communicator and its neighbourhood. MPI_ERR_COMM, MPI_ERR_TOPOLOGY.
[[nodiscard]] int find_neighborhood(MPI_Comm handle, Communicator*& comm, const Neighborhood*& all);

/// Checks that an array is there if there are neighbours. MPI_ERR_ARG.
[[nodiscard]] int check_array(const void* array, const std::vector<int>& neighbors);
template <class View>
[[nodiscard]] int check_view(const View& view, const std::vector<int>& neighbors) {
  return check_array(view.is_null() ? nullptr : &view, neighbors);
}

}  // namespace librma::mpi
