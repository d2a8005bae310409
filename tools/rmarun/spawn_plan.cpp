#include "rmarun/spawn_plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "rmarun/hosts/host_list.hpp"
#include "rmarun/split.hpp"

namespace rmarun {
namespace {

namespace files = std::filesystem;

bool is_program(const files::path& path) {
  std::error_code error;
  return files::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// Returns where a program is that starts in a directory, or an empty text.
std::string find_program(const librma::SpawnedProgram& program, const Environment& inherited) {
  const std::string& name = program.command.front();
  const files::path start = program.directory;  // an absolute path behind it takes its place
  if (name.find('/') != std::string::npos && program.path.empty())
    return is_program(start / name) ? name : std::string();
  std::vector<std::string> folders = split(program.path, ':');
  for (std::string& folder : split(inherited.get("PATH"), ':')) folders.push_back(std::move(folder));
  for (const std::string& folder : folders) {
    const files::path candidate = files::path(folder) / name;
    if (is_program(start / candidate)) return candidate;
  }
  // MPI leaves to the library where else a program may be: here, beside the others.
  return is_program(start / name) ? "./" + name : std::string();
}

/// Returns why a program cannot start here, or an empty text.
std::string obstacle(const librma::SpawnedProgram& program) {
  for (const std::string& host : split(program.host, ',')) {
    if (!names_this_host(host, own_host_name()))
      return fmt::format("the host '{}' is not this one, and ranks are spawned on rmarun's own host only",
                         host);
  }
  std::error_code error;
  if (program.directory.empty() || files::is_directory(program.directory, error)) return "";
  return fmt::format("there is no directory '{}'", program.directory);
}

}  // namespace

SpawnPlan plan_spawn(const librma::SpawnCall& call,
                     const std::vector<std::pair<std::string, std::string>>& environment, int room,
                     const Environment& inherited) {
  SpawnPlan plan;
  for (const librma::SpawnedProgram& wanted : call.programs) {
    if (plan.why_none = obstacle(wanted); !plan.why_none.empty()) return plan;
    const std::string found = find_program(wanted, inherited);
    if (found.empty()) {
      plan.why_none = fmt::format("there is no program '{}'", wanted.command.front());
      return plan;
    }
    const auto ranks = librma::soft_number(wanted.soft, wanted.ranks, room);
    if (!ranks || *ranks <= 0) {
      plan.why_none = !ranks ? fmt::format("'{}' is no list of numbers", wanted.soft)
                             : fmt::format(
                                   "the job has room for {} more ranks, and {} of '{}' are asked for (rmarun "
                                   "--universe N makes room for N ranks altogether)",
                                   room, wanted.ranks, wanted.command.front());
      return plan;
    }
    room -= *ranks;
    Program& program = plan.programs.emplace_back();
    program.ranks = *ranks;
    program.directory = wanted.directory;
    program.environment = environment;
    program.command = wanted.command;
    program.command.front() = found;
  }
  return plan;
}

}  // namespace rmarun
