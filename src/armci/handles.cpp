// Handles of nonblocking operations.

#include "armci/handles.hpp"

#include <utility>

#include "armci/alias.hpp"
#include "armci/state.hpp"

namespace librma::armci {

unsigned long Handles::add(rma_request_t request, int process) {
  Operation displaced;
  unsigned long number = 0;
  {
    const std::lock_guard guard(lock_);
    number = ++last_;
    displaced = std::exchange(place(number), {number, request, process});
  }
  require(rma_wait(&displaced.request), "ARMCI_Wait");
  return number;
}

void Handles::wait(unsigned long number) {
  Operation mine;
  {
    const std::lock_guard guard(lock_);
    if (place(number).number == number) mine = std::exchange(place(number), {});
  }
  require(rma_wait(&mine.request), "ARMCI_Wait");
}

bool Handles::test(unsigned long number) {
  const std::lock_guard guard(lock_);
  Operation& operation = place(number);
  if (operation.number != number) return true;
  int done = 0;
  require(rma_test(&operation.request, &done), "ARMCI_Test");
  if (done != 0) operation = {};
  return done != 0;
}

template <typename Which>
void Handles::wait_where(const Which& which) {
  std::vector<rma_request_t> requests;
  {
    const std::lock_guard guard(lock_);
    for (Operation& operation : operations_) {
      if (operation.number != 0 && which(operation)) requests.push_back(std::exchange(operation, {}).request);
    }
  }
  require(rma_wait_all(requests.data(), requests.size()), "ARMCI_WaitAll");
}

void Handles::wait_all() {
  aggregates.carry_out_all();
  wait_where([](const Operation&) { return true; });
}

void Handles::wait_process(int process) {
  aggregates.carry_out_all();
  wait_where([process](const Operation& operation) { return operation.process == process; });
}

int keep(armci_hdl_t* handle, rma_request_t request, int process, const char* call) {
  handle->operation = state(call).handles.add(request, process);
  return 0;
}

extern "C" {

void PARMCI_INIT_HANDLE(armci_hdl_t* handle) { *handle = {}; }

int PARMCI_Wait(armci_hdl_t* handle) {
  if (handle == nullptr) return PARMCI_WaitAll();
  Handles& handles = state(__func__).handles;
  handles.aggregates.carry_out(handle);
  if (handle->operation != 0) handles.wait(std::exchange(handle->operation, 0));
  return 0;
}

int PARMCI_Test(armci_hdl_t* handle) {
  if (handle == nullptr) return PARMCI_WaitAll();
  Handles& handles = state(__func__).handles;
  handles.aggregates.carry_out(handle);
  return handle->operation == 0 || handles.test(handle->operation) ? 0 : 1;
}

int PARMCI_WaitAll(void) {
  state(__func__).handles.wait_all();
  return result(rma_fence_all(), __func__);
}

int PARMCI_WaitProc(int proc) {
  state(__func__).handles.wait_process(proc);
  return result(rma_fence(proc), __func__);
}

}  // extern "C"

}  // namespace librma::armci

// A macro in armci.h hides the name of the function.
#undef ARMCI_INIT_HANDLE
RMA_ARMCI(INIT_HANDLE);
RMA_ARMCI(Wait);
RMA_ARMCI(Test);
RMA_ARMCI(WaitAll);
RMA_ARMCI(WaitProc);
