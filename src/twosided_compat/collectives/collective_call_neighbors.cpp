// Collective calls between neighbours, in librma's terms.

#include "twosided_compat/collectives/collective_call.hpp"
#include "twosided_compat/topologies/neighborhood.hpp"
#include "util/try.hpp"

namespace librma::mpi {

int CollectiveCall::find_neighbors(const char* name, MPI_Comm comm, const Neighborhood*& all) {
  collective_.name = name;
  collective_.kind = RMA_COLLECTIVE_NEIGHBORS;
  return find_neighborhood(comm, comm_, all);
}

// The neighbours outside of a grid send and get nothing.
void CollectiveCall::keep_neighbors(const Neighborhood& all, const Blocks& out, const Blocks& in) {
  const auto keep = [this](const Blocks& blocks, const std::vector<int>& places, bool result,
                           BlockList& kept) {
    if (places.empty()) return;
    const int count = static_cast<int>(places.size());
    Blocks chosen;
    chosen.choose(blocks, places);
    staged_.stage(chosen, count, false, result);
    list(chosen, count, kept);
  };
  keep(out, all.departures().places, false, from_);
  keep(in, all.arrivals().places, true, to_);
  collective_.sources = all.arrivals().ranks.data();
  collective_.source_count = static_cast<int>(all.arrivals().ranks.size());
  collective_.destinations = all.departures().ranks.data();
  collective_.destination_count = static_cast<int>(all.departures().ranks.size());
  collective_.dst_blocks = to_.data();
  collective_.src_blocks = from_.data();
}

/// Finds the blocks of both directions by `find_out` and `find_in`, which get the number of neighbours, and
/// keeps them.
template <typename FindOut, typename FindIn>
int CollectiveCall::find_exchange(const Neighborhood& all, const FindOut& find_out, const FindIn& find_in) {
  Blocks out;
  Blocks in;
  if (!all.destinations.empty()) {
    RMA_TRY(find_out(static_cast<int>(all.destinations.size()), out));
  }
  if (!all.sources.empty()) {
    RMA_TRY(find_in(static_cast<int>(all.sources.size()), in));
  }
  keep_neighbors(all, out, in);
  return MPI_SUCCESS;
}

int CollectiveCall::neighbor_allgather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                                       MPI_Count in_count, MPI_Datatype in_type, MPI_Comm comm) {
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighbors("MPI_Neighbor_allgather", comm, all));
  return find_exchange(
      *all, [&](int /*blocks*/, Blocks& found) { return Blocks::find_same(out, out_count, out_type, found); },
      [&](int /*blocks*/, Blocks& found) { return Blocks::find(in, in_count, in_type, found); });
}

int CollectiveCall::neighbor_allgatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                                        Counts in_counts, Displacements in_displacements,
                                        MPI_Datatype in_type, MPI_Comm comm) {
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighbors("MPI_Neighbor_allgatherv", comm, all));
  return find_exchange(
      *all, [&](int /*blocks*/, Blocks& found) { return Blocks::find_same(out, out_count, out_type, found); },
      [&](int blocks, Blocks& found) {
        return Blocks::find(in, in_counts, in_displacements, in_type, blocks, found);
      });
}

int CollectiveCall::neighbor_alltoall(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                                      MPI_Count in_count, MPI_Datatype in_type, MPI_Comm comm) {
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighbors("MPI_Neighbor_alltoall", comm, all));
  return find_exchange(
      *all,
      [&](int /*blocks*/, Blocks& found) {
        return Blocks::find(const_cast<void*>(out), out_count, out_type, found);
      },
      [&](int /*blocks*/, Blocks& found) { return Blocks::find(in, in_count, in_type, found); });
}

int CollectiveCall::neighbor_alltoallv(const void* out, Counts out_counts, Displacements out_displacements,
                                       MPI_Datatype out_type, void* in, Counts in_counts,
                                       Displacements in_displacements, MPI_Datatype in_type, MPI_Comm comm) {
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighbors("MPI_Neighbor_alltoallv", comm, all));
  return find_exchange(
      *all,
      [&](int blocks, Blocks& found) {
        return Blocks::find(const_cast<void*>(out), out_counts, out_displacements, out_type, blocks, found);
      },
      [&](int blocks, Blocks& found) {
        return Blocks::find(in, in_counts, in_displacements, in_type, blocks, found);
      });
}

int CollectiveCall::neighbor_alltoallw(const void* out, Counts out_counts, Displacements out_displacements,
                                       const MPI_Datatype out_types[], void* in, Counts in_counts,
                                       Displacements in_displacements, const MPI_Datatype in_types[],
                                       MPI_Comm comm) {
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighbors("MPI_Neighbor_alltoallw", comm, all));
  return find_exchange(
      *all,
      [&](int blocks, Blocks& found) {
        return Blocks::find(const_cast<void*>(out), out_counts, out_displacements, out_types, blocks, found);
      },
      [&](int blocks, Blocks& found) {
        return Blocks::find(in, in_counts, in_displacements, in_types, blocks, found);
      });
}

}  // namespace librma::mpi
