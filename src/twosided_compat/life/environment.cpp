// The beginning and the end of the job, and what a program may ask about it at any time.

#include "twosided_compat/life/environment.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "rma/rma.h"
#include "rma/unchecked.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/files/file.hpp"
#include "twosided_compat/life/static_data.hpp"
#include "twosided_compat/life/wait_places.hpp"
#include "twosided_compat/messages/buffered_sends.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/phase.hpp"
#include "twosided_compat/processes/parent.hpp"
#include "twosided_compat/windows/window.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// The library's name. Two of MPI in one process would be two MPIs with the same messages.
#ifdef RMA_MPI_OPENMPI
constexpr const char* kLibrary = "librma's libmpi.so.40";
#elif defined(RMA_MPI_MPICH)
constexpr const char* kLibrary = "librma's libmpi.so.12";
#else
constexpr const char* kLibrary = "librma's libmpi_abi.so.1";
#endif

std::mutex life_lock;  // guards changes of `phase` and `users`, so that of two threads one begins the job
int users = 0;         // of the job: MPI_Init, and each session
int thread_level = MPI_THREAD_SINGLE;
std::thread::id main_thread;

/// Returns the error of a call that the runtime refused, with the runtime's text.
int runtime_failure(rma_status_t status) {
  return failure(status == RMA_ERR_NO_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_OTHER, rma_last_error());
}

/// Makes the objects that exist from MPI_Init to MPI_Finalize, the lowest first.
void open_objects() {
  open_predefined_types();
  open_predefined_owners();
  make_predefined_communicators();
  open_requests(*find<Communicator>(MPI_COMM_SELF));
}

/// Undoes open_objects() in the opposite order. The job still runs.
void close_objects() {
  close_left_files();
  leave_parents();
  wait_for_freed_requests();
  close_windows();
  close_requests();
  end_predefined_communicators();
  close_predefined_owners();
}

/// Begins the job for one more user. The caller holds life_lock.
int enter() {
  if (users == 0) {
    if (const char* const other = rma_claim_contexts(kLibrary); other != nullptr) {
      return failure(
          MPI_ERR_OTHER,
          fmt::format("{} serves this process already, and {} cannot do so too: parts of the program "
                      "are linked with one, and parts with the other",
                      other, kLibrary));
    }
    explain_waits();  // before the first, that for the other ranks
    share_static_data();
    if (const rma_status_t status = rma_init(); status != RMA_SUCCESS) return runtime_failure(status);
    main_thread = std::this_thread::get_id();
    open_objects();
    job_runs.store(true, std::memory_order_release);  // other threads see the objects that they are told of
    RMA_TRY(meet_parents());
  }
  ++users;
  return MPI_SUCCESS;
}

/// Ends the use of the job by one user. The caller holds life_lock.
int leave() {
  if (users > 1) {
    --users;
    return MPI_SUCCESS;
  }
  detach_all_buffers();
  if (const rma_status_t status = rma_barrier(rma_team_world()); status != RMA_SUCCESS)
    return runtime_failure(status);
  --users;
  close_objects();
  job_runs.store(false, std::memory_order_release);
  const rma_status_t status = rma_finalize();
  return status == RMA_SUCCESS ? MPI_SUCCESS : runtime_failure(status);
}

int begin(int level) {
  const std::lock_guard guard(life_lock);
  if (phase.load(std::memory_order_relaxed) != Phase::kBefore) {
    return failure(MPI_ERR_OTHER, "MPI can be initialized once in a process");
  }
  RMA_TRY(enter());
  thread_level = level;
  main_thread = std::this_thread::get_id();
  phase.store(Phase::kRunning, std::memory_order_release);
  return MPI_SUCCESS;
}

bool is_level(int level) {
  return level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SERIALIZED ||
         level == MPI_THREAD_MULTIPLE;
}

}  // namespace

int enter_job() {
  const std::lock_guard guard(life_lock);
  return enter();
}

int leave_job() {
  const std::lock_guard guard(life_lock);
  return leave();
}

// All processes have their arguments from the launcher, which adds none, so argc and argv stay as they are.
int init(int* /*argc*/, char*** /*argv*/) { return begin(MPI_THREAD_SINGLE); }

int init_thread(int* /*argc*/, char*** /*argv*/, int required, int* provided) {
  if (!is_level(required))
    return failure(MPI_ERR_ARG, fmt::format("{} is no level of thread support", required));
  RMA_TRY(begin(required));
  *provided = required;  // every level costs the same here
  return MPI_SUCCESS;
}

int finalize() {
  const std::lock_guard guard(life_lock);
  if (phase.load(std::memory_order_relaxed) != Phase::kRunning)
    return failure(MPI_ERR_OTHER, "MPI is not initialized, or another thread has finalized it");
  // The standard's hook for what a program wants to do at the end: these come before anything else.
  if (auto* const self = find<Communicator>(MPI_COMM_SELF); self != nullptr) {
    RMA_TRY(self->attributes.remove_all(MPI_COMM_SELF));
  }
  if (users > 1) detach_buffers_of_session(kNoSession);
  RMA_TRY(leave());
  phase.store(Phase::kFinalized, std::memory_order_release);
  return MPI_SUCCESS;
}

int abort(MPI_Comm /*comm*/, int errorcode) {
  const int rank = rma_rank();
  const std::string who = rank >= 0 ? fmt::format("rank {}", rank) : "a process outside the job";
  end_job(errorcode, fmt::format("MPI_Abort was called by {} with error code {}", who, errorcode).c_str());
}

int initialized(int* flag) {
  *flag = phase.load(std::memory_order_acquire) != Phase::kBefore ? 1 : 0;
  return MPI_SUCCESS;
}

int finalized(int* flag) {
  *flag = phase.load(std::memory_order_acquire) == Phase::kFinalized ? 1 : 0;
  return MPI_SUCCESS;
}

int query_thread(int* provided) {
  *provided = thread_level;
  return MPI_SUCCESS;
}

int is_thread_main(int* flag) {
  *flag = std::this_thread::get_id() == main_thread ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
