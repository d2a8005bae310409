#include "rmarun/hosts/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <utility>

#include "util/try_assign.hpp"

namespace rmarun {
namespace {

/// More hosts than any machine has.
constexpr std::size_t kMostHosts = 100'000;
constexpr int kMostTasks = 1 << 20;

librma::Status wrong_allocation(std::string text) { return {RMA_ERR_ARGUMENT, std::move(text)}; }

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > kMostTasks)
    return std::nullopt;
  return number;
}

/// Adds PREFIX01 to PREFIX12 for the range "01-12". Names of Slurm keep the zeros in front.
bool add_range(std::vector<std::string>& names, const std::string& prefix, std::string_view range) {
  const auto dash = range.find('-');
  const std::string_view from = range.substr(0, dash);
  const auto first = number_in(from);
  const auto last = dash == range.npos ? first : number_in(range.substr(dash + 1));
  if (!first || !last || static_cast<std::size_t>(*last - std::min(*first, *last)) > kMostHosts) return false;
  for (int number = *first; number <= *last && names.size() < kMostHosts; ++number)
    names.push_back(fmt::format("{}{:0{}}", prefix, number, from.size()));
  return true;
}

librma::Result<Allocation> of_slurm(const char* nodes, const char* tasks) {
  Allocation allocation{"SLURM_JOB_NODELIST", {}};
  RMA_TRY_ASSIGN(names, expand_slurm_list(nodes));
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
    host.slots = number_in(count);
    if (!host.slots) return wrong_allocation(fmt::format("{}: '{}' is no number of slots", variable, count));
    add_host(allocation.hosts, std::move(host));
  }
  return allocation;
}

/// SGE's "a 4 queue <NULL>", a host a line.
librma::Result<Allocation> of_sge(const char* path) {
  Allocation allocation{"PE_HOSTFILE", {}};
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::string count;
    if (!(words >> name)) continue;
    RMA_TRY_ASSIGN(host, host_of_word(name));
    if (words >> count) host.slots = number_in(count);
    if (!host.slots) return wrong_allocation(fmt::format("PE_HOSTFILE: '{}' is no line HOST SLOTS", line));
    add_host(allocation.hosts, std::move(host));
  }
  return allocation;
}

}  // namespace

librma::Result<std::vector<std::string>> expand_slurm_list(std::string_view list) {
  const auto failure = [&] { return wrong_allocation(fmt::format("'{}' is no list of Slurm's", list)); };
  std::vector<std::string> names;
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto end = rest.find_first_of(",[");
    std::string prefix(rest.substr(0, end));
    if (end == rest.npos || rest[end] == ',') {
      if (prefix.empty()) return failure();
      names.push_back(std::move(prefix));
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
      continue;
    }
    const auto close = rest.find(']');
    if (close == rest.npos) return failure();
    std::istringstream ranges(std::string(rest.substr(end + 1, close - end - 1)));
    for (std::string range; std::getline(ranges, range, ',');) {
      if (!add_range(names, prefix, range)) return failure();
    }
    rest.remove_prefix(close + 1);
    // A second pair of brackets, or a name that goes on, is of machines with several dimensions.
    if (!rest.empty() && rest.front() != ',') return failure();
    if (!rest.empty()) rest.remove_prefix(1);
  }
  if (names.empty()) return failure();
  return names;
}

librma::Result<std::vector<int>> expand_slurm_counts(std::string_view counts) {
  std::vector<int> numbers;
  std::istringstream words{std::string(counts)};
  for (std::string word; std::getline(words, word, ',');) {
    const auto open = word.find("(x");
    const auto number = number_in(std::string_view(word).substr(0, open));
    const auto times =
        open == word.npos ? 1 : number_in(std::string_view(word).substr(open + 2, word.size() - open - 3));
    if (!number || !times || (open != word.npos && word.back() != ')') || numbers.size() > kMostHosts)
      return wrong_allocation(fmt::format("'{}' are no numbers of Slurm's", counts));
    numbers.insert(numbers.end(), static_cast<std::size_t>(*times), *number);
  }
  return numbers;
}

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
