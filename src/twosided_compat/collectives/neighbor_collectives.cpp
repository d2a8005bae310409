// Blocking neighbourhood collectives: each process exchanges data with its neighbours in the communicator's
// topology.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collectives/short_list.hpp"
#include "twosided_compat/topologies/neighborhood.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// One block of a buffer, as MPI's own calls take it.
struct NeighborBlock {
  void* data = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// Returns the address `elements` extents of `type` behind `base`. A type that is not valid has no extent;
/// the send or receive of the block reports it.
void* element(const void* base, MPI_Count elements, MPI_Datatype type) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  if (type_get_extent(type, &lower, &extent) != MPI_SUCCESS) extent = 0;
  return static_cast<std::byte*>(const_cast<void*>(base)) + elements * extent;
}

/// Exchanges the blocks with the neighbours: `out(i)` goes to destination i, and `in(i)` comes from source i.
template <class Out, class In>
int exchange_blocks(Communicator& comm, const Neighborhood& all, const Out& out, const In& in) {
  const MPI_Comm carrier = comm.carrier(Traffic::kCollective);
  ShortList<MPI_Request> requests;
  requests.renew(all.sources.size() + all.destinations.size());
  int code = MPI_SUCCESS;
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.sources.size() && code == MPI_SUCCESS; ++i) {
    const NeighborBlock block = in(i);
    code = irecv(block.data, block.count, block.type, all.sources[i], all.receive_tag(static_cast<int>(i)),
                 carrier, &requests[next++]);
  }
  for (std::size_t i = 0; i < all.destinations.size() && code == MPI_SUCCESS; ++i) {
    const NeighborBlock block = out(i);
    code = isend(block.data, block.count, block.type, all.destinations[i], all.send_tag(static_cast<int>(i)),
                 carrier, &requests[next++]);
  }
  for (MPI_Request& request : requests) {
    if (code != MPI_SUCCESS && request != MPI_REQUEST_NULL) static_cast<void>(cancel(&request));
    const int ended = wait(&request, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = ended;
  }
  return carried(comm, code);
}

}  // namespace

int neighbor_allgather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                       MPI_Count in_count, MPI_Datatype in_type, MPI_Comm handle) {
  Communicator* comm = nullptr;
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighborhood(handle, comm, all));
  return exchange_blocks(
      *comm, *all,
      [&](std::size_t) {
        return NeighborBlock{const_cast<void*>(out), out_count, out_type};
      },
      [&](std::size_t i) {
        return NeighborBlock{element(in, static_cast<MPI_Count>(i) * in_count, in_type), in_count, in_type};
      });
}

int neighbor_allgatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                        Counts in_counts, Displacements places, MPI_Datatype in_type, MPI_Comm handle) {
  Communicator* comm = nullptr;
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighborhood(handle, comm, all));
  RMA_TRY(check_view(in_counts, all->sources));
  RMA_TRY(check_view(places, all->sources));
  return exchange_blocks(
      *comm, *all,
      [&](std::size_t) {
        return NeighborBlock{const_cast<void*>(out), out_count, out_type};
      },
      [&](std::size_t i) {
        return NeighborBlock{element(in, places[i], in_type), in_counts[i], in_type};
      });
}

int neighbor_alltoall(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                      MPI_Count in_count, MPI_Datatype in_type, MPI_Comm handle) {
  Communicator* comm = nullptr;
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighborhood(handle, comm, all));
  return exchange_blocks(
      *comm, *all,
      [&](std::size_t i) {
        return NeighborBlock{element(out, static_cast<MPI_Count>(i) * out_count, out_type), out_count,
                             out_type};
      },
      [&](std::size_t i) {
        return NeighborBlock{element(in, static_cast<MPI_Count>(i) * in_count, in_type), in_count, in_type};
      });
}

int neighbor_alltoallv(const void* out, Counts out_counts, Displacements out_places, MPI_Datatype out_type,
                       void* in, Counts in_counts, Displacements in_places, MPI_Datatype in_type,
                       MPI_Comm handle) {
  Communicator* comm = nullptr;
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighborhood(handle, comm, all));
  RMA_TRY(check_view(out_counts, all->destinations));
  RMA_TRY(check_view(out_places, all->destinations));
  RMA_TRY(check_view(in_counts, all->sources));
  RMA_TRY(check_view(in_places, all->sources));
  return exchange_blocks(
      *comm, *all,
      [&](std::size_t i) {
        return NeighborBlock{element(out, out_places[i], out_type), out_counts[i], out_type};
      },
      [&](std::size_t i) {
        return NeighborBlock{element(in, in_places[i], in_type), in_counts[i], in_type};
      });
}

int neighbor_alltoallw(const void* out, Counts out_counts, const MPI_Aint out_places[],
                       const MPI_Datatype out_types[], void* in, Counts in_counts, const MPI_Aint in_places[],
                       const MPI_Datatype in_types[], MPI_Comm handle) {
  Communicator* comm = nullptr;
  const Neighborhood* all = nullptr;
  RMA_TRY(find_neighborhood(handle, comm, all));
  RMA_TRY(check_view(out_counts, all->destinations));
  RMA_TRY(check_view(in_counts, all->sources));
  for (const void* const array :
       {static_cast<const void*>(out_places), static_cast<const void*>(out_types)}) {
    RMA_TRY(check_array(array, all->destinations));
  }
  for (const void* const array : {static_cast<const void*>(in_places), static_cast<const void*>(in_types)}) {
    RMA_TRY(check_array(array, all->sources));
  }
  return exchange_blocks(
      *comm, *all,
      [&](std::size_t i) {
        return NeighborBlock{static_cast<std::byte*>(const_cast<void*>(out)) + out_places[i], out_counts[i],
                             out_types[i]};
      },
      [&](std::size_t i) {
        return NeighborBlock{static_cast<std::byte*>(in) + in_places[i], in_counts[i], in_types[i]};
      });
}

}  // namespace librma::mpi
