#include "rmarun/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>

#include "rmarun/environment.hpp"
#include "rmarun/exit_codes.hpp"
#include "rmarun/hosts/allocation.hpp"
#include "rmarun/hosts/host_list.hpp"
#include "rmarun/personality.hpp"
#include "rmarun/spelling.hpp"
#include "rmarun/version.hpp"

namespace rmarun {
namespace {

/// More ranks than any machine runs. The limit catches a mistyped count before it brings the machine down.
constexpr int kMostRanks = 65536;
/// Ten years. A longer time is no limit, and a shorter one cannot overflow a count of nanoseconds.
constexpr double kLongestTimeout = 3e8;

constexpr const char* kNotes =
    R"(Several programs make one job: rmarun -n 1 A : -n 2 B. Options stand before the program
that they are for; --genv, --bind, --universe, --label, --survive and --timeout are for all.
Behind "--" all words belong to the program, a ":" too.

Spellings of other launchers are known, with one dash or two: -np -c -host -hosts -H
-hostfile -machinefile -f -ppn -npernode -N -wd -x NAME[=VALUE] -env NAME VALUE
-genv NAME VALUE -l -tag-output -bind-to core|none -map-by slot|core|node -oversubscribe
-allow-run-as-root. An option that is not there is refused, with what to use instead.

Other hosts: rmarun --hosts a:4,b:4 PROGRAM. A launcher that is there already starts the ranks:
srun in an allocation of Slurm, else prterun, else Open MPI's mpirun (apt install openmpi-bin on
all hosts), over ssh without a password. rmarun, librma and PROGRAM are at the same paths there.
Ranks go host by host. They get rmarun's environment but for what belongs to this host, and start
in the same directory. RMARUN_VERBOSE=1 prints the launcher's command and texts.
Without --hosts, those of the batch job are taken: of Slurm, PBS, LSF, SGE, or the host file
of the MPI operator of Kubernetes. With localhost or this host's own name alone, rmarun starts
all ranks itself.

rmarun's exit code is that of the first rank to fail, 128 + n when signal n ended it;
124 after a timeout, 126 when the program cannot be executed, 127 when there is no
such program, 128 + n when signal n interrupted rmarun, 2 for a wrong command line.
A rank that fails ends the job. But when it fails after it has left the job (MPI_Finalize,
rma_finalize, shmem_finalize), by an exit code or a signal, the others run on to their ends.
When rmarun ends, for whatever reason, so do all processes that its ranks started.

Ctrl-\ (SIGQUIT) prints what each rank waits for, for whom and since when; the job goes on, and
its processes do not get the signal. --timeout prints the same before it ends the job.

SIGUSR1, SIGUSR2, SIGXCPU and SIGCONT are passed on to the ranks, and SIGTSTP stops
first them and then rmarun. Ctrl-C, SIGTERM, SIGHUP and --timeout end the job: its processes
get SIGTERM and, half a second later, SIGKILL. A second Ctrl-C, or any second signal, kills
them at once.
rmarun is two processes, itself and rma-job, which runs the job. When one of the two is
killed, the other ends the job; when rma-job has not ended the job 3 s after a signal or
a time limit, rmarun kills both.

Lines of several ranks stay whole. A line without its end is shown at once while one rank
writes, else after 0.05 s; others wait for its end up to 2 s, on a terminal 0.2 s.)";

/// CLI11's own line of usage names no program, which is no option of rmarun's.
class Help : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: rmarun [OPTIONS] [--] PROGRAM [ARGUMENTS...] [: [OPTIONS] PROGRAM [ARGUMENTS...]]...\n";
  }
};

std::string check_assignment(const std::string& text) {
  const auto equals = text.find('=');
  return equals == std::string::npos || equals == 0 ? "'" + text + "' is not NAME=VALUE" : "";
}

NoJob usage_error(const std::string& what) {
  return {kExitUsage, "", "rmarun: " + what + "\nRun with --help for more information.\n"};
}

std::vector<std::pair<std::string, std::string>> pairs(const std::vector<std::string>& assignments) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const std::string& text : assignments) {
    const auto equals = text.find('=');
    result.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return result;
}

/// The options of one program, before they are checked against each other.
struct Parsed {
  Program program;
  std::optional<int> ranks;
  std::optional<int> per_host;
  std::string hosts;
  std::string host_file;
  std::string mpi;
  bool oversubscribe = false;
  std::vector<std::string> environment;
  std::vector<std::string> global_environment;
};

/// Other hosts, as the first program's options name them. They are for all programs.
struct OtherHosts {
  std::vector<Host> hosts;
  std::string source;  ///< the list or file
  Wanted wanted;
};

