// Beside an MPI: the job's processes are a communicator's, and find each other by it.

#include "armci/mpi_comm.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/life.hpp"
#include "message.h"

namespace rma::armci {

struct Comm {
  MPI_Comm comm;
};

namespace {

/// A copy of the communicator that ARMCI is initialized on, so that what the library sends never meets what
/// the program does; and the copy's ranks are the processes' numbers.
MPI_Comm everyone = MPI_COMM_NULL;

bool mpi_runs() {
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

/// A program that ends well and knows nothing of the MPI under it has nothing to end it with. One that fails
/// must not wait for the others in there.
void end_mpi(int exit_code, void* /*unused*/) {
  if (exit_code == 0 && mpi_runs()) MPI_Finalize();
}

int allgather(void* /*context*/, const void* mine, void* all, std::size_t bytes) {
  const int size = static_cast<int>(bytes);
  return MPI_Allgather(mine, size, MPI_BYTE, all, size, MPI_BYTE, everyone);
}

/// Where the program has ended MPI before ARMCI, all have met in that.
int barrier(void* /*context*/) { return mpi_runs() ? MPI_Barrier(everyone) : 0; }

/// Of all processes that the MPI has started, not of `everyone`: for any other communicator than its world
/// MPICH tells each member by a message, and waits until those have been taken, which a process that sleeps
/// outside MPI never does. For its world it asks the launcher.
void abort_job(void* /*context*/, int exit_code) {
  if (mpi_runs()) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

/// Makes MPI ready where the program has not.
void start_mpi(int* argc, char*** argv) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0) return;
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) {
    die("ARMCI_Init", "MPI_Init_thread failed");
  }
  on_exit(end_mpi, nullptr);
}

/// Joins the job of `comm`'s processes: the runtime's start, carried by a copy of that communicator. Where
/// the program has begun the runtime itself, the job is that one, of as many processes.
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
    die("ARMCI_Init", fmt::format("rma_init has made this rank {} of {}, the communicator has it as {} of {}",
                                  rma_rank(), rma_size(), bootstrap.rank, bootstrap.size));
  }
  return rma_init();
}

void add_comm(Group& world) { world.comm = new Comm{everyone}; }

}  // namespace

void open_comm(Group& group) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Comm_group(everyone, &all);
  MPI_Group_incl(all, group.size(), group.ranks.data(), &members);
  // The members' lowest process as the tag: others make groups at the same time.
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

}  // namespace rma::armci

using rma::armci::add_comm;
using rma::armci::init;
using rma::armci::join;
using rma::armci::start_mpi;

extern "C" {

int PARMCI_Init_args(int* argc, char*** argv) {
  start_mpi(argc, argv);
  init([] { return join(MPI_COMM_WORLD); }, add_comm);
  return 0;
}

int PARMCI_Init_mpi_comm(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return 0;
  init([comm] { return join(comm); }, add_comm);
  return 1;
}

MPI_Comm armci_group_comm(ARMCI_Group* group) {
  const rma::armci::Comm* const comm = rma::armci::group_of(group, __func__).comm;
  return comm != nullptr ? comm->comm : MPI_COMM_NULL;
}

void armci_msg_init(int* argc, char*** argv) { start_mpi(argc, argv); }

void armci_msg_finalize(void) {
  if (rma::armci::mpi_runs()) MPI_Finalize();
}

}  // extern "C"

RMA_ARMCI(Init_args);
RMA_ARMCI(Init_mpi_comm);
