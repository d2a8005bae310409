#include "rmarun/hosts/engine.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "rmarun/hosts/agent_script.hpp"
#include "rmarun/hosts/engine_names.hpp"

namespace rmarun {
namespace {

/// A host's daemon is asked for a sign of life after 5 s of silence, and is lost after three missing answers
/// 2 s apart: 11 s. The engine's own setting is 300 s.
constexpr std::array<std::string_view, 6> kKeepAlive = {
    "oob_tcp_keepalive_time", "5", "oob_tcp_keepalive_intvl", "2", "oob_tcp_keepalive_probes", "3"};

bool write_file(const std::string& path, const std::string& text, mode_t mode) {
  std::ofstream file(path);
  file << text;
  file.close();
  return !file.fail() && ::chmod(path.c_str(), mode) == 0;
}

/// Returns a host file with a line for each rank. All engines have a mapping that takes
/// lines in their order. By slots, Open MPI would put this host first.
std::string host_file(const Way& way, const std::vector<Placed>& placed) {
  return fmt::format("{}\n", fmt::join(hosts_by_rank(placed, way.by_node), "\n"));
}

void append(std::vector<std::string>& to, const std::vector<std::string>& words) {
  to.insert(to.end(), words.begin(), words.end());
}

/// Adds an option of the engine's component system.
void add_parameter(std::vector<std::string>& to, const Engine& engine, std::string_view name,
                   std::string_view value) {
  append(to, {engine.kind == EngineKind::kPrterun ? "--prtemca" : "--mca", std::string(name),
              std::string(value)});
}

/// What starts on a host: the keeper or rmarun by their paths here, else rmarun by the host's PATH. Without
/// it the shell writes a keeper's words itself.
std::vector<std::string> keeper_command(const Engine& engine) {
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::string head = engine.carriage() == Carriage::kLines ? R"(\020r$PMIX_RANK;)" : "";
  const std::string script = fmt::format(
      "if [ -x \"$0\" ]; then [ -x \"$1\" ] && exec \"$1\"; exec \"$0\" --rank; fi; command -v rmarun > "
      "/dev/null && exec rmarun --rank; "
      "printf \"{}\\020(fail 127 neither $0 nor rmarun in PATH is on this host\\020)\\n\" >&{}; exit 127",
      head, engine.descriptor());
  std::vector<std::string> words = {"/bin/sh", "-c", script, self};
  if (!engine.keeper.empty()) words.push_back(engine.keeper);
  return words;
}

/// Returns the hosts of all ranks, by their engine's names.
std::string hosts_for_engine(const Way& way, const std::vector<Placed>& placed) {
  const std::string own = own_host_name();
  std::vector<Placed> renamed = placed;
  for (Placed& each : renamed) each.host.name = engine_name(each.host, own);
  return fmt::format("{}", fmt::join(hosts_by_rank(renamed, way.by_node), ","));
}

std::vector<std::string> srun_command(const Engine& engine, const std::vector<Placed>& placed, int ranks) {
  return {engine.path,
          "--mpi=pmix",
          "--nodes=" + std::to_string(placed.size()),
          "--ntasks=" + std::to_string(ranks),
          "--distribution=arbitrary",
          "--export=ALL",
          "--input=0",
          "--kill-on-bad-exit=1",
          "--overlap",
          "--overcommit",
          "--cpu-bind=none",
          "--quiet"};
}

}  // namespace

librma::Result<EngineFiles> write_engine_files(const Engine& engine, const Way& way,
                                               const std::vector<Placed>& placed,
                                               const std::string& directory) {
  EngineFiles files;
  files.directory = directory;
  files.hosts = directory + "/hosts";
  if (!write_file(files.hosts, host_file(way, placed), 0600))
    return librma::system_failure(RMA_ERR_SYSTEM, "cannot write " + files.hosts, errno);
  if (engine.kind == EngineKind::kSrun) return files;
  // The engine takes the setting apart at blanks and colons.
  if (directory.find_first_of(" \t:,\\'\"") != directory.npos) {
    return librma::Status(
        RMA_ERR_ARGUMENT,
        fmt::format("'{}' has a blank or a colon, which the engine cannot bear: set TMPDIR", directory));
  }
  files.agent = directory + "/agent";
  if (!write_file(files.agent, agent_script(way, placed, directory), 0700))
    return librma::system_failure(RMA_ERR_SYSTEM, "cannot write " + files.agent, errno);
  return files;
}

std::vector<std::string> engine_command(const Engine& engine, const Way& way,
                                        const std::vector<Placed>& placed, const EngineFiles& files,
                                        const std::vector<std::string>& variables) {
  int ranks = 0;
  for (const Placed& each : placed) ranks += each.ranks;
  std::vector<std::string> words;
  if (engine.kind == EngineKind::kSrun) {
    words = srun_command(engine, placed, ranks);
    append(words, keeper_command(engine));
    return words;
  }
  words.push_back(engine.path);
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  for (std::size_t i = 0; i < kKeepAlive.size(); i += 2)
    add_parameter(words, engine, kKeepAlive[i], kKeepAlive[i + 1]);
  if (!way.interface.empty()) add_parameter(words, engine, "oob_tcp_if_include", way.interface);
  // Without this the engine cuts names at their first dot: hosts that differ in their domains would be one.
  add_parameter(words, engine,
                engine.kind == EngineKind::kPrterun ? "prte_keep_fqdn_hostnames" : "orte_keep_fqdn_hostnames",
                "1");
  // Each daemon maps the ranks itself, so a file would have to be on all hosts.
  append(words, {"--bind-to", "none", "--host", hosts_for_engine(way, placed), "-np", std::to_string(ranks)});
  // The engine starts each daemon itself: the agent is on this host alone, and trees of daemons hang at
  // certain numbers of hosts. Daemons look for the agent too, though they call none, and some crash on a host
  // that lacks the file.
  const std::string agents = files.agent + ":true";
  if (engine.kind == EngineKind::kPrterun) {
    add_parameter(words, engine, "plm_ssh_agent", agents);
    add_parameter(words, engine, "plm_ssh_no_tree_spawn", "1");
    append(words, {"--map-by", "seq:OVERSUBSCRIBE", "--stdin", "0"});
  } else {
    add_parameter(words, engine, "plm_rsh_agent", agents);
    add_parameter(words, engine, "plm_rsh_no_tree_spawn", "1");
    add_parameter(words, engine, "plm_rsh_num_concurrent", "8");
    add_parameter(words, engine, "ess_base_forward_signals",
                  "SIGUSR1,SIGUSR2,SIGXCPU,SIGTSTP,SIGCONT,SIGURG");
    append(words, {"--map-by", "seq", "--oversubscribe", "--tag-output"});
  }
  for (const std::string& name : variables) append(words, {"-x", name});
  append(words, keeper_command(engine));
  return words;
}

bool srun_passes_on(int signal) { return signal == SIGUSR1 || signal == SIGUSR2; }

std::vector<std::string> slurm_signal_command(int signal) {
  const char* const job = std::getenv("SLURM_JOB_ID");
  return {"scancel", "--quiet", fmt::format("--signal={}", signal), job != nullptr ? job : ""};
}

}  // namespace rmarun
