#include "rmarun/hosts/allocation.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <utility>

#include "rmarun/hosts/host_ranges.hpp"
#include "util/try_assign.hpp"

namespace rmarun {
namespace {

librma::Status wrong_allocation(std::string text) { return {RMA_ERR_ARGUMENT, std::move(text)}; }

librma::Result<Allocation> of_slurm(const char* nodes, const char* tasks) {
  Allocation allocation{"SLURM_JOB_NODELIST", {}};
  RMA_TRY_ASSIGN(names, expand_host_ranges(nodes));
  std::vector<int> counts;
  if (tasks != nullptr) {
    RMA_TRY_ASSIGN(read, expand_slurm_counts(tasks));
    counts = read;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    RMA_TRY_ASSIGN(host, host_of_word(names[i]));
    if (i < counts.size()) host.slots = counts[i];
    add_host(allocation.hosts, std::move(host));
  }
  return allocation;
}

/// LSF's "a 4 b 4".
librma::Result<Allocation> of_pairs(const char* variable, const char* text) {
  Allocation allocation{variable, {}};
  std::istringstream words(text);
  for (std::string name, count; words >> name >> count;) {
    RMA_TRY_ASSIGN(host, host_of_word(name));
    host.slots = number_up_to(count, kMostSlots);
    if (!host.slots) return wrong_allocation(fmt::format("{}: '{}' is no number of slots", variable, count));
    add_host(allocation.hosts, std::move(host));
  }
  return allocation;
}

/// SGE's "a 4 queue <NULL>", a host a line.
librma::Result<Allocation> of_sge(const char* path) {
  Allocation allocation{"PE_HOSTFILE", {}};
  std::ifstream file(path);
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string name;
    std::string count;
    if (!(words >> name)) continue;
    auto read = host_of_word(name);
    const std::string place = fmt::format("'{}', line {}", path, number);
    if (!read.ok()) return std::move(read).status().within(place);
    Host host = std::move(read).value();
    if (words >> count) host.slots = number_up_to(count, kMostSlots);
    if (!host.slots) return wrong_allocation(fmt::format("{}: it is not HOST SLOTS", place));
    add_host(allocation.hosts, std::move(host));
  }
  return allocation;
}

}  // namespace

librma::Result<std::optional<Allocation>> find_allocation(const Lookup& lookup) {
  const auto found = [](const char* variable,
                        librma::Result<Allocation> allocation) -> librma::Result<std::optional<Allocation>> {
    if (!allocation.ok()) return std::move(allocation).status().within(variable);
    if (allocation.value().hosts.empty()) return wrong_allocation(fmt::format("{} names no host", variable));
    return std::optional(std::move(allocation).value());
  };
  const char* const nodes = lookup("SLURM_JOB_NODELIST");
  if (nodes != nullptr) {
    const char* const step = lookup("SLURM_TASKS_PER_NODE");
    return found("SLURM_JOB_NODELIST", of_slurm(nodes, step));
  }
  // Host files, with the slots that they say or as many as a host is named.
  constexpr std::array kFiles = {"PBS_NODEFILE",
                                 "LSB_DJOB_HOSTFILE",
                                 "OMPI_MCA_orte_default_hostfile",
                                 "PRTE_MCA_prte_default_hostfile",
                                 "HYDRA_HOST_FILE",
                                 "I_MPI_HYDRA_HOST_FILE"};
  for (const char* const variable : kFiles) {
    const char* const path = lookup(variable);
    if (path == nullptr) continue;
    auto hosts = hosts_of_file(path);
    if (!hosts.ok()) return found(variable, std::move(hosts).status());
    return found(variable, Allocation{variable, std::move(hosts).value()});
  }
  if (const char* const pairs = lookup("LSB_MCPU_HOSTS"))
    return found("LSB_MCPU_HOSTS", of_pairs("LSB_MCPU_HOSTS", pairs));
  if (const char* const path = lookup("PE_HOSTFILE")) return found("PE_HOSTFILE", of_sge(path));
  return std::optional<Allocation>();
}

}  // namespace rmarun
