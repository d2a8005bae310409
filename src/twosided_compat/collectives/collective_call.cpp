// Collective calls in librma's terms: what all have in common, and those that move data.

#include "twosided_compat/collectives/collective_call.hpp"

#include <fmt/format.h>

#include "twosided_compat/objects/library_failure.hpp"
#include "util/try.hpp"

namespace librma::mpi {

CollectiveCall::~CollectiveCall() {
  if (persistent_ != nullptr) static_cast<void>(rma_persistent_free(&persistent_));
  if (kept_op_ != nullptr) kept_op_->remove_reference();
  if (kept_type_ != nullptr) kept_type_->remove_reference();
}

int CollectiveCall::run() {
  rma_team_t team = nullptr;
  RMA_TRY(comm_->find_team(team));
  staged_.load();
  const int code = checked(rma_collective_run(team, &collective_));
  return code == MPI_SUCCESS ? store_results() : code;
}

int CollectiveCall::start(rma_request_t* request) {
  rma_team_t team = nullptr;
  RMA_TRY(comm_->find_team(team));
  staged_.load();
  return checked(rma_collective_nb(team, &collective_, request));
}

int CollectiveCall::store_results() const {
  if (block_sent_ != block_received_) {
    return failure(
        block_sent_ > block_received_ ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
        fmt::format("the blocks to send have {} bytes, those to receive {}", block_sent_, block_received_));
  }
  staged_.store();
  return MPI_SUCCESS;
}

int CollectiveCall::plan() {
  rma_team_t team = nullptr;
  RMA_TRY(comm_->find_team(team));
  return checked(rma_collective_init(team, &collective_, &persistent_));
}

int CollectiveCall::restart(rma_request_t* request) const {
  staged_.load();
  return checked(rma_start(persistent_, request));
}

int CollectiveCall::find(rma_collective_kind_t kind, const char* name, MPI_Comm comm) {
  RMA_TRY(find_communicator(comm).store(comm_));
  collective_.kind = kind;
  collective_.name = name;
  if (comm_->is_inter()) {
    // The processes of the group that decides come first in the team.
    collective_.first_group = decides(*comm_) ? comm_->size() : comm_->peer_count();
    collective_.uneven = 1;  // the two groups may have blocks of different sizes
  }
  return MPI_SUCCESS;
}

int CollectiveCall::find(rma_collective_kind_t kind, const char* name, MPI_Comm comm, int root) {
  RMA_TRY(find(kind, name, comm));
  if (!comm_->is_inter()) {
    at_root_ = root == comm_->rank();
    collective_.root = root;
    return check_root(*comm_, root);
  }
  const int own_begin = decides(*comm_) ? 0 : collective_.first_group;
  const int others_begin = decides(*comm_) ? collective_.first_group : 0;
  at_root_ = root == MPI_ROOT;
  takes_part_ = root != MPI_PROC_NULL;
  if (at_root_) {
    collective_.root = own_begin + comm_->rank();
  } else if (!takes_part_) {
    collective_.root = -1;
  } else if (root < 0 || root >= comm_->peer_count()) {
    return failure(MPI_ERR_ROOT, "the root is not in the remote group");
  } else {
    collective_.root = others_begin + root;
  }
  return MPI_SUCCESS;
}

int CollectiveCall::check_own_block(const Buffer& out, const Buffer& in) {
  if (collective_.uneven == 0) {
    block_sent_ = out.bytes;
    block_received_ = in.bytes;
  }
  return check_distinct(out, in);
}

void* CollectiveCall::memory_for(int members) {
  return staged_.memory(static_cast<std::size_t>(members) * collective_.bytes);
}

int CollectiveCall::find_in_place(const void* address, bool& stays) const {
  stays = in_place(address);
  if (stays && comm_->is_inter())
    return failure(MPI_ERR_BUFFER, "MPI_IN_PLACE has no meaning on an intercommunicator");
  return MPI_SUCCESS;
}

void CollectiveCall::list(const Blocks& blocks, int members, BlockList& list) {
  list.renew(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member) {
    list[static_cast<std::size_t>(member)] = {.address = blocks.data(member), .bytes = blocks.bytes(member)};
  }
}

const rma_block_t* CollectiveCall::list_uneven(const Blocks& blocks, int members, BlockList& kept) const {
  if (collective_.uneven == 0) return nullptr;
  list(blocks, members, kept);
  return kept.data();
}

template <typename FindBlocks>
int CollectiveCall::find_gather(const void* out, MPI_Count out_count, MPI_Datatype out_type,
                                const FindBlocks& find_blocks, bool everywhere, bool uneven) {
  const int members = comm_->peer_count();
  const bool gets = everywhere || at_root_;
  const bool gives = everywhere || !comm_->is_inter() || (takes_part_ && !at_root_);
  if (uneven) collective_.uneven = 1;
  Blocks all;
  if (gets) {
    RMA_TRY(find_blocks(members, all));
  }
  Buffer mine;
  bool stays = false;
  if (gets && gives) {
    RMA_TRY(find_in_place(out, stays));
  }
  if (gives && !stays) {
    RMA_TRY(find_buffer(out, out_count, out_type, mine));
    if (gets && !comm_->is_inter()) {
      RMA_TRY(check_own_block(mine, all.of(comm_->rank())));
    }
    staged_.stage(mine, false);
  }
  if (gets) {
    staged_.stage(all, members, collective_.uneven == 0, true);
    collective_.dst = all.data(0);
    collective_.dst_blocks = list_uneven(all, members, to_);
  }
  if (stays) mine = all.of(comm_->rank());
  collective_.src = mine.data;
  collective_.bytes = mine.bytes;
  if (block_sent_ != block_received_) collective_.dst = memory_for(members);
  return MPI_SUCCESS;
}

template <typename FindBlocks>
int CollectiveCall::find_scatter(const FindBlocks& find_blocks, void* in, MPI_Count in_count,
                                 MPI_Datatype in_type, bool uneven) {
  const int members = comm_->peer_count();
  const bool gets = !comm_->is_inter() || (takes_part_ && !at_root_);
  if (uneven) collective_.uneven = 1;
  Blocks all;
  if (at_root_) {
    RMA_TRY(find_blocks(members, all));
  }
  Buffer mine;
  const bool stays = at_root_ && gets && in_place(in);
  if (gets && !stays) {
    RMA_TRY(find_buffer(in, in_count, in_type, mine));
    if (at_root_) {
      RMA_TRY(check_own_block(all.of(comm_->rank()), mine));
    }
    staged_.stage(mine, true);
  }
  if (at_root_) {
    staged_.stage(all, members, collective_.uneven == 0, false);
    collective_.src = all.data(0);
    collective_.src_blocks = list_uneven(all, members, from_);
  }
  if (stays) mine = all.of(comm_->rank());
  collective_.dst = mine.data;
  collective_.bytes = mine.bytes;
  if (block_sent_ != block_received_) collective_.src = memory_for(members);
  return MPI_SUCCESS;
}

template <typename FindOut, typename FindIn>
int CollectiveCall::find_alltoall(const FindOut& find_out, const FindIn& find_in, const void* out_address,
                                  bool uneven) {
  const int members = comm_->peer_count();
  if (uneven) collective_.uneven = 1;
  const bool array = collective_.uneven == 0;
  bool stays = false;
  RMA_TRY(find_in_place(out_address, stays));
  Blocks in;
  RMA_TRY(find_in(members, in));
  Blocks out;
  if (!stays) {
    RMA_TRY(find_out(members, out));
    if (!comm_->is_inter()) {
      const int rank = comm_->rank();
      RMA_TRY(check_own_block(out.of(rank), in.of(rank)));
    }
    staged_.stage(out, members, array, false);
  }
  staged_.stage(in, members, array, true);
  collective_.bytes = in.bytes(0);
  collective_.dst = in.data(0);
  collective_.dst_blocks = list_uneven(in, members, to_);
  if (stays) {
    collective_.src = collective_.dst;
    collective_.src_blocks = collective_.dst_blocks;
    return MPI_SUCCESS;
  }
  collective_.src = block_sent_ == block_received_ ? out.data(0) : memory_for(members);
  collective_.src_blocks = list_uneven(out, members, from_);
  return MPI_SUCCESS;
}

int CollectiveCall::barrier(MPI_Comm comm) { return find(RMA_COLLECTIVE_BARRIER, "MPI_Barrier", comm); }

int CollectiveCall::bcast(void* address, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  Buffer buffer;
  RMA_TRY(find(RMA_COLLECTIVE_BROADCAST, "MPI_Bcast", comm, root));
  if (!takes_part_) return MPI_SUCCESS;
  RMA_TRY(find_buffer(address, count, type, buffer));
  staged_.stage(buffer, !at_root_);
  collective_.dst = buffer.data;
  collective_.bytes = buffer.bytes;
  return MPI_SUCCESS;
}

int CollectiveCall::gather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                           MPI_Count in_count, MPI_Datatype in_type, int root, MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_GATHER, "MPI_Gather", comm, root));
  const auto blocks = [&](int /*members*/, Blocks& all) { return Blocks::find(in, in_count, in_type, all); };
  return find_gather(out, out_count, out_type, blocks, false, false);
}

