// Intercommunicators (MPI 4.1, section 7.6): how two groups meet, agree on a context, and become one.

#include "twosided_compat/communicator_management/intercommunicators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "rma/launcher.h"
#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Describes a group to the leader of the other one, and then to the members of the leader's own group.
struct Introduction {
  int code = MPI_SUCCESS;     ///< of the leader's arguments
  int size = 0;               ///< of the remote group
  std::uint32_t context = 0;  ///< of the intercommunicator
};

/// The part of MPI_Intercomm_create that the leader of a group plays: it meets the leader of the other group.
int meet_leader(const Communicator& local, MPI_Comm peer_handle, int leader, int tag, Introduction& theirs,
                std::vector<int>& their_ranks) {
  RMA_TRY_ASSIGN(peer, find_communicator(peer_handle));
  if (leader < 0 || leader >= peer->peer_count())
    return failure(MPI_ERR_RANK, fmt::format("the remote leader {} is not in peer_comm", leader));
  if (tag < 0) return failure(MPI_ERR_TAG, fmt::format("tag {} is negative", tag));
  if (peer->world_rank(leader) == rma_rank())
    return failure(MPI_ERR_RANK, "the remote leader is the process itself");
  CollectiveTransfers transfers(*peer, Traffic::kCreation, tag);
  Introduction mine = {.size = local.size()};
  // One of the two numbers the communicator.
  if (rma_rank() < peer->world_rank(leader)) mine.context = new_context();
  RMA_TRY(transfers.exchange(&mine, sizeof mine, leader, &theirs, sizeof theirs, leader));
  theirs.context = std::max(mine.context, theirs.context);
  if (theirs.context == 0) return no_context();
  their_ranks.resize(static_cast<std::size_t>(theirs.size));
  const std::vector<int> ours = local.members()->list();
  return transfers.exchange(ours.data(), ours.size() * sizeof(int), leader, their_ranks.data(),
                            their_ranks.size() * sizeof(int), leader);
}

}  // namespace

int exchange_with_remote(const Communicator& inter, CollectiveTag tag, const void* mine, std::size_t bytes,
                         void* theirs, std::size_t their_bytes) {
  if (inter.rank() == 0) {
    RMA_TRY(CollectiveTransfers(inter, tag).exchange(mine, bytes, 0, theirs, their_bytes, 0));
  }
  return CollectiveTransfers(inter.local(), tag).broadcast(theirs, their_bytes, 0);
}

int make_intercommunicator(const Communicator& local, std::vector<int> theirs, std::uint32_t context,
                           MPI_Comm* made) {
  const Members& ours = *local.members();
  if (std::ranges::any_of(theirs, [&](int rank) { return ours.rank_of(rank) != MPI_UNDEFINED; }))
    return failure(MPI_ERR_COMM, "a process is in both groups");
  // All processes of the job have met if none can be added.
  if (rma_seats() != rma_size()) {
    std::vector<int> all = ours.list();
    all.insert(all.end(), theirs.begin(), theirs.end());
    RMA_TRY(checked(rma_meet_later(all.data(), static_cast<int>(all.size()), context)));
  }
  auto remote = std::make_shared<const Members>(std::move(theirs), ours.world_size());
  *made = (new Communicator(local.members(), local.rank(), context, local, std::move(remote)))
              ->handle<MPI_Comm>();
  return MPI_SUCCESS;
}

int agree_on_context(const Communicator& inter, std::uint32_t& context) {
  std::uint32_t mine = decides(inter) && inter.rank() == 0 ? new_context() : 0;
  std::uint32_t theirs = 0;
  RMA_TRY(CollectiveTransfers(inter.local(), CollectiveTag::kNewContext).broadcast(&mine, sizeof mine, 0));
  RMA_TRY(
      exchange_with_remote(inter, CollectiveTag::kNewContext, &mine, sizeof mine, &theirs, sizeof theirs));
  context = decides(inter) ? mine : theirs;
  return context != 0 ? MPI_SUCCESS : no_context();
}

int intercomm_create(MPI_Comm local_handle, int local_leader, MPI_Comm peer, int remote_leader, int tag,
                     MPI_Comm* made) {
  RMA_TRY_ASSIGN(local, find_intracommunicator(local_handle));
  if (local_leader < 0 || local_leader >= local->size())
    return failure(MPI_ERR_RANK, fmt::format("the local leader {} is not in local_comm", local_leader));
  Introduction remote;
  std::vector<int> ranks;
  const bool leads = local->rank() == local_leader;
  int own_code = MPI_SUCCESS;
  if (leads) {
    own_code = meet_leader(*local, peer, remote_leader, tag, remote, ranks);
    remote.code = own_code;
  }
  // The members wait for their leader, so they hear of its failure as well.
  CollectiveTransfers transfers(*local, CollectiveTag::kNewContext);
  RMA_TRY(transfers.broadcast(&remote, sizeof remote, local_leader));
  if (leads && own_code != MPI_SUCCESS) return own_code;
  if (remote.code != MPI_SUCCESS)
    return failure(remote.code, "the local leader could not meet the remote leader");
  ranks.resize(static_cast<std::size_t>(remote.size));
  RMA_TRY(transfers.broadcast(ranks.data(), ranks.size() * sizeof(int), local_leader));
  return make_intercommunicator(*local, std::move(ranks), remote.context, made);
}

