// Sessions (MPI 4.1, section 11.3): uses of the job beside MPI_Init, and the process sets that they know.

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "rma/launcher.h"
#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/life/environment.hpp"
#include "twosided_compat/messages/buffered_sends.hpp"
#include "twosided_compat/objects/info.hpp"
#include "twosided_compat/objects/session.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

constexpr const char* kThreadLevel = "thread_level";
constexpr std::array kLevels = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                "MPI_THREAD_MULTIPLE"};

constexpr const char* kWorldSet = "mpi://WORLD";
constexpr std::array kProcessSets = {kWorldSet, "mpi://SELF"};

/// Finds the name of a process set, which programs may write in capital letters or in small ones.
int find_process_set(const char* name, const char*& set) {
  if (name == nullptr) return failure(MPI_ERR_ARG, "pset_name is null");
  const auto* const found =
      std::ranges::find_if(kProcessSets, [&](const char* known) { return strcasecmp(known, name) == 0; });
  if (found == kProcessSets.end())
    return failure(MPI_ERR_ARG, fmt::format("there is no process set {}", name));
  set = *found;
  return MPI_SUCCESS;
}

bool is_handler(MPI_Errhandler handler) {
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT || handler == MPI_ERRORS_RETURN ||
         find<ErrorHandler>(handler) != nullptr;
}

}  // namespace

// Every level of thread support costs the same here, so a session has the level that it asks for.
int session_init(MPI_Info info_handle, MPI_Errhandler handler, MPI_Session* made) {
  RMA_TRY(check_hints(info_handle));
  if (!is_handler(handler)) return failure(MPI_ERR_ERRHANDLER, "the error handler is null or was freed");
  std::string level = kLevels.back();
  if (const Info* const info = find_info(info_handle); info != nullptr) {
    level = info->get(kThreadLevel).value_or(level);
    if (std::find(kLevels.begin(), kLevels.end(), level) == kLevels.end())
      return failure(MPI_ERR_INFO_VALUE, fmt::format("there is no thread level {}", level));
  }
  RMA_TRY(enter_job());
  *made = (new Session(handler, std::move(level)))->handle<MPI_Session>();
  return MPI_SUCCESS;
}

int session_finalize(MPI_Session* handle) {
  RMA_TRY_ASSIGN(session, find_session(*handle));
  detach_buffers_of_session(session->number());
  RMA_TRY(leave_job());
  delete session;
  *handle = MPI_SESSION_NULL;
  return MPI_SUCCESS;
}

int session_get_info(MPI_Session handle, MPI_Info* used) {
  RMA_TRY_ASSIGN(session, find_session(handle));
  auto* const info = new Info;
  info->set(kThreadLevel, session->thread_level());
  *used = info->handle<MPI_Info>();
  return MPI_SUCCESS;
}

int session_get_num_psets(MPI_Session handle, MPI_Info /*info*/, int* count) {
  RMA_TRY(find_session(handle).failure());
  *count = static_cast<int>(kProcessSets.size());
  return MPI_SUCCESS;
}

// A program that does not know the length passes 0 first, and gets the room that it needs.
int session_get_nth_pset(MPI_Session handle, MPI_Info /*info*/, int n, int* length, char* name) {
  RMA_TRY(find_session(handle).failure());
  if (n < 0 || n >= static_cast<int>(kProcessSets.size()))
    return failure(MPI_ERR_ARG, fmt::format("there is no process set {}", n));
  if (*length < 0 || (*length > 0 && name == nullptr))
    return failure(MPI_ERR_ARG, "pset_name is null, or the length is negative");
  const std::string set = kProcessSets[static_cast<std::size_t>(n)];
  if (*length > 0) {
    const std::size_t copied = std::min(set.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(name, set.data(), copied);
    name[copied] = '\0';
  }
  *length = static_cast<int>(set.size()) + 1;
  return MPI_SUCCESS;
}

int session_get_pset_info(MPI_Session handle, const char* name, MPI_Info* made) {
  RMA_TRY(find_session(handle).failure());
  const char* set = nullptr;
  RMA_TRY(find_process_set(name, set));
  auto* const info = new Info;
  info->set("mpi_size", std::to_string(set == kWorldSet ? rma_size() : 1));
  *made = info->handle<MPI_Info>();
  return MPI_SUCCESS;
}

int group_from_session_pset(MPI_Session handle, const char* name, MPI_Group* made) {
  const char* set = nullptr;
  RMA_TRY_ASSIGN(session, find_session(handle));
  *made = MPI_GROUP_NULL;
  RMA_TRY(find_process_set(name, set));
  std::vector<int> world = {rma_rank()};
  if (set == kWorldSet) {
    world.resize(static_cast<std::size_t>(rma_size()));
    std::iota(world.begin(), world.end(), rma_world_first());
  }
  *made = (new Group(std::make_shared<const Members>(std::move(world), rma_seats()), session->number()))
              ->handle<MPI_Group>();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
