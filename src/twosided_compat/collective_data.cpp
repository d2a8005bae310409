// Barrier, and the collective calls that move data: broadcast, gather, scatter, allgather, alltoall.

#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collective_arguments.hpp"
#include "twosided_compat/intercollectives.hpp"

namespace rma::mpi {
namespace {

/// Collects the members' blocks at the root. `mine` is null at a root whose block is in place.
int gather_blocks(const Communicator& comm, const Buffer* mine, const Blocks& all, int root) {
  CollectiveTransfers transfers(comm, CollectiveTag::kGather);
  if (comm.rank() != root) return transfers.send(*mine, root);
  for (int member = 0; member < comm.size(); ++member) {
    if (member == root) continue;
    if (const int code = transfers.receive(all.of(member), member); code != MPI_SUCCESS) return code;
  }
  if (mine != nullptr) copy_data(*mine, all.of(root));
  return MPI_SUCCESS;
}

/// Distributes the blocks at the root to the members. `mine` is null at a root whose block stays in place.
int scatter_blocks(const Communicator& comm, const Blocks& all, const Buffer* mine, int root) {
  CollectiveTransfers transfers(comm, CollectiveTag::kScatter);
  if (comm.rank() != root) return transfers.receive(*mine, root);
  for (int member = 0; member < comm.size(); ++member) {
    if (member == root) continue;
    if (const int code = transfers.send(all.of(member), member); code != MPI_SUCCESS) return code;
  }
  if (mine != nullptr) copy_data(all.of(root), *mine);
  return MPI_SUCCESS;
}

/// A ring, as CollectiveTransfers::allgather, of blocks of different sizes.
int allgather_blocks(const Communicator& comm, const Blocks& all) {
  CollectiveTransfers transfers(comm, CollectiveTag::kAllgather);
  const int size = comm.size();
  for (int step = 1; step < size; ++step) {
    const int out = (comm.rank() - step + 1 + size) % size;
    const int in = (comm.rank() - step + size) % size;
    const int code = transfers.exchange(all.of(out), (comm.rank() + 1) % size, all.of(in),
                                        (comm.rank() - 1 + size) % size);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

/// In step k each member sends to the one k behind it and receives from the one k before it.
int alltoall_blocks(const Communicator& comm, const Blocks& out, const Blocks& in) {
  const int size = comm.size();
  const int rank = comm.rank();
  if (const int code = check_distinct(out.of(rank), in.of(rank)); code != MPI_SUCCESS) return code;
  CollectiveTransfers transfers(comm, CollectiveTag::kAlltoall);
  copy_data(out.of(rank), in.of(rank));
  for (int step = 1; step < size; ++step) {
    const int to = (rank + step) % size;
    const int from = (rank - step + size) % size;
    const int code = transfers.exchange(out.of(to), to, in.of(from), from);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int alltoall_in_place(const Communicator& comm, const Blocks& blocks) {
  CollectiveTransfers transfers(comm, CollectiveTag::kAlltoall);
  std::vector<std::byte> copy_of_block;
  // Each pair exchanges its blocks; all members go through the pairs in one order, so nobody waits in a
  // circle.
  for (int low = 0; low < comm.size(); ++low) {
    for (int high = low + 1; high < comm.size(); ++high) {
      if (comm.rank() != low && comm.rank() != high) continue;
      const int other = comm.rank() == low ? high : low;
      copy_of_block.resize(blocks.bytes(other));
      pack(blocks.of(other), copy_of_block.data());
      const int code = transfers.exchange({.data = copy_of_block.data(), .bytes = copy_of_block.size()},
                                          other, blocks.of(other), other);
      if (code != MPI_SUCCESS) return code;
    }
  }
  return MPI_SUCCESS;
}

}  // namespace

// Dissemination (Hensgen, Finkel and Manber, 1988): in round k a member tells the one 2^k behind it.
int barrier(MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_barrier(*comm);
  CollectiveTransfers transfers(*comm, CollectiveTag::kBarrier);
  const int size = comm->size();
  for (int distance = 1; distance < size; distance *= 2) {
    const int code = transfers.exchange(nullptr, 0, (comm->rank() + distance) % size, nullptr, 0,
                                        (comm->rank() - distance + size) % size);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int bcast(void* address, MPI_Count count, MPI_Datatype type, int root, MPI_Comm handle) {
  Communicator* comm = nullptr;
  Buffer buffer;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_bcast(*comm, address, count, type, root);
  if (const int code = find_buffer(address, count, type, buffer); code != MPI_SUCCESS) return code;
  if (const int code = check_root(*comm, root); code != MPI_SUCCESS) return code;
  return CollectiveTransfers(*comm, CollectiveTag::kBroadcast).broadcast(buffer, root);
}

namespace {

/// The part of gather and gatherv that is the same. `blocks` fills the root's blocks, which are `remote` on
/// an intercommunicator.
template <typename FindBlocks>
int gather_with(const void* out, MPI_Count out_count, MPI_Datatype out_type, const RemoteBlocks& remote,
                int root, MPI_Comm handle, const FindBlocks& find_blocks) {
  Communicator* comm = nullptr;
  Buffer mine;
  Blocks all;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_gather(*comm, out, out_count, out_type, remote, root);
  if (const int code = check_root(*comm, root); code != MPI_SUCCESS) return code;
  const bool at_root = comm->rank() == root;
  const bool stays = at_root && in_place(out);
  if (!stays) {
    if (const int code = find_buffer(out, out_count, out_type, mine); code != MPI_SUCCESS) return code;
  }
  if (at_root) {
    if (const int code = find_blocks(comm->size(), all); code != MPI_SUCCESS) return code;
  }
  if (at_root && !stays) {
    if (const int code = check_distinct(mine, all.of(root)); code != MPI_SUCCESS) return code;
  }
  return gather_blocks(*comm, stays ? nullptr : &mine, all, root);
}

template <typename FindBlocks>
int scatter_with(const RemoteBlocks& remote, void* in, MPI_Count in_count, MPI_Datatype in_type, int root,
                 MPI_Comm handle, const FindBlocks& find_blocks) {
  Communicator* comm = nullptr;
  Buffer mine;
  Blocks all;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_scatter(*comm, remote, in, in_count, in_type, root);
  if (const int code = check_root(*comm, root); code != MPI_SUCCESS) return code;
  const bool at_root = comm->rank() == root;
  const bool stays = at_root && in_place(in);
  if (!stays) {
    if (const int code = find_buffer(in, in_count, in_type, mine); code != MPI_SUCCESS) return code;
  }
  if (at_root) {
    if (const int code = find_blocks(comm->size(), all); code != MPI_SUCCESS) return code;
  }
  if (at_root && !stays) {
    if (const int code = check_distinct(all.of(root), mine); code != MPI_SUCCESS) return code;
  }
  return scatter_blocks(*comm, all, stays ? nullptr : &mine, root);
}

template <typename FindBlocks>
int allgather_with(const void* out, MPI_Count out_count, MPI_Datatype out_type, const RemoteBlocks& remote,
                   MPI_Comm handle, const FindBlocks& find_blocks) {
  Communicator* comm = nullptr;
  Buffer mine;
  Blocks all;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_exchange(*comm, RemoteBlocks::same(out, out_count, out_type), remote);
  if (const int code = find_blocks(comm->size(), all); code != MPI_SUCCESS) return code;
  if (!in_place(out)) {
    if (const int code = find_buffer(out, out_count, out_type, mine); code != MPI_SUCCESS) return code;
    if (const int code = check_distinct(mine, all.of(comm->rank())); code != MPI_SUCCESS) return code;
    copy_data(mine, all.of(comm->rank()));
  }
  return allgather_blocks(*comm, all);
}

}  // namespace

int gather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count,
           MPI_Datatype in_type, int root, MPI_Comm handle) {
  const RemoteBlocks remote(in, in_count, in_type);
  return gather_with(out, out_count, out_type, remote, root, handle, [&](int members, Blocks& all) {
    return Blocks::find(in, in_count, in_type, members, all);
  });
}

int gatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, Counts in_counts,
            Displacements displacements, MPI_Datatype in_type, int root, MPI_Comm handle) {
  const RemoteBlocks remote(in, in_counts, displacements, in_type);
  return gather_with(out, out_count, out_type, remote, root, handle, [&](int members, Blocks& all) {
    return Blocks::find(in, in_counts, displacements, in_type, members, all);
  });
}

int scatter(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count,
            MPI_Datatype in_type, int root, MPI_Comm handle) {
  const RemoteBlocks remote(out, out_count, out_type);
  return scatter_with(remote, in, in_count, in_type, root, handle, [&](int members, Blocks& all) {
    return Blocks::find(const_cast<void*>(out), out_count, out_type, members, all);
  });
}

int scatterv(const void* out, Counts out_counts, Displacements displacements, MPI_Datatype out_type, void* in,
             MPI_Count in_count, MPI_Datatype in_type, int root, MPI_Comm handle) {
  const RemoteBlocks remote(out, out_counts, displacements, out_type);
  return scatter_with(remote, in, in_count, in_type, root, handle, [&](int members, Blocks& all) {
    return Blocks::find(const_cast<void*>(out), out_counts, displacements, out_type, members, all);
  });
}

int allgather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count,
              MPI_Datatype in_type, MPI_Comm handle) {
  const RemoteBlocks remote(in, in_count, in_type);
  return allgather_with(out, out_count, out_type, remote, handle, [&](int members, Blocks& all) {
    return Blocks::find(in, in_count, in_type, members, all);
  });
}

int allgatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, Counts in_counts,
               Displacements displacements, MPI_Datatype in_type, MPI_Comm handle) {
  const RemoteBlocks remote(in, in_counts, displacements, in_type);
  return allgather_with(out, out_count, out_type, remote, handle, [&](int members, Blocks& all) {
    return Blocks::find(in, in_counts, displacements, in_type, members, all);
  });
}

int alltoall(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count,
             MPI_Datatype in_type, MPI_Comm handle) {
  Communicator* comm = nullptr;
  Blocks to;
  Blocks from;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_exchange(*comm, {out, out_count, out_type}, {in, in_count, in_type});
  if (const int code = Blocks::find(in, in_count, in_type, comm->size(), from); code != MPI_SUCCESS)
    return code;
  if (in_place(out)) return alltoall_in_place(*comm, from);
  if (const int code = Blocks::find(const_cast<void*>(out), out_count, out_type, comm->size(), to);
      code != MPI_SUCCESS) {
    return code;
  }
  return alltoall_blocks(*comm, to, from);
}

int alltoallv(const void* out, Counts out_counts, Displacements out_displacements, MPI_Datatype out_type,
              void* in, Counts in_counts, Displacements in_displacements, MPI_Datatype in_type,
              MPI_Comm handle) {
  Communicator* comm = nullptr;
  Blocks to;
  Blocks from;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) {
    return inter_exchange(*comm, {out, out_counts, out_displacements, out_type},
                          {in, in_counts, in_displacements, in_type});
  }
  if (const int code = Blocks::find(in, in_counts, in_displacements, in_type, comm->size(), from);
      code != MPI_SUCCESS) {
    return code;
  }
  if (in_place(out)) return alltoall_in_place(*comm, from);
  if (const int code =
          Blocks::find(const_cast<void*>(out), out_counts, out_displacements, out_type, comm->size(), to);
      code != MPI_SUCCESS) {
    return code;
  }
  return alltoall_blocks(*comm, to, from);
}

int alltoallw(const void* out, Counts out_counts, Displacements out_displacements,
              const MPI_Datatype out_types[], void* in, Counts in_counts, Displacements in_displacements,
              const MPI_Datatype in_types[], MPI_Comm handle) {
  Communicator* comm = nullptr;
  Blocks to;
  Blocks from;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) {
    return inter_exchange(*comm, {out, out_counts, out_displacements, out_types},
                          {in, in_counts, in_displacements, in_types});
  }
  if (const int code = Blocks::find(in, in_counts, in_displacements, in_types, comm->size(), from);
      code != MPI_SUCCESS) {
    return code;
  }
  if (in_place(out)) return alltoall_in_place(*comm, from);
  if (const int code =
          Blocks::find(const_cast<void*>(out), out_counts, out_displacements, out_types, comm->size(), to);
      code != MPI_SUCCESS) {
    return code;
  }
  return alltoall_blocks(*comm, to, from);
}

}  // namespace rma::mpi
