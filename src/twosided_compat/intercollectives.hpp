#pragma once

#include "twosided_compat/communicator.hpp"
#include "twosided_compat/views.hpp"

// Blocking collective calls on intercommunicators (MPI 4.1, section 6.2.2). A call with a root moves data
// from one group to the other: in the root's group the root passes MPI_ROOT and the others MPI_PROC_NULL, and
// the other group passes the root's rank. In a call without a root, each group gets the data of the other
// one. The arguments are those of the MPI functions.

namespace rma::mpi {

/// Returns the intracommunicator of the local group, on which the parts of these calls are made.
[[nodiscard]] inline MPI_Comm local_group_of(const Communicator& comm) {
  return comm.local().handle<MPI_Comm>();
}

[[nodiscard]] int inter_barrier(Communicator& comm);
[[nodiscard]] int inter_bcast(Communicator& comm, void* data, MPI_Count count, MPI_Datatype type, int root);

/// Blocks of a buffer, one for each process of the remote group. Block r begins `place(r)` extents of the
/// type behind the address, or bytes if the blocks have types of their own, and has `count(r)` elements.
class RemoteBlocks {
 public:
  /// Blocks of `count` elements, one behind the other.
  RemoteBlocks(const void* data, MPI_Count count, MPI_Datatype type)
      : data_(data), count_(count), type_(type) {}
  RemoteBlocks(const void* data, Counts counts, Displacements places, MPI_Datatype type)
      : data_(data), counts_(counts), places_(places), type_(type), varies_(true) {}
  RemoteBlocks(const void* data, Counts counts, Displacements places, const MPI_Datatype types[])
      : data_(data), counts_(counts), places_(places), types_(types), varies_(true), typed_(true) {}
  /// The same block for every process.
  static RemoteBlocks same(const void* data, MPI_Count count, MPI_Datatype type) {
    RemoteBlocks blocks(data, count, type);
    blocks.same_ = true;
    return blocks;
  }

  /// Checks that no array is missing. MPI_ERR_ARG.
  [[nodiscard]] int check() const;
  [[nodiscard]] void* data(int rank) const;
  [[nodiscard]] MPI_Count count(int rank) const { return varies_ ? counts_[rank] : count_; }
  [[nodiscard]] MPI_Datatype type(int rank) const { return typed_ ? types_[rank] : type_; }

 private:
  const void* data_;
  MPI_Count count_ = 0;
  Counts counts_ = nullptr;
  Displacements places_ = nullptr;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  const MPI_Datatype* types_ = nullptr;
  bool varies_ = false;
  bool typed_ = false;
  bool same_ = false;
};

/// Gather and gatherv: the root gets a block of each process of the other group.
[[nodiscard]] int inter_gather(Communicator& comm, const void* out, MPI_Count count, MPI_Datatype type,
                               const RemoteBlocks& in, int root);
/// Scatter and scatterv: the root gives a block to each process of the other group.
[[nodiscard]] int inter_scatter(Communicator& comm, const RemoteBlocks& out, void* in, MPI_Count count,
                                MPI_Datatype type, int root);
/// Allgather, alltoall and their forms: every process exchanges a block with each of the other group.
[[nodiscard]] int inter_exchange(Communicator& comm, const RemoteBlocks& out, const RemoteBlocks& in);

[[nodiscard]] int inter_reduce(Communicator& comm, const void* out, void* in, MPI_Count count,
                               MPI_Datatype type, MPI_Op op, int root);
[[nodiscard]] int inter_allreduce(Communicator& comm, const void* out, void* in, MPI_Count count,
                                  MPI_Datatype type, MPI_Op op);
[[nodiscard]] int inter_reduce_scatter(Communicator& comm, const void* out, void* in, Counts counts,
                                       MPI_Datatype type, MPI_Op op);

}  // namespace rma::mpi
