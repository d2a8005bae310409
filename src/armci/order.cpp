// Fences and the barrier.

#include <atomic>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/groups.hpp"

using librma::armci::default_group;
using librma::armci::require;

extern "C" {

void PARMCI_Fence(int proc) { require(rma_fence(proc), __func__); }

void PARMCI_AllFence(void) { require(rma_fence_all(), __func__); }

void PARMCI_GroupFence(ARMCI_Group* /*group*/) { PARMCI_AllFence(); }

// The memory is coherent. So only the order between completed operations of other processes and the program's
// next accesses must be kept.
void PARMCI_Access_begin(void* /*address*/) { std::atomic_thread_fence(std::memory_order_seq_cst); }

void PARMCI_Access_end(void* /*address*/) { std::atomic_thread_fence(std::memory_order_seq_cst); }

void PARMCI_Barrier(void) { require(rma_barrier(team_of(default_group(__func__), __func__)), __func__); }

}  // extern "C"

RMA_ARMCI(Fence);
RMA_ARMCI(AllFence);
RMA_ARMCI(GroupFence);
RMA_ARMCI(Access_begin);
RMA_ARMCI(Access_end);
RMA_ARMCI(Barrier);