int CollectiveCall::gatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                            Counts in_counts, Displacements displacements, MPI_Datatype in_type, int root,
                            MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_GATHER, "MPI_Gatherv", comm, root));
  const auto blocks = [&](int members, Blocks& all) {
    return Blocks::find(in, in_counts, displacements, in_type, members, all);
  };
  return find_gather(out, out_count, out_type, blocks, false, true);
}

int CollectiveCall::scatter(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                            MPI_Count in_count, MPI_Datatype in_type, int root, MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_SCATTER, "MPI_Scatter", comm, root));
  const auto blocks = [&](int /*members*/, Blocks& all) {
    return Blocks::find(const_cast<void*>(out), out_count, out_type, all);
  };
  return find_scatter(blocks, in, in_count, in_type, false);
}

int CollectiveCall::scatterv(const void* out, Counts out_counts, Displacements displacements,
                             MPI_Datatype out_type, void* in, MPI_Count in_count, MPI_Datatype in_type,
                             int root, MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_SCATTER, "MPI_Scatterv", comm, root));
  const auto blocks = [&](int members, Blocks& all) {
    return Blocks::find(const_cast<void*>(out), out_counts, displacements, out_type, members, all);
  };
  return find_scatter(blocks, in, in_count, in_type, true);
}

int CollectiveCall::allgather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                              MPI_Count in_count, MPI_Datatype in_type, MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_ALLGATHER, "MPI_Allgather", comm));
  const auto blocks = [&](int /*members*/, Blocks& all) { return Blocks::find(in, in_count, in_type, all); };
  return find_gather(out, out_count, out_type, blocks, true, false);
}

