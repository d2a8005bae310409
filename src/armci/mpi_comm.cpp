// ARMCI beside an MPI: the processes of the job are those of a communicator, and find each other by it.

#include "armci/mpi_comm.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/life.hpp"
#include "armci/rank_and_size.hpp"
#include "message.h"

namespace librma::armci {

struct Comm {
  MPI_Comm comm;
};

namespace {

/// A duplicate of the communicator on which ARMCI is initialized, so that the library's messages never match
/// the program's. Its ranks are the processes' numbers.
MPI_Comm everyone = MPI_COMM_NULL;

/// The communicator that armci_msg_init or armci_msg_init_comm named last. Messages begin the job on it if
/// ARMCI_Init has not begun it. It is a duplicate, unless it is MPI_COMM_WORLD.
MPI_Comm named = MPI_COMM_NULL;

/// The process that initialized the MPI for the program, or 0.
pid_t mpi_process = 0;

bool mpi_runs() {
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

int allgather(void* /*context*/, const void* mine, void* all, std::size_t bytes) {
  const int size = static_cast<int>(bytes);
  return MPI_Allgather(mine, size, MPI_BYTE, all, size, MPI_BYTE, everyone);
}

/// If the program has finalized MPI before ARMCI, all processes have met in MPI_Finalize.
int barrier(void* /*context*/) { return mpi_runs() ? MPI_Barrier(everyone) : 0; }

/// Waits until the launcher has read this process's output, for a tenth of a second at most. MPICH's launcher
/// drops unread output when a process aborts, and with it the error text.
void let_launcher_read(int stream) {
  struct stat status = {};
  if (fstat(stream, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  for (int tries = 0; tries < 100; ++tries) {
    int unread = 0;
    if (ioctl(stream, FIONREAD, &unread) != 0 || unread == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Aborts all processes that the MPI has started, not only those of `everyone`. For MPI_COMM_WORLD MPICH asks
/// the launcher. For any other communicator MPICH sends a message to each member and waits until it is
/// received, and a process that sleeps outside MPI never receives it.
void abort_job(void* /*context*/, int exit_code) {
  if (!mpi_runs()) return;
  let_launcher_read(STDOUT_FILENO);
  let_launcher_read(STDERR_FILENO);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
}

/// Initializes MPI if the program has not.
void start_mpi(int* argc, char*** argv) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0) return;
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) {
    die("ARMCI_Init", "MPI_Init_thread failed");
  }
  mpi_process = getpid();
  finalize_at_exit("ARMCI_Init");  // after the MPI's own handlers, so that it runs before them
}

/// Joins the job of `comm`'s processes. The runtime starts over a duplicate of that communicator. If the
/// program has initialized the runtime itself, that job must have the same processes.
rma_status_t join(MPI_Comm comm) {
  if (!mpi_runs()) die("ARMCI_Init", "MPI is not initialized, or was finalized");
  MPI_Comm_dup(comm, &everyone);
  rma_bootstrap_t bootstrap = {};
  MPI_Comm_rank(everyone, &bootstrap.rank);
  MPI_Comm_size(everyone, &bootstrap.size);
  bootstrap.allgather = allgather;
  bootstrap.barrier = barrier;
  bootstrap.abort = abort_job;
  if (rma_initialized() == 0) return rma_init_with(&bootstrap);
  if (rma_rank() != bootstrap.rank || rma_size() != bootstrap.size) {
    die("ARMCI_Init",
        fmt::format("this process is rank {} of {} in the job, but {} of {} in the communicator", rma_rank(),
                    rma_size(), bootstrap.rank, bootstrap.size));
  }
  return rma_init();
}

/// Checks that `comm` has the processes of the communicator on which messages may have begun the job. The job
/// cannot change its communicator.
void confirm(MPI_Comm comm) {
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(comm, everyone, &relation);
  if (relation == MPI_IDENT || relation == MPI_CONGRUENT) return;
  die("ARMCI_Init",
      "messages have begun the job on another communicator: call armci_msg_init_comm with this one before "
      "them");
}

Beginning beginning(MPI_Comm comm) {
  return {.join = [comm] { return join(comm); },
          .prepare = [](Group& world) { world.comm = new Comm{everyone}; },
          .confirm = [comm] { confirm(comm); }};
}

/// Names the communicator before ARMCI_Init. After it the choice is fixed.
void name(MPI_Comm comm, bool copy) {
  if (PARMCI_Initialized() != 0) return;
  if (named != MPI_COMM_NULL && named != MPI_COMM_WORLD) MPI_Comm_free(&named);
  named = comm;
  if (copy) MPI_Comm_dup(comm, &named);
  RankAndSize job;
  MPI_Comm_rank(named, &job.rank);
  MPI_Comm_size(named, &job.size);
  remember_rank_and_size(job);
}

}  // namespace

void begin_messages(const char* call) {
  if (named == MPI_COMM_NULL) die(call, kNotReady);
  init_messages(beginning(named), call);
}

// MPI_Initialized says in a forked child, too, that the MPI is initialized.
void leave_at_exit() {
  if (getpid() == mpi_process && mpi_runs()) MPI_Finalize();
}

void end_processes(int exit_code, const std::string& text) {
  // rma_abort would end only this process, and some launchers would then return an exit code of their own.
  if (mpi_runs()) {
    std::fprintf(stderr, "%s\n", text.c_str());
    abort_job(nullptr, exit_code);
  }
  rma_abort(exit_code, text.c_str());
  std::abort();  // not reached
}

void open_comm(Group& group) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Comm_group(everyone, &all);
  MPI_Group_incl(all, group.size(), group.ranks.data(), &members);
  // The tag is the first member's process, because other groups may be made at the same time.
  MPI_Comm comm = MPI_COMM_NULL;
  const int made = MPI_Comm_create_group(everyone, members, group.ranks.front(), &comm);
  MPI_Group_free(&members);
  MPI_Group_free(&all);
  if (made != MPI_SUCCESS) die("ARMCI_Group_create", "MPI_Comm_create_group failed");
  group.comm = new Comm{comm};
}

void close_comm(Group& group) {
  if (group.comm == nullptr) return;
  const bool in_use = group.comm->comm == everyone && rma_initialized() != 0;
  if (mpi_runs() && !in_use) MPI_Comm_free(&group.comm->comm);
  delete group.comm;
  group.comm = nullptr;
}

extern "C" {

int PARMCI_Init_args(int* argc, char*** argv) {
  start_mpi(argc, argv);
  init(beginning(MPI_COMM_WORLD), "ARMCI_Init");
  return 0;
}

int PARMCI_Init_mpi_comm(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return 0;
  init(beginning(comm), "ARMCI_Init_mpi_comm");
  return 1;
}

int PARMCI_Init_thread_comm(int /*requested*/, MPI_Comm comm) {
  return PARMCI_Init_mpi_comm(comm) != 0 ? 0 : kNullArgument;
}

MPI_Comm armci_group_comm(ARMCI_Group* group) {
  const Comm* const comm = group_of(group, __func__).comm;
  return comm != nullptr ? comm->comm : MPI_COMM_NULL;
}

void armci_msg_init(int* argc, char*** argv) {
  start_mpi(argc, argv);
  if (mpi_runs()) name(MPI_COMM_WORLD, false);
}

void armci_msg_init_comm(MPI_Comm comm) {
  if (!mpi_runs()) die(__func__, "MPI is not initialized, or was finalized");
  if (comm == MPI_COMM_NULL) die(__func__, "MPI_COMM_NULL has no processes");
  name(comm, true);
}

void armci_msg_finalize(void) {
  if (!mpi_runs()) return;
  finalize_messages();
  named = MPI_COMM_NULL;
  MPI_Finalize();
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(Init_args);
RMA_ARMCI(Init_mpi_comm);
RMA_ARMCI(Init_thread_comm);
