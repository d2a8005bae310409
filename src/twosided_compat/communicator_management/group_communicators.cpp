// Communicators that groups make without a parent (MPI 4.1, section 7.4.2).

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "rma/launcher.h"
#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicator_management/invitations.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/objects/info.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

int check_text(const char* text) {
  if (text == nullptr) return failure(MPI_ERR_ARG, "stringtag is null");
  if (strnlen(text, MPI_MAX_STRINGTAG_LEN) < MPI_MAX_STRINGTAG_LEN) return MPI_SUCCESS;
  return failure(MPI_ERR_ARG, "stringtag is too long");
}

int check_handler(MPI_Errhandler handler) {
  const auto* const own = find<ErrorHandler>(handler);
  const bool fits = own != nullptr ? own->owner() == Kind::kComm
                                   : handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT ||
                                         handler == MPI_ERRORS_RETURN;
  return fits ? MPI_SUCCESS : failure(MPI_ERR_ERRHANDLER, "the handler is not one for communicators");
}

/// Makes the communicator of the members, of which this process is one. `session`: that of their group.
int make_from(std::shared_ptr<const Members> members, std::uint64_t session, const std::string& text,
              MPI_Errhandler handler, Communicator*& made) {
  std::uint32_t context = 0;
  const int rank = members->rank_of(rma_rank());
  if (rank == MPI_UNDEFINED) return failure(MPI_ERR_GROUP, "the calling process is not in the group");
  RMA_TRY(agree_by_invitation(*members, text, context));
  made = new Communicator(std::move(members), rank, context, MPI_Comm{}, MPI_ERRORS_ARE_FATAL, session);
  made->errors.set(handler);
  return MPI_SUCCESS;
}

/// Drops a communicator that only the making of another one needed.
struct Drop {
  void operator()(Communicator* comm) const { comm->remove_reference(); }
};
using Temporary = std::unique_ptr<Communicator, Drop>;

/// Finds the world rank of a leader of a group. MPI_ERR_RANK.
int find_leader(const Group& group, int leader, int& world) {
  if (leader < 0 || leader >= group.members->size())
    return failure(MPI_ERR_RANK, fmt::format("the leader {} is not in its group", leader));
  world = group.members->world_rank(leader);
  return MPI_SUCCESS;
}

}  // namespace

int comm_create_from_group(MPI_Group handle, const char* text, MPI_Info info, MPI_Errhandler handler,
                           MPI_Comm* made) {
  RMA_TRY_ASSIGN(group, find_group(handle));
  RMA_TRY(check_text(text));
  RMA_TRY(check_hints(info));
  RMA_TRY(check_handler(handler));
  *made = MPI_COMM_NULL;
  if (group->members->size() == 0) return MPI_SUCCESS;
  Communicator* comm = nullptr;
  RMA_TRY(make_from(group->members, group->session, std::string("comm ") + text, handler, comm));
  *made = comm->handle<MPI_Comm>();
  return MPI_SUCCESS;
}

// The local group and the two leaders make communicators of their own, on which MPI_Intercomm_create does the
// rest.
int intercomm_create_from_groups(MPI_Group local_handle, int local_leader, MPI_Group remote_handle,
                                 int remote_leader, const char* text, MPI_Info info, MPI_Errhandler handler,
                                 MPI_Comm* made) {
  RMA_TRY_ASSIGN(local_group, find_group(local_handle));
  RMA_TRY(check_text(text));
  RMA_TRY(check_hints(info));
  RMA_TRY(check_handler(handler));
  int own_leader = 0;
  RMA_TRY(find_leader(*local_group, local_leader, own_leader));
  Communicator* comm = nullptr;
  RMA_TRY(make_from(local_group->members, local_group->session, std::string("local ") + text, handler, comm));
  const Temporary local(comm);
  Temporary leaders;
  int other = 0;  // the other leader's rank among the two
  if (rma_rank() == own_leader) {
    int other_leader = 0;
    RMA_TRY_ASSIGN(remote_group, find_group(remote_handle));
    RMA_TRY(find_leader(*remote_group, remote_leader, other_leader));
    if (other_leader == own_leader) return failure(MPI_ERR_GROUP, "a process is in both groups");
    auto both = std::make_shared<const Members>(
        std::vector{std::min(own_leader, other_leader), std::max(own_leader, other_leader)}, rma_seats());
    RMA_TRY(make_from(std::move(both), local_group->session, std::string("leaders ") + text, handler, comm));
    leaders.reset(comm);
    other = own_leader < other_leader ? 1 : 0;
  }
  return intercomm_create(local->handle<MPI_Comm>(), local_leader,
                          leaders != nullptr ? leaders->handle<MPI_Comm>() : MPI_COMM_NULL, other, 0, made);
}

}  // namespace librma::mpi