int intercomm_merge(MPI_Comm handle, int high, MPI_Comm* made) {
  RMA_TRY_ASSIGN(inter, find_communicator(handle));
  if (!inter->is_inter()) return failure(MPI_ERR_COMM, "the communicator is no intercommunicator");
  const int ours = high != 0 ? 1 : 0;
  int theirs = 0;
  std::uint32_t context = 0;
  RMA_TRY(exchange_with_remote(*inter, CollectiveTag::kMerge, &ours, sizeof ours, &theirs, sizeof theirs));
  RMA_TRY(agree_on_context(*inter, context));
  // Groups that say the same may come in any order.
  const bool first = ours != theirs ? ours == 0 : decides(*inter);
  std::vector<int> world = (first ? inter->members() : inter->remote())->list();
  std::ranges::copy((first ? inter->remote() : inter->members())->world_ranks(), std::back_inserter(world));
  const int rank = first ? inter->rank() : inter->remote()->size() + inter->rank();
  auto members = std::make_shared<const Members>(std::move(world), inter->members()->world_size());
  *made = (new Communicator(std::move(members), rank, context, *inter))->handle<MPI_Comm>();
  return MPI_SUCCESS;
}

namespace {

/// Returns the members of a group that chose a colour, in the order of their keys: world ranks.
std::vector<int> chosen(const Members& group, const std::vector<Choice>& choices, int color) {
  std::vector<int> ranks;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (choices[static_cast<std::size_t>(rank)].color == color) ranks.push_back(rank);
  }
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return choices[static_cast<std::size_t>(rank)].key; });
  std::ranges::transform(ranks, ranks.begin(), [&](int rank) { return group.world_rank(rank); });
  return ranks;
}

/// Agrees on the context of a communicator of these members of both groups: the first of those in the group
/// that decides draws it, and tells each of the others.
int agree_on_part(const Communicator& inter, const Members& ours, const Members& theirs,
                  std::uint32_t& context) {
  CollectiveTransfers inside(inter.local(), CollectiveTag::kNewContext);
  CollectiveTransfers across(inter, CollectiveTag::kNewContext);
  if (!decides(inter)) return across.receive(&context, sizeof context, inter.rank_of(theirs.world_rank(0)));
  const int first = inter.members()->rank_of(ours.world_rank(0));
  if (first != inter.rank()) return inside.receive(&context, sizeof context, first);
  context = new_context();
  for (const int world : ours.world_ranks()) {
    if (world == rma_rank()) continue;
    RMA_TRY(inside.send(&context, sizeof context, inter.members()->rank_of(world)));
  }
  for (const int world : theirs.world_ranks()) {
    RMA_TRY(across.send(&context, sizeof context, inter.rank_of(world)));
  }
  return MPI_SUCCESS;
}

}  // namespace

int split_intercommunicator(const Communicator& inter, Choice own, MPI_Comm* made) {
  std::vector<Choice> ours(static_cast<std::size_t>(inter.size()));
  std::vector<Choice> theirs(static_cast<std::size_t>(inter.peer_count()));
  CollectiveTransfers inside(inter.local(), CollectiveTag::kSplit);
  RMA_TRY(inside.allgather(&own, sizeof own, ours.data()));
  RMA_TRY(exchange_with_remote(inter, CollectiveTag::kSplit, ours.data(), ours.size() * sizeof(Choice),
                               theirs.data(), theirs.size() * sizeof(Choice)));
  *made = MPI_COMM_NULL;
  if (own.color == MPI_UNDEFINED) return MPI_SUCCESS;
  std::vector<int> remote_ranks = chosen(*inter.remote(), theirs, own.color);
  if (remote_ranks.empty()) return MPI_SUCCESS;
  const int world_size = inter.members()->world_size();
  auto local = std::make_shared<const Members>(chosen(*inter.members(), ours, own.color), world_size);
  auto remote = std::make_shared<const Members>(std::move(remote_ranks), world_size);
  std::uint32_t context = 0;
  RMA_TRY(agree_on_part(inter, *local, *remote, context));
  if (context == 0) return no_context();
  const int rank = local->rank_of(rma_rank());
  *made = (new Communicator(std::move(local), rank, context, inter, std::move(remote)))->handle<MPI_Comm>();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
