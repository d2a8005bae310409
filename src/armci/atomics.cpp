// Read-modify-write, and mutexes.

#include <fmt/format.h>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/state.hpp"

namespace librma::armci {
namespace {

/// Executes a 32-bit atomic. `old` may be the address of the operand.
int update32(rma_atomic_op_t op, void* old, void* target, int operand, int process, const char* call) {
  return result(rma_atomic32(op, static_cast<std::uint32_t*>(target), static_cast<std::uint32_t>(operand), 0,
                             static_cast<std::uint32_t*>(old), process),
                call);
}

int update64(rma_atomic_op_t op, void* old, void* target, long operand, int process, const char* call) {
  return result(rma_atomic64(op, static_cast<std::uint64_t*>(target), static_cast<std::uint64_t>(operand), 0,
                             static_cast<std::uint64_t*>(old), process),
                call);
}

/// Returns the set of mutexes. Ends the job if there is no set, or no such mutex.
rma_mutexes_t mutexes(int mutex, const char* call) {
  State& now = state(call);
  if (now.mutexes == nullptr) die(call, "there are no mutexes: call ARMCI_Create_mutexes first");
  if (mutex < 0) die(call, fmt::format("there is no mutex {}", mutex));
  return now.mutexes;
}

}  // namespace

extern "C" {

int PARMCI_Rmw(int op, void* ploc, void* prem, int extra, int proc) {
  if (ploc == nullptr) return kNullArgument;
  switch (op) {
    case ARMCI_FETCH_AND_ADD:
      return update32(RMA_FETCH_ADD, ploc, prem, extra, proc, __func__);
    case ARMCI_FETCH_AND_ADD_LONG:
      return update64(RMA_FETCH_ADD, ploc, prem, extra, proc, __func__);
    case ARMCI_SWAP:
      return update32(RMA_SWAP, ploc, prem, *static_cast<int*>(ploc), proc, __func__);
    case ARMCI_SWAP_LONG:
      return update64(RMA_SWAP, ploc, prem, *static_cast<long*>(ploc), proc, __func__);
    default:
      die(__func__, fmt::format("there is no operation {}: {}", op, kOtherHeader));
  }
}

int PARMCI_Create_mutexes(int count) {
  State& now = state(__func__);
  if (count < 0) return kBadSize;
  if (now.mutexes != nullptr) die(__func__, "there are mutexes already: call ARMCI_Destroy_mutexes first");
  return result(rma_mutexes_create(rma_team_world(), static_cast<std::size_t>(count), &now.mutexes),
                __func__);
}

int PARMCI_Destroy_mutexes(void) {
  State& now = state(__func__);
  if (now.mutexes == nullptr) die(__func__, "there are no mutexes: call ARMCI_Create_mutexes first");
  return result(rma_mutexes_destroy(&now.mutexes), __func__);
}

void PARMCI_Lock(int mutex, int proc) {
  const rma_mutexes_t set = mutexes(mutex, __func__);
  require(rma_lock(set, static_cast<std::size_t>(mutex), proc), __func__);
}

void PARMCI_Unlock(int mutex, int proc) {
  const rma_mutexes_t set = mutexes(mutex, __func__);
  require(rma_unlock(set, static_cast<std::size_t>(mutex), proc), __func__);
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(Rmw);
RMA_ARMCI(Create_mutexes);
RMA_ARMCI(Destroy_mutexes);
RMA_ARMCI(Lock);
RMA_ARMCI(Unlock);
