// ARMCI without an MPI: the processes of the job come from the launcher.

#include <cstdlib>
#include <mutex>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/life.hpp"
#include "armci/mpi_comm.hpp"
#include "message.h"

namespace librma::armci {

namespace {

std::mutex message_life_lock;  // guards `joined`
bool joined = false;           // armci_msg_init has joined the job

bool has_joined() {
  const std::lock_guard guard(message_life_lock);
  return joined;
}

Beginning beginning() {
  return {.join = rma_init, .prepare = [](Group& /*world*/) {}};
}

}  // namespace

void open_comm(Group& /*group*/) {}
void close_comm(Group& /*group*/) {}

void begin_messages(const char* call) {
  if (!has_joined()) die(call, kNotReady);
  init_messages(beginning(), call);
}

void leave_at_exit() {
  if (rma_initialized() != 0) armci_msg_finalize();
}

void end_processes(int exit_code, const std::string& text) {
  rma_abort(exit_code, text.c_str());
  std::abort();  // not reached
}

extern "C" {

int PARMCI_Init_args(int* /*argc*/, char*** /*argv*/) {
  init(beginning(), "ARMCI_Init");
  return 0;
}

void armci_msg_init(int* /*argc*/, char*** /*argv*/) {
  finalize_at_exit(__func__);
  const std::lock_guard guard(message_life_lock);
  if (joined) return;
  require(rma_init(), __func__);
  joined = true;
}

void armci_msg_finalize(void) {
  const std::lock_guard guard(message_life_lock);
  if (!joined) return;
  finalize_messages();
  joined = false;
  require(rma_finalize(), __func__);
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(Init_args);
