// The distribution of processes over hosts.

#include "armci/topology.hpp"

#include <fmt/format.h>

#include <map>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/state.hpp"

namespace librma::armci {

Topology::Topology() {
  const int size = rma_size();
  int lowest = rma_rank();
  for (int process = lowest; process >= 0; --process) {
    if (rma_same_host(process) != 0) lowest = process;
  }
  std::vector<int> lowest_of(static_cast<std::size_t>(size));
  require(rma_allgather(rma_team_world(), lowest_of.data(), &lowest, sizeof lowest), "ARMCI_Init");
  std::map<int, int> hosts;  // host number by lowest process
  for (int process = 0; process < size; ++process) {
    const auto [host, is_new] =
        hosts.emplace(lowest_of[static_cast<std::size_t>(process)], static_cast<int>(hosts.size()));
    if (is_new) processes_.emplace_back();
    processes_[static_cast<std::size_t>(host->second)].push_back(process);
    host_of_.push_back(host->second);
  }
}

int Topology::host_of(int process) const {
  if (process < 0 || static_cast<std::size_t>(process) >= host_of_.size()) return -1;
  return host_of_[static_cast<std::size_t>(process)];
}

const std::vector<int>& Topology::processes(int host) const {
  if (host < 0 || host >= hosts()) return none_;
  return processes_[static_cast<std::size_t>(host)];
}

namespace {

const Topology& topology(const char* call) { return state(call).topology; }

}  // namespace

extern "C" {

int PARMCI_Same_node(int proc) { return rma_same_host(proc); }

int armci_sameclusnode(int proc) { return rma_same_host(proc); }

int PARMCI_Uses_shm(void) { return 1; }

int PARMCI_Uses_shm_grp(ARMCI_Group* /*group*/) { return 1; }

void PARMCI_Set_shm_limit(unsigned long /*limit*/) {}

int armci_domain_count(armci_domain_t /*domain*/) { return topology(__func__).hosts(); }

int armci_domain_id(armci_domain_t /*domain*/, int proc) { return topology(__func__).host_of(proc); }

int armci_domain_my_id(armci_domain_t /*domain*/) { return topology(__func__).host_of(rma_rank()); }

int armci_domain_nprocs(armci_domain_t domain, int id) {
  // As in the original ARMCI, a negative number means the caller's own host.
  const int host = id < 0 ? armci_domain_my_id(domain) : id;
  return static_cast<int>(topology(__func__).processes(host).size());
}

int armci_domain_glob_proc_id(armci_domain_t /*domain*/, int id, int place) {
  const std::vector<int>& processes = topology(__func__).processes(id);
  if (place < 0 || static_cast<std::size_t>(place) >= processes.size()) {
    die(__func__, fmt::format("domain {} has no process {}", id, place));
  }
  return processes[static_cast<std::size_t>(place)];
}

int armci_domain_same_id(armci_domain_t /*domain*/, int proc) { return rma_same_host(proc); }

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(Same_node);
RMA_ARMCI(Uses_shm);
RMA_ARMCI(Uses_shm_grp);
RMA_ARMCI(Set_shm_limit);
