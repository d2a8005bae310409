// Collective calls on intercommunicators that move data. They are made of the calls on the local group and of
// messages between the groups.

#include "twosided_compat/intercollectives.hpp"

#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collective.hpp"
#include "twosided_compat/intercommunicators.hpp"

namespace rma::mpi {
namespace {

/// The tag of the messages between the groups. The calls on the local group have other tags.
constexpr int kInterDataTag = static_cast<int>(CollectiveTag::kRemoteData);

int check_inter_root(const Communicator& comm, int root) {
  if (root == MPI_ROOT || root == MPI_PROC_NULL || (root >= 0 && root < comm.peer_count()))
    return MPI_SUCCESS;
  return failure(MPI_ERR_ROOT, "the root is not in the remote group");
}

}  // namespace

void* RemoteBlocks::data(int rank) const {
  auto* const base = static_cast<std::byte*>(const_cast<void*>(data_));
  if (typed_) return base + places_[rank];
  const MPI_Count place = varies_ ? places_[rank] : same_ ? 0 : rank * count_;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  // The send or receive of the block reports a type that is not valid.
  if (place == 0 || type_get_extent(type_, &lower, &extent) != MPI_SUCCESS) return base;
  return base + place * extent;
}

int RemoteBlocks::check() const {
  if (varies_ && (counts_.is_null() || places_.is_null()))
    return failure(MPI_ERR_ARG, "an array of counts or displacements is null");
  if (typed_ && types_ == nullptr) return failure(MPI_ERR_ARG, "the array of types is null");
  return MPI_SUCCESS;
}

// All processes of both groups have come when the leaders have met.
int inter_barrier(Communicator& comm) {
  if (const int code = barrier(local_group_of(comm)); code != MPI_SUCCESS) return code;
  return exchange_with_remote(comm, CollectiveTag::kBarrier, nullptr, 0, nullptr, 0);
}

int inter_bcast(Communicator& comm, void* data, MPI_Count count, MPI_Datatype type, int root) {
  if (const int code = check_inter_root(comm, root); code != MPI_SUCCESS) return code;
  if (root == MPI_PROC_NULL) return MPI_SUCCESS;
  const MPI_Comm carrier = comm.carrier(Traffic::kCollective);
  if (root == MPI_ROOT) return carried(comm, send(data, count, type, 0, kInterDataTag, carrier));
  if (comm.rank() == 0) {
    const int code = recv(data, count, type, root, kInterDataTag, carrier, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return carried(comm, code);
  }
  return bcast(data, count, type, 0, local_group_of(comm));
}

int inter_gather(Communicator& comm, const void* out, MPI_Count count, MPI_Datatype type,
                 const RemoteBlocks& in, int root) {
  if (const int code = check_inter_root(comm, root); code != MPI_SUCCESS) return code;
  if (root == MPI_PROC_NULL) return MPI_SUCCESS;
  const MPI_Comm carrier = comm.carrier(Traffic::kCollective);
  if (root != MPI_ROOT) return carried(comm, send(out, count, type, root, kInterDataTag, carrier));
  if (const int code = in.check(); code != MPI_SUCCESS) return code;
  for (int rank = 0; rank < comm.peer_count(); ++rank) {
    const int code =
        recv(in.data(rank), in.count(rank), in.type(rank), rank, kInterDataTag, carrier, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return carried(comm, code);
  }
  return MPI_SUCCESS;
}

int inter_scatter(Communicator& comm, const RemoteBlocks& out, void* in, MPI_Count count, MPI_Datatype type,
                  int root) {
  if (const int code = check_inter_root(comm, root); code != MPI_SUCCESS) return code;
  if (root == MPI_PROC_NULL) return MPI_SUCCESS;
  const MPI_Comm carrier = comm.carrier(Traffic::kCollective);
  if (root != MPI_ROOT)
    return carried(comm, recv(in, count, type, root, kInterDataTag, carrier, MPI_STATUS_IGNORE));
  if (const int code = out.check(); code != MPI_SUCCESS) return code;
  for (int rank = 0; rank < comm.peer_count(); ++rank) {
    const int code = send(out.data(rank), out.count(rank), out.type(rank), rank, kInterDataTag, carrier);
    if (code != MPI_SUCCESS) return carried(comm, code);
  }
  return MPI_SUCCESS;
}

int inter_exchange(Communicator& comm, const RemoteBlocks& out, const RemoteBlocks& in) {
  if (const int code = out.check(); code != MPI_SUCCESS) return code;
  if (const int code = in.check(); code != MPI_SUCCESS) return code;
  const MPI_Comm carrier = comm.carrier(Traffic::kCollective);
  const auto peers = static_cast<std::size_t>(comm.peer_count());
  std::vector<MPI_Request> requests(2 * peers, MPI_REQUEST_NULL);
  int code = MPI_SUCCESS;
  for (int rank = 0; rank < comm.peer_count() && code == MPI_SUCCESS; ++rank) {
    MPI_Request* const request = &requests[static_cast<std::size_t>(rank)];
    code = irecv(in.data(rank), in.count(rank), in.type(rank), rank, kInterDataTag, carrier, request);
  }
  for (int rank = 0; rank < comm.peer_count() && code == MPI_SUCCESS; ++rank) {
    MPI_Request* const request = &requests[peers + static_cast<std::size_t>(rank)];
    code = isend(out.data(rank), out.count(rank), out.type(rank), rank, kInterDataTag, carrier, request);
  }
  for (MPI_Request& request : requests) {
    if (code != MPI_SUCCESS && request != MPI_REQUEST_NULL) static_cast<void>(cancel(&request));
    const int ended = wait(&request, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = ended;
  }
  return carried(comm, code);
}

}  // namespace rma::mpi
