#include "rmarun/hosts/rank_start.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "rmarun/environment.hpp"
#include "rmarun/personality.hpp"
#include "rmarun/process_heap.hpp"
#include "rmarun/processes.hpp"
#include "rmarun/version.hpp"

namespace rmarun {
namespace {

namespace files = std::filesystem;

const Program* program_of(const Description& description, int rank) {
  int first = 0;
  for (const Program& each : description.programs) {
    if (rank >= first && rank < first + each.ranks) return &each;
    first += each.ranks;
  }
  return nullptr;
}

/// Goes to the directory in which the rank starts. Returns an obstacle without a text if there is none.
Obstacle go_to_directory(const Description& description, const Program& program, std::string& remark) {
  std::error_code error;
  files::path wanted = description.directory;
  if (!program.directory.empty()) wanted /= program.directory;
  files::current_path(wanted, error);
  if (!error) return {};
  if (!program.directory.empty()) {
    return {kExitFailure,
            fmt::format("cannot start in the directory '{}': {}", wanted.string(), error.message())};
  }
  const char* const home = std::getenv("HOME");
  files::current_path(home != nullptr ? home : "/", error);
  if (error) files::current_path("/", error);
  remark = fmt::format("no directory '{}': its ranks start in {}", wanted.string(),
                       files::current_path(error).string());
  return {};
}

Environment environment_for(const Description& description, const Program& program,
                            const std::string& directory) {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with(kDescriptionVariable)) environment.set(std::string(*entry));
  }
  if (const char* const own = std::getenv(kTmpdirVariable); own != nullptr) {
    environment.remove("TMPDIR");
    if (*own != '\0') environment.set("TMPDIR", own);
  }
  for (const std::string& assignment : description.environment) environment.set(assignment);
  environment.set("PWD", directory);
  for (const auto& [name, value] : program.environment) environment.set(name, value);
  return environment;
}

Obstacle obstacle_of(const Spawned& spawned, const Description& description, const Program& program,
                     const std::string& directory) {
  if (!spawned.at_exec) return {kExitFailure, "cannot start the rank: " + describe_refusal(spawned.error)};
  const bool missing = spawned.error == ENOENT || spawned.error == ENOTDIR;
  const std::string hint = missing && description.hosts.size() > 1
                               ? fmt::format(" (in {}; do the hosts share no file system?)", directory)
                               : "";
  return {missing ? kExitNotFound : kExitNotExecutable,
          fmt::format("cannot run '{}': {}{}", program.command.front(), std::strerror(spawned.error), hint)};
}

RankPlace place_of(const Description& description, int rank) {
  const auto& hosts = description.hosts;
  RankPlace place{rank, static_cast<int>(hosts.size()), static_cast<int>(local_rank(description, rank)), 1};
  const auto self = static_cast<std::size_t>(rank);
  if (self < hosts.size()) place.local_ranks = static_cast<int>(std::ranges::count(hosts, hosts[self]));
  return place;
}

}  // namespace

std::size_t local_rank(const Description& description, int rank) {
  const auto& hosts = description.hosts;
  const auto self = static_cast<std::size_t>(rank);
  if (self >= hosts.size()) return 0;
  return static_cast<std::size_t>(
      std::count(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(self), hosts[self]));
}

std::variant<StartedRank, Obstacle> start_described_rank(const Description& description, int rank,
                                                         FindCores find_cores, Waits& waits) {
  std::error_code error;
  if (description.version != version()) {
    return Obstacle{kExitFailure,
                    fmt::format("{} here is {}, and on {} it is {}: all hosts of a job need the same version",
                                files::read_symlink("/proc/self/exe", error).string(), version(),
                                description.origin, description.version)};
  }
  const Program* const program = program_of(description, rank);
  if (program == nullptr) return Obstacle{kExitFailure, "the job has no such rank"};
  StartedRank started;
  if (auto obstacle = go_to_directory(description, *program, started.remark); !obstacle.why.empty())
    return obstacle;
  const std::string directory = files::current_path(error).string();
  Environment environment = environment_for(description, *program, directory);
  waits.make_for(static_cast<std::size_t>(rank), description.hosts.size(), environment.get("PMIX_NAMESPACE"));
  environment.set(waits.assignment());
  if (const auto status = provide_mpi(environment, *program, place_of(description, rank)); !status.ok())
    return Obstacle{kExitFailure, std::string(status.text())};
  if (const auto status = preload_process_heap(environment); !status.ok())
    return Obstacle{kExitFailure, std::string(status.text())};
  std::vector<cpu_set_t> cores;
  if (description.bind == Bind::kCore) {
    if (find_cores == nullptr) return Obstacle{kExitFailure, "this keeper binds no ranks"};
    auto found = find_cores();
    if (!found.ok()) return Obstacle{kExitFailure, std::string(found.status().text())};
    cores = std::move(found).value();
  }
  // A program is looked for by the rank's PATH, as a shell would, and not by that of the daemon.
  ::setenv("PATH", environment.get("PATH").c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  rlimit descriptors{};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  Spawned spawned =
      spawn({.command = program->command,
             .environment = environment.entries(),
             .directory = nullptr,
             .takes_stdin = rank == 0 && description.stdin_for_first,
             .own_group = false,  // engines signal a group, and stop it
             .cores = cores.empty() ? nullptr : &cores[local_rank(description, rank) % cores.size()],
             .descriptors = descriptors});
  if (spawned.pid < 0) return obstacle_of(spawned, description, *program, directory);
  started.pid = spawned.pid;
  started.pipes = {std::move(spawned.out), std::move(spawned.err)};
  return started;
}

}  // namespace rmarun
