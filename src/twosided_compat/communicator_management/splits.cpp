// Communicators of some of the members of another: by colour, by hardware, and by group.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicator_management/intercommunicators.hpp"
#include "twosided_compat/communicators/collective_transfers.hpp"
#include "twosided_compat/objects/info.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

int split(const Communicator& parent, Choice own, MPI_Comm* made) {
  if (parent.is_inter()) return split_intercommunicator(parent, own, made);
  std::vector<Choice> choices(static_cast<std::size_t>(parent.size()));
  CollectiveTransfers transfers(parent, CollectiveTag::kSplit);
  RMA_TRY(transfers.allgather(&own, sizeof own, choices.data()));
  *made = MPI_COMM_NULL;
  if (own.color == MPI_UNDEFINED) return MPI_SUCCESS;
  std::vector<int> ranks;
  for (int rank = 0; rank < parent.size(); ++rank) {
    if (choices[static_cast<std::size_t>(rank)].color == own.color) ranks.push_back(rank);
  }
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return choices[static_cast<std::size_t>(rank)].key; });
  return make_communicator(parent, ranks, made);
}

/// Returns the colour of this process's host: the first rank of the job that runs there.
int host_color() {
  int first = 0;
  while (!rma_same_host(first)) ++first;
  return first;
}

/// Returns the colour for the resource that the hints name. This library knows two kinds of resources: hosts,
/// whose processes share memory, and the process sets of sessions. A process that has no such resource gets
/// no communicator.
int resource_color(const Info* info, bool guided_by_sets) {
  if (info == nullptr) return MPI_UNDEFINED;
  if (info->get("mpi_hw_resource_type") == "mpi_shared_memory") return host_color();
  const std::optional<std::string> set = guided_by_sets ? info->get("mpi_pset_name") : std::nullopt;
  if (set == "mpi://WORLD") return 0;
  if (set == "mpi://SELF") return rma_rank();
  return MPI_UNDEFINED;
}

/// Splits by host, if that makes any group smaller. MPI_COMM_TYPE_HW_UNGUIDED asks for real parts, and sets
/// the hint that names the resource.
int split_unguided(const Communicator& parent, int key, Info* info, MPI_Comm* made) {
  RMA_TRY(split(parent, {.color = host_color(), .key = key}, made));
  auto* const part = find<Communicator>(*made);
  if (part == nullptr) return MPI_SUCCESS;
  if (part->size() == parent.size()) {
    part->remove_reference();
    *made = MPI_COMM_NULL;
  } else if (info != nullptr) {
    info->set("mpi_hw_resource_type", "mpi_shared_memory");
  }
  return MPI_SUCCESS;
}

/// Finds the ranks in `comm` of a group's members.
int ranks_of(const Communicator& comm, const Group& group, std::vector<int>& ranks) {
  for (const int world_rank : group.members->world_ranks()) {
    const int rank = comm.members()->rank_of(world_rank);
    if (rank == MPI_UNDEFINED)
      return failure(MPI_ERR_GROUP, "the group has a member that is not in the communicator");
    ranks.push_back(rank);
  }
  return MPI_SUCCESS;
}

}  // namespace

int comm_split(MPI_Comm handle, int color, int key, MPI_Comm* made) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  if (color < 0 && color != MPI_UNDEFINED)
    return failure(MPI_ERR_ARG, fmt::format("color {} is negative", color));
  return split(*comm, {.color = color, .key = key}, made);
}

int comm_split_type(MPI_Comm handle, int type, int key, MPI_Info info_handle, MPI_Comm* made) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  RMA_TRY(check_hints(info_handle));
  Info* const info = find_info(info_handle);
  switch (type) {
    case MPI_UNDEFINED:
      return split(*comm, {}, made);
    case MPI_COMM_TYPE_SHARED:
      return split(*comm, {.color = host_color(), .key = key}, made);
    case MPI_COMM_TYPE_HW_UNGUIDED:
      return split_unguided(*comm, key, info, made);
    case MPI_COMM_TYPE_HW_GUIDED:
      return split(*comm, {.color = resource_color(info, false), .key = key}, made);
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      return split(*comm, {.color = resource_color(info, true), .key = key}, made);
    default:
      return failure(MPI_ERR_ARG, fmt::format("there is no split type {}", type));
  }
}

// Members of the communicator that are not in the group take part by calling only. The two groups of an
// intercommunicator have to learn of each other's part, which a split does.
int comm_create(MPI_Comm handle, MPI_Group group_handle, MPI_Comm* made) {
  std::vector<int> ranks;
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  RMA_TRY_ASSIGN(group, find_group(group_handle));
  RMA_TRY(ranks_of(*comm, *group, ranks));
  const auto place = std::ranges::find(ranks, comm->rank());
  const bool is_member = place != ranks.end();
  if (comm->is_inter()) {
    return split(*comm,
                 {.color = is_member ? 0 : MPI_UNDEFINED, .key = static_cast<int>(place - ranks.begin())},
                 made);
  }
  *made = MPI_COMM_NULL;
  return is_member ? make_communicator(*comm, ranks, made) : MPI_SUCCESS;
}

// Only the members of the group call this, so its messages have a context of their own.
int comm_create_group(MPI_Comm handle, MPI_Group group_handle, int tag, MPI_Comm* made) {
  std::vector<int> ranks;
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  RMA_TRY_ASSIGN(group, find_group(group_handle));
  if (tag < 0) return failure(MPI_ERR_TAG, fmt::format("tag {} is negative", tag));
  RMA_TRY(ranks_of(*comm, *group, ranks));
  *made = MPI_COMM_NULL;
  if (std::ranges::find(ranks, comm->rank()) == ranks.end()) return MPI_SUCCESS;
  return make_communicator(*comm, ranks, Traffic::kCreation, tag, made);
}

}  // namespace librma::mpi
