#include "rmarun/hosts/allocation.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <sstream>
#include <string_view>
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
  for (std::string name, count; words >> name; count.clear()) {
    RMA_TRY_ASSIGN(host, host_of_word(name));
    if (!(words >> count))
      return wrong_allocation(fmt::format("{}: there is no number of slots behind {}", variable, name));
    host.slots = number_up_to(count, kMostSlots);
    if (!host.slots) return wrong_allocation(fmt::format("{}: '{}' is no number of slots", variable, count));
    add_host(allocation.hosts, std::move(host));
  }
  return allocation;
}

/// SGE's "a 4 queue <NULL>", a host a line.
librma::Result<Allocation> of_sge(const char* path) {
  Allocation allocation{"PE_HOSTFILE", {}};
  RMA_TRY_ASSIGN(lines, lines_of_host_file(path));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::istringstream words(lines[i]);
    std::string name;
    std::string count;
    if (!(words >> name)) continue;
    auto read = host_of_word(name);
    const std::string place = fmt::format("'{}', line {}", path, i + 1);
    if (!read.ok()) return std::move(read).status().within(place);
    Host host = std::move(read).value();
    if (words >> count) host.slots = number_up_to(count, kMostSlots);
    if (!host.slots) return wrong_allocation(fmt::format("{}: it is not HOST SLOTS", place));
    add_host(allocation.hosts, std::move(host));
  }
  return allocation;
}

/// A file of a batch system in which each line is a slot. A host that is named once has one, which is a
/// limit.
librma::Result<Allocation> of_lines(const char* variable, const char* path) {
  RMA_TRY_ASSIGN(hosts, hosts_of_file(path));
  for (Host& host : hosts) host.slots = host.slots.value_or(1);
  return Allocation{variable, std::move(hosts)};
}

librma::Result<Allocation> of_file(const char* variable, const char* path) {
  RMA_TRY_ASSIGN(hosts, hosts_of_file(path));
  return Allocation{variable, std::move(hosts)};
}

/// Returns the value of a variable; null if it says nothing. Launchers and their users empty variables to be
/// rid of them, and Open MPI writes "none" for no host file.
const char* told(const Lookup& lookup, std::string_view variable) {
  const char* const value = lookup(std::string(variable).c_str());
  if (value == nullptr || *value == '\0') return nullptr;
  return variable.ends_with("_hostfile") && std::string_view(value) == "none" ? nullptr : value;
}

}  // namespace

librma::Result<std::optional<Allocation>> find_allocation(const Lookup& lookup) {
  const auto found = [](const char* variable,
                        librma::Result<Allocation> allocation) -> librma::Result<std::optional<Allocation>> {
    if (!allocation.ok()) return std::move(allocation).status().within(variable);
    if (allocation.value().hosts.empty()) return wrong_allocation(fmt::format("{} names no host", variable));
    return std::optional(std::move(allocation).value());
  };
  if (const char* const nodes = told(lookup, "SLURM_JOB_NODELIST"))
    return found("SLURM_JOB_NODELIST", of_slurm(nodes, told(lookup, "SLURM_TASKS_PER_NODE")));
  for (const char* const variable : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"}) {
    if (const char* const path = told(lookup, variable)) return found(variable, of_lines(variable, path));
  }
  // Host files, with the slots that they say or as many as a host is named.
  for (const char* const variable : {"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile",
                                     "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"}) {
    if (const char* const path = told(lookup, variable)) return found(variable, of_file(variable, path));
  }
  if (const char* const pairs = told(lookup, "LSB_MCPU_HOSTS"))
    return found("LSB_MCPU_HOSTS", of_pairs("LSB_MCPU_HOSTS", pairs));
  if (const char* const path = told(lookup, "PE_HOSTFILE")) return found("PE_HOSTFILE", of_sge(path));
  return std::optional<Allocation>();
}

}  // namespace rmarun