/// Sets the number of ranks from -n, or else from the hosts. `alone`: the program is the only one.
/// @return why the options do not fit together, or an empty text.
std::string count_ranks(Parsed& parsed, bool first, bool alone, const Way& way, OtherHosts& others) {
  const Wanted wanted{parsed.ranks, parsed.per_host, parsed.oversubscribe};
  parsed.program.ranks = parsed.ranks.value_or(parsed.per_host.value_or(1));
  std::string source = parsed.hosts.empty() ? parsed.host_file : parsed.hosts;
  const bool given = !source.empty();
  librma::Result<std::vector<Host>> hosts = std::vector<Host>();
  if (given) {
    hosts = parsed.hosts.empty() ? hosts_of_file(source) : hosts_of_list(source);
    if (!hosts.ok()) return std::string(hosts.status().text());
  } else {
    // A rank of another job has its launcher's allocation. The job that it starts is its own.
    if (!first || has_value("PMIX_RANK")) return "";
    auto allocation = find_allocation([](const char* name) -> const char* { return std::getenv(name); });
    if (!allocation.ok()) return std::string(allocation.status().text());
    if (!allocation.value()) return "";
    source = allocation.value()->source;
    hosts = std::move(allocation.value()->hosts);
  }
  const std::string own = own_host_name();
  const bool all_here = std::ranges::all_of(
      hosts.value(), [&](const Host& host) { return names_this_host(host.name, own) && host.port == 0; });
  // With -n, a batch job on this host alone is no limit.
  if (all_here && !given && (parsed.ranks || !alone)) return "";
  const auto placed = place(hosts.value(), wanted, source);
  if (!placed.ok()) return std::string(placed.status().text());
  parsed.program.ranks = 0;
  for (const Placed& each : placed.value()) parsed.program.ranks += each.ranks;
  if (all_here && way.engine.empty()) return "";
  if (!first) return "hosts are for all programs, and stand before the first";
  others = {std::move(hosts).value(), source, wanted};
  return "";
}

/// Places the ranks of all programs.
std::string place_ranks(OtherHosts& others, Options& options) {
  if (others.hosts.empty()) return "";
  if (options.survive) return "--survive is for jobs on this host, and there are other hosts";
  others.wanted.ranks = options.ranks();
  auto placed = place(others.hosts, others.wanted, others.source);
  if (!placed.ok()) return std::string(placed.status().text());
  options.placed = std::move(placed).value();
  return "";
}

/// @return why there cannot be so many seats, or an empty text.
std::string check_universe(const Options& options) {
  if (!options.universe) return "";
  if (!options.placed.empty()) return "--universe is for jobs on this host, and there are other hosts";
  if (*options.universe >= options.ranks()) return "";
  return fmt::format("--universe {} leaves no room for the {} ranks of the command line", *options.universe,
                     options.ranks());
}

