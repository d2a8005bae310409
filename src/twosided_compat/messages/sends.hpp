#pragma once

#include "mpi.h"
#include "twosided_compat/datatypes/noncontiguous.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/messages/transfer.hpp"
#include "util/try.hpp"

namespace librma::mpi {

/// The checked arguments of a send.
struct Send {
  Communicator* comm = nullptr;
  Buffer buffer;
};
[[nodiscard]] inline MessagePeer peer_of(const Communicator& comm, int rank, int tag) {
  return {.rank = comm.world_rank(rank), .tag = tag, .context = comm.context()};
}
/// Checks the arguments of a send.
[[nodiscard]] inline int find_send(const void* address, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                   MPI_Comm handle, Send& send) {
  RMA_TRY(find_communicator(handle).store(send.comm));
  RMA_TRY(find_buffer(address, count, type, send.buffer));
  return check_destination(*send.comm, dest, tag);
}

/// Start an operation on a request that has no pending one. The arguments were checked.
[[nodiscard]] int start_send(Mode mode, const Send& send, int dest, int tag, Request& request);
[[nodiscard]] int start_receive(const Buffer& buffer, int source, int tag, Communicator& comm,
                                Request& request);

/// Check the arguments, and make a request for an operation that they start.
[[nodiscard]] int begin_send(Mode mode, const void* address, MPI_Count count, MPI_Datatype type, int dest,
                             int tag, MPI_Comm handle, MPI_Request* made);
[[nodiscard]] int begin_receive(void* address, MPI_Count count, MPI_Datatype type, int source, int tag,
                                MPI_Comm handle, MPI_Request* made);

/// Checks the arguments, and makes a persistent send.
[[nodiscard]] int make_send(Mode mode, const void* address, MPI_Count count, MPI_Datatype type, int dest,
                            int tag, MPI_Comm handle, MPI_Request* made);

}  // namespace librma::mpi
