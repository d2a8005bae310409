// armci_notify and armci_notify_wait.

#include "armci/notifications.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/state.hpp"

namespace librma::armci {

Notifications::Notifications()
    : arrived_(static_cast<std::size_t>(rma_size())), told_(arrived_.size()), waited_(arrived_.size()) {
  void* mine = nullptr;
  require(rma_malloc(rma_team_world(), arrived_.size() * sizeof(std::uint64_t), 0, arrived_.data(), &mine),
          "ARMCI_Init");
  std::fill_n(static_cast<std::uint64_t*>(mine), arrived_.size(), 0);
  require(rma_barrier(rma_team_world()), "ARMCI_Init");
}

void Notifications::close() {
  require(rma_free(rma_team_world(), arrived_[static_cast<std::size_t>(rma_rank())]), "ARMCI_Finalize");
}

int Notifications::tell(int process) {
  const int count = ++told_[static_cast<std::size_t>(process)];
  require(rma_put_notify(nullptr, nullptr, 0, arrived(process, rma_rank()), static_cast<std::uint64_t>(count),
                         process),
          "armci_notify");
  return count;
}

int Notifications::wait(int process, int* waited) {
  const int count = ++waited_[static_cast<std::size_t>(process)];
  std::uint64_t seen = 0;
  require(rma_wait_until(arrived(rma_rank(), process), RMA_GE, static_cast<std::uint64_t>(count), &seen),
          "armci_notify_wait");
  if (waited != nullptr) *waited = count;
  return static_cast<int>(seen);
}

namespace {

void check(int process, const char* call) {
  if (process < 0 || process >= rma_size()) die(call, fmt::format("there is no process {}", process));
}

}  // namespace

extern "C" {

int parmci_notify(int proc) {
  State& state = armci::state(__func__);
  check(proc, __func__);
  return state.notifications.tell(proc);
}

int parmci_notify_wait(int proc, int* count) {
  State& state = armci::state(__func__);
  check(proc, __func__);
  return state.notifications.wait(proc, count);
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI_WEAK(parmci_notify, armci_notify);
RMA_ARMCI_WEAK(parmci_notify_wait, armci_notify_wait);