void add_options(CLI::App& app, Parsed& parsed, Options& options) {
  const auto add_assignments = [&](const char* name, std::vector<std::string>& to, const char* about) {
    app.add_option(name, to, about)
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false)
        ->check(CLI::Validator(check_assignment, ""));
  };
  app.formatter(std::make_shared<Help>());
  app.footer(kNotes);
  app.set_version_flag("--version", version(), "Prints the version and exits");
  app.add_option("-n,--ranks", parsed.ranks, "Number of ranks [1]")
      ->check(CLI::Range(1, kMostRanks).description(""))
      ->type_name("N");
  app.add_option("--host", parsed.hosts,
                 "Hosts for the ranks, with numbers of slots: a:4,user@b:4,[fe80::1]:2")
      ->type_name("HOST[:SLOTS],...")
      ->join(',');  // Open MPI adds lists up
  app.add_option("--hostfile", parsed.host_file, "A file of such hosts, one a line: HOST slots=N, or HOST:N")
      ->type_name("FILE")
      ->excludes("--host");
  app.add_option("--ppn", parsed.per_host, "Number of ranks on each host, if -n does not say it")
      ->check(CLI::Range(1, kMostRanks).description(""))
      ->type_name("N");
  app.add_option("--engine", options.way.engine,
                 "The launcher that starts ranks on other hosts: srun, prterun, mpirun, or a path")
      ->type_name("NAME");
  app.add_option("--agent", options.way.agent, "Its remote shell with options, instead of ssh")
      ->type_name("COMMAND");
  app.add_option("--interface", options.way.interface,
                 "The network that its daemons use, if there are several")
      ->type_name("NAME|CIDR");
  app.add_option("--start-timeout", options.way.start_seconds,
                 "Ends the job if a host has started no rank after so many seconds")
      ->type_name("SECONDS")
      ->check(CLI::Range(1e-3, kLongestTimeout).description(""))
      ->capture_default_str();
  app.add_flag("--by-node", options.way.by_node,
               "Deals ranks out to the hosts in turn, and not host by host");
  app.add_flag("--oversubscribe", parsed.oversubscribe, "Allows more ranks than the hosts have slots");
  app.add_option("--wdir", parsed.program.directory, "The directory in which the ranks start")
      ->type_name("DIRECTORY");
  add_assignments("--env", parsed.environment,
                  "Sets an environment variable for the ranks of this program; may be repeated");
  add_assignments("--genv", parsed.global_environment,
                  "Sets an environment variable for the ranks of all programs; may be repeated");
  app.add_option(
         "--mpi", parsed.mpi,
         "The MPI of the program: openmpi, if it was linked with Open MPI's libmpi.so.40; mpich, if it "
         "was with MPICH's or Intel's libmpi.so.12; auto looks whether it was; own is what the dynamic "
         "linker finds")
      ->type_name("openmpi|mpich|auto|own")
      ->check(CLI::IsMember({"openmpi", "mpich", "auto", "own"}).description(""));
  app.add_option(
         "--bind", options.bind,
         "core: binds rank i to the i-th core, starting over after the last; none: leaves it to the system")
      ->type_name("core|none")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, Bind>{{"core", Bind::kCore}, {"none", Bind::kNone}})
              .description(""))
      ->default_str("none");
  app.add_option("--universe", options.universe,
                 "Number of ranks that the job may have altogether, with those that its programs start by "
                 "MPI_Comm_spawn. All are on this host. Without it, 16 more than the command line starts if "
                 "one of the programs itself calls that function, and else none more")
      ->type_name("N")
      ->check(CLI::Range(1, kMostRanks).description(""));
  app.add_flag("--label", options.label, "Starts each line of output with [rank]");
  app.add_flag("--survive", options.survive,
               "Goes on without a rank that a signal has ended; not with other hosts");
  app.add_option("--timeout", options.timeout_seconds, "Ends the job after so many seconds")
      ->type_name("SECONDS")
      ->check(CLI::Range(1e-3, kLongestTimeout).description(""));
}

}  // namespace

int Options::ranks() const {
  return std::accumulate(programs.begin(), programs.end(), 0,
                         [](int sum, const Program& program) { return sum + program.ranks; });
}

std::vector<int> Options::programs_of_ranks() const {
  std::vector<int> result;
  for (std::size_t i = 0; i < programs.size(); ++i)
    result.insert(result.end(), static_cast<std::size_t>(programs[i].ranks), static_cast<int>(i));
  return result;
}

std::variant<Options, NoJob> parse_options(int argc, const char* const* argv) {
  Options options;
  std::vector<std::pair<std::string, std::string>> global_environment;
  OtherHosts others;
  CommandLine line = own_spelling(std::vector<std::string>(argv + 1, argv + argc));
  for (Section& section : line.sections) {
    Parsed parsed;
    CLI::App app("Runs PROGRAM as the ranks of one job.", "rmarun");
    add_options(app, parsed, options);
    try {
      std::reverse(section.options.begin(), section.options.end());  // CLI11 takes them from the end
      app.parse(std::move(section.options));
    } catch (const CLI::ParseError& error) {
      std::ostringstream out;
      std::ostringstream err;
      if (app.exit(error, out, err) == 0) return NoJob{0, out.str(), ""};
      return usage_error(error.what());
    }
    // Options that come before one that is refused may ask for help.
    if (!line.refusal.empty() && &section == &line.sections.back()) break;
    if (std::string why =
            count_ranks(parsed, options.programs.empty(), line.sections.size() == 1, options.way, others);
        !why.empty())
      return usage_error(why);
    parsed.program.command = std::move(section.command);
    if (parsed.program.command.empty())
      return usage_error(line.sections.size() == 1 ? "no program to run"
                                                   : "no program before or behind a ':'");
    parsed.program.environment = pairs(parsed.environment);
    if (!parsed.mpi.empty()) parsed.program.environment.emplace_back(kMpiSetting, parsed.mpi);
    const auto global = pairs(parsed.global_environment);
    global_environment.insert(global_environment.end(), global.begin(), global.end());
    options.programs.push_back(std::move(parsed.program));
    if (options.ranks() > kMostRanks) return usage_error(fmt::format("more than {} ranks", kMostRanks));
  }
  if (!line.refusal.empty()) return usage_error(line.refusal);
  if (std::string why = place_ranks(others, options); !why.empty()) return usage_error(why);
  if (std::string why = check_universe(options); !why.empty()) return usage_error(why);
  for (Program& program : options.programs)
    program.environment.insert(program.environment.begin(), global_environment.begin(),
                               global_environment.end());
  return options;
}

}  // namespace rmarun