int CollectiveCall::allgatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                               Counts in_counts, Displacements displacements, MPI_Datatype in_type,
                               MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_ALLGATHER, "MPI_Allgatherv", comm));
  const auto blocks = [&](int members, Blocks& all) {
    return Blocks::find(in, in_counts, displacements, in_type, members, all);
  };
  return find_gather(out, out_count, out_type, blocks, true, true);
}

int CollectiveCall::alltoall(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                             MPI_Count in_count, MPI_Datatype in_type, MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_ALLTOALL, "MPI_Alltoall", comm));
  const auto from = [&](int /*members*/, Blocks& all) {
    return Blocks::find(const_cast<void*>(out), out_count, out_type, all);
  };
  const auto to = [&](int /*members*/, Blocks& all) { return Blocks::find(in, in_count, in_type, all); };
  return find_alltoall(from, to, out, false);
}

int CollectiveCall::alltoallv(const void* out, Counts out_counts, Displacements out_displacements,
                              MPI_Datatype out_type, void* in, Counts in_counts,
                              Displacements in_displacements, MPI_Datatype in_type, MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_ALLTOALL, "MPI_Alltoallv", comm));
  const auto from = [&](int members, Blocks& all) {
    return Blocks::find(const_cast<void*>(out), out_counts, out_displacements, out_type, members, all);
  };
  const auto to = [&](int members, Blocks& all) {
    return Blocks::find(in, in_counts, in_displacements, in_type, members, all);
  };
  return find_alltoall(from, to, out, true);
}

int CollectiveCall::alltoallw(const void* out, Counts out_counts, Displacements out_displacements,
                              const MPI_Datatype out_types[], void* in, Counts in_counts,
                              Displacements in_displacements, const MPI_Datatype in_types[], MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_ALLTOALL, "MPI_Alltoallw", comm));
  const auto from = [&](int members, Blocks& all) {
    return Blocks::find(const_cast<void*>(out), out_counts, out_displacements, out_types, members, all);
  };
  const auto to = [&](int members, Blocks& all) {
    return Blocks::find(in, in_counts, in_displacements, in_types, members, all);
  };
  return find_alltoall(from, to, out, true);
}

}  // namespace librma::mpi
