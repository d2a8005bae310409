#include "rmarun/hosts/engine_search.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "rmarun/deadlines.hpp"
#include "rmarun/environment.hpp"
#include "rmarun/hosts/engine_text.hpp"
#include "rmarun/spawn.hpp"
#include "util/system/interruptions.hpp"
#include "util/try_assign.hpp"

namespace rmarun {
namespace {

/// How long a program may take to tell its version, and how much of it is read.
constexpr auto kVersionGrace = std::chrono::seconds(10);
constexpr std::size_t kMostOfVersion = 4096;
/// From this version on Open MPI's mpirun is PRRTE's prterun.
constexpr int kOpenMpiWithPrrte = 5;

/// Returns the path of a program: looks in PATH unless the name has a '/'. Returns an empty text if there is
/// no such program.
std::string program_path(const std::string& name) {
  const auto executable = [](const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != name.npos) return executable(name) ? name : "";
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    std::string found = fmt::format("{}/{}", folder, name);
    if (executable(found)) return found;
  }
  return "";
}

EngineKind kind_of_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("srun")) return EngineKind::kSrun;
  if (name.starts_with("prte")) return EngineKind::kPrterun;
  return EngineKind::kMpirun;
}

/// Reads both streams of a process until they end, the time is over, or enough has come.
std::string read_streams(Spawned& process) {
  const auto end = std::chrono::steady_clock::now() + kVersionGrace;
  std::string text;
  while ((process.out.open() || process.err.open()) && text.size() < kMostOfVersion) {
    std::array<pollfd, 2> polls = {{{process.out.open() ? process.out.get() : -1, POLLIN, 0},
                                    {process.err.open() ? process.err.get() : -1, POLLIN, 0}}};
    if (::poll(polls.data(), polls.size(), poll_timeout_until(end)) == 0) break;
    std::array<char, kMostOfVersion> piece;
    if (polls[0].revents != 0) text += read_once(process.out, piece);
    if (polls[1].revents != 0) text += read_once(process.err, piece);
  }
  return text;
}

/// Returns what a program prints for --version; nothing if it cannot be run.
std::string version_of(const std::string& path) {
  rlimit descriptors{};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  const std::vector<std::string> command = {path, "--version"};
  Spawned process = spawn(
      {.command = command, .environment = Environment::inherited().entries(), .descriptors = descriptors});
  if (process.pid < 0) return "";
  std::string text = read_streams(process);
  ::kill(-process.pid, SIGKILL);
  static_cast<void>(librma::uninterrupted([&] { return ::waitpid(process.pid, nullptr, 0); }));
  return text;
}

librma::Result<Engine> named_engine(const std::string& name) {
  std::string path = program_path(name == "mpirun" ? "mpirun.openmpi" : name);
  if (path.empty()) path = program_path(name);
  if (path.empty()) {
    return librma::Status(RMA_ERR_LAUNCH, fmt::format("--engine {}: there is no such program in PATH", name));
  }
  const std::string version = version_of(path);
  if (const auto kind = kind_of_version(version)) return Engine{*kind, path};
  const std::string line = without_controls(version.substr(0, version.find('\n')));
  return librma::Status(
      RMA_ERR_LAUNCH,
      fmt::format(
          "--engine {}: {} is none of the launchers that rmarun can use: Slurm's srun, PRRTE's prterun "
          "and Open MPI's mpirun. {} --version prints {}",
          name, path, path, line.empty() ? "nothing" : fmt::format("'{}'", line)));
}

}  // namespace

std::optional<EngineKind> kind_of_version(std::string_view text) {
  constexpr std::string_view kOpenMpi = "(Open MPI) ";
  if (const auto at = text.find(kOpenMpi); at != text.npos) {
    const std::string_view digits = text.substr(at + kOpenMpi.size());
    int version = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), version).ec != std::errc())
      return std::nullopt;
    return version < kOpenMpiWithPrrte ? EngineKind::kMpirun : EngineKind::kPrterun;
  }
  if (text.find("(OpenRTE) ") != text.npos) return EngineKind::kMpirun;
  if (text.find("PRRTE") != text.npos || text.starts_with("prte")) return EngineKind::kPrterun;
  if (text.starts_with("slurm")) return EngineKind::kSrun;
  return std::nullopt;
}

librma::Result<Engine> find_engine(const Way& way) {
  if (!way.engine.empty()) return named_engine(way.engine);
  std::vector<std::string> names = {"prterun", "mpirun.openmpi", "orterun"};
  if (has_value("SLURM_JOB_ID")) names.insert(names.begin(), "srun");
  for (const std::string& name : names) {
    if (std::string path = program_path(name); !path.empty()) return Engine{kind_of_name(path), path};
  }
  return librma::Status(
      RMA_ERR_LAUNCH,
      "several hosts need a launcher that starts rmarun on them, and this machine has neither prterun nor "
      "Open MPI's mpirun: apt install openmpi-bin, on all hosts");
}

librma::Status check_agent(const Way& way) {
  std::string shell = "ssh";
  std::istringstream(way.agent) >> shell;
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
  };
  if (!std::ranges::all_of(shell, plain) || !program_path(shell).empty()) return {};
  if (way.agent.empty()) {
    return {RMA_ERR_LAUNCH,
            "several hosts need a remote shell, and this machine has no ssh in PATH: apt install "
            "openssh-client, or name another one by --agent"};
  }
  const std::string_view where = shell.find('/') == shell.npos ? " in PATH" : "";
  return {RMA_ERR_LAUNCH, fmt::format("--agent {}: there is no such program{}", shell, where)};
}

}  // namespace rmarun
