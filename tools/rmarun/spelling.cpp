#include "rmarun/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

namespace rmarun {
namespace {

constexpr const char* kHosts =
    "rmarun starts ranks on other hosts through srun, prterun or mpirun: --hosts a:4,b:4, with --engine NAME "
    "and "
    "--agent COMMAND";
constexpr const char* kPlaces =
    "use --bind core or --bind none, or taskset or numactl in front of the program";
constexpr const char* kShown = "taskset -cp PID shows where a process may run";
constexpr const char* kRedirected = "redirect rmarun's output; --label tells the ranks apart";
constexpr const char* kOwnAllocation =
    "it is for salloc and sbatch; rmarun finds the hosts of the allocation in which it runs";
constexpr const char* kNoEffect = "";

/// An option as others have it.
struct Spelling {
  const char* names;    ///< without dashes, separated by blanks
  int values;           ///< how many words follow it
  const char* own;      ///< rmarun's option with the same values, kNoEffect, or null if it is refused
  const char* instead;  ///< what to use instead of an option that is refused
};

constexpr Spelling kSpellings[] = {
    {"n np c ranks ntasks", 1, "--ranks", nullptr},
    {"host hosts H nodelist w", 1, "--host", nullptr},
    {"hostfile machinefile default-hostfile f", 1, "--hostfile", nullptr},
    {"ppn perhost npernode N ntasks-per-node", 1, "--ppn", nullptr},
    {"pernode", 0, "--ppn=1", nullptr},
    {"engine", 1, "--engine", nullptr},
    {"agent launcher-exec bootstrap-exec", 1, "--agent", nullptr},
    {"interface iface", 1, "--interface", nullptr},
    {"start-timeout", 1, "--start-timeout", nullptr},
    {"oversubscribe overcommit O", 0, "--oversubscribe", nullptr},
    {"by-node bynode rr", 0, "--by-node", nullptr},
    {"wdir wd chdir D", 1, "--wdir", nullptr},
    {"genv", 1, "--genv", nullptr},  // and -env: see assignment()
    {"bind", 1, "--bind", nullptr},
    {"mpi", 1, "--mpi", nullptr},  // and srun's --mpi=pmix: see by_value()
    {"bind-to-core", 0, "--bind=core", nullptr},
    {"bind-to-none", 0, "--bind=none", nullptr},
    {"label l tag-output prepend-rank", 0, "--label", nullptr},
    {"survive", 0, "--survive", nullptr},
    {"timeout", 1, "--timeout", nullptr},
    {"universe usize", 1, "--universe", nullptr},
    {"help h ?", 0, "--help", nullptr},
    {"version V", 0, "--version", nullptr},
    {"allow-run-as-root byslot bycore genvall envall use-hwthread-cpus hetero-nodes q quiet Q v verbose u "
     "unbuffered overlap",
     0, kNoEffect, nullptr},
    {"nooversubscribe", 0, nullptr, "give the number of slots: --host localhost:N"},
    {"genvnone envnone genvlist envlist", 0, nullptr,
     "ranks get rmarun's environment: run rmarun under env -i, with the variables that they need"},
    {"launcher bootstrap rmk nolocal localhost", 0, nullptr, kHosts},
    {"gmca omca prtemca pmixmca tune am", 0, nullptr,
     "it sets parameters of Open MPI; librma's settings are environment variables, which rma-info lists"},
    {"path", 0, nullptr, "write the program with its path, or set PATH"},
    {"prefix", 0, nullptr, "call the rmarun of the installation by its path"},
    {"configfile app file", 0, nullptr, "write the programs on the command line, with a : between them"},
    {"soft arch usize", 0, nullptr, "give the number of ranks: -n N"},
    {"initial-errhandler", 0, nullptr, "set the handler in the program: MPI_Comm_set_errhandler"},
    {"report-bindings display display-map display-devel-map display-allocation display-topo print-rank-map",
     0, nullptr, kShown},
    {"cpus-per-proc cpus-per-rank cpu-set cpu-list slot-list rankfile rf npersocket npercore bind-to-socket "
     "bysocket binding hint cpus-per-task threads-per-core ntasks-per-socket ntasks-per-core mem-bind "
     "relative r",
     0, nullptr, kPlaces},
    {"output o error e output-filename outfile-pattern errfile-pattern prepend-pattern", 0, nullptr,
     kRedirected},
    {"timestamp-output ordered-output", 0, nullptr, "put ts behind rmarun: rmarun PROGRAM | ts"},
    {"merge-stderr-to-stdout", 0, nullptr, "write 2>&1 behind the command"},
    {"print-all-exitcodes", 0, nullptr, "rmarun names the first rank that fails, with its code"},
    {"time t", 0, nullptr, "write --timeout SECONDS"},
    {"export", 0, nullptr, "ranks get rmarun's environment; --env NAME=VALUE sets more"},
    {"export-file", 0, nullptr, "ranks get rmarun's environment: set the variables before rmarun"},
    {"input i", 0, nullptr, "rank 0 gets rmarun's stdin, and the others have /dev/null"},
    {"nodes", 0, nullptr, "name the hosts: --hosts a,b; in an allocation rmarun takes all of them"},
    {"exclude", 0, nullptr, "name the hosts that you want: --hosts a,b"},
    {"multi-prog", 0, nullptr, "write the programs on the command line, with a : between them"},
    {"kill-on-bad-exit K wait W", 0, nullptr, "a rank that fails ends its job; there is nothing to set"},
    {"partition p account A qos reservation exclusive constraint C gres gpus gpus-per-task gpus-per-node mem "
     "mem-per-cpu job-name J begin licenses L jobid",
     0, nullptr, kOwnAllocation},
    {"debug gdb tv xterm", 0, nullptr, "write the debugger before the program: xterm -e gdb PROGRAM"},
    {"disable-auto-cleanup enable-recovery continuous", 0, nullptr,
     "a rank that fails ends its job, unless it has left the job by MPI_Finalize"},
};

bool has_name(const Spelling& spelling, std::string_view name) {
  std::string_view names = spelling.names;
  while (true) {
    const auto blank = names.find(' ');
    if (names.substr(0, blank) == name) return true;
    if (blank == std::string_view::npos) return false;
    names.remove_prefix(blank + 1);
  }
}

/// An option of the command line.
struct Word {
  std::string_view text;
  std::string_view name;              ///< without dashes
  std::optional<std::string> value;   ///< behind "="
  std::span<const std::string> rest;  ///< the words behind it
};

/// The outcome of one option: what it is in rmarun's spelling, and how many words it takes.
struct Taken {
  std::vector<std::string> own;
  std::size_t words = 1;
  std::string refusal;
};

Taken refuse(std::string_view option, std::string_view why) {
  return {{}, 1, fmt::format("{}: {}", option, why)};
}

Taken lacks_value(const Word& word, std::string_view what) {
  return {{}, 1, fmt::format("{} needs {} behind it", word.text, what)};
}

std::string with(std::string_view own, std::string_view value) { return fmt::format("{}={}", own, value); }

/// -env NAME VALUE and -genv NAME VALUE, or with NAME=VALUE. rmarun's own --env has the latter only.
Taken assignment(const Word& word, std::string_view own, bool may_be_two) {
  if (word.value) return {{with(own, *word.value)}, 1, ""};
  if (word.rest.empty()) return lacks_value(word, "NAME=VALUE");
  const std::string& first = word.rest[0];
  if (!may_be_two || first.find('=') != std::string::npos) return {{with(own, first)}, 2, ""};
  if (word.rest.size() < 2) return lacks_value(word, "NAME VALUE");
  return {{with(own, fmt::format("{}={}", first, word.rest[1]))}, 3, ""};
}

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// --mca NAME VALUE. A few parameters of Open MPI have options of rmarun's.
Taken parameter(const Word& word) {
  struct Known {
    std::string_view name;
    std::string_view own;
  };
  constexpr std::array kKnown = {Known{"plm_rsh_agent", "--agent"}, Known{"plm_ssh_agent", "--agent"},
                                 Known{"orte_rsh_agent", "--agent"},
                                 Known{"oob_tcp_if_include", "--interface"},
                                 Known{"prte_if_include", "--interface"}};
  constexpr std::size_t kWords = 3;
  const std::string name = word.rest.empty() ? "" : word.rest[0];
  const auto* const known =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& each) { return each.name == name; });
  if (known != kKnown.end() && word.rest.size() > 1) return {{with(known->own, word.rest[1])}, kWords, ""};
  // Names have their domains in any case.
  if (name == "orte_keep_fqdn_hostnames" && word.rest.size() > 1) return {{}, kWords, ""};
  return refuse(
      word.text,
      "it sets parameters of Open MPI; librma's settings are environment variables, which rma-info lists. "
      "Of the remote shell and the network of daemons: --agent COMMAND, --interface NAME");
}

/// --map-by and --rank-by PLACE[:MODIFIER], and srun's --distribution.
Taken mapping(const std::string& written, std::string place) {
  Taken taken;
  place = in_lower_case(std::move(place));
  constexpr std::string_view kOversubscribe = ":oversubscribe";
  if (place.ends_with(kOversubscribe)) {
    place.resize(place.size() - kOversubscribe.size());
    taken.own.emplace_back("--oversubscribe");
  }
  constexpr std::string_view kPpr = "ppr:";
  constexpr std::string_view kNode = ":node";
  if (place.starts_with(kPpr) && place.ends_with(kNode) && place.size() > kPpr.size() + kNode.size()) {
    taken.own.push_back(with("--ppn", place.substr(kPpr.size(), place.size() - kPpr.size() - kNode.size())));
  } else if (place == "node" || place == "cyclic") {
    taken.own.emplace_back("--by-node");
  } else if (place != "slot" && place != "core" && place != "block" && !place.empty()) {
    // On one host, slot and core give the same order.
    return refuse(written, fmt::format("rank i is for the i-th core; {}", kPlaces));
  }
  return taken;
}

/// --bind-to and srun's --cpu-bind.
Taken binding(const std::string& written, const std::string& value) {
  if (value == "core" || value == "cores") return {{"--bind=core"}, 1, ""};
  if (value == "none") return {{"--bind=none"}, 1, ""};
  return refuse(written, kPlaces);
}

/// Options whose value decides what becomes of them. Returns nothing for other options.
std::optional<Taken> by_value(const Word& word) {
  if (word.name == "env") return assignment(word, "--env", word.text.starts_with("-e"));
  if (word.name == "genv") return assignment(word, "--genv", true);
  if (word.name == "mca") return parameter(word);
  constexpr std::array kNames = {"x", "bind-to", "cpu-bind", "map-by", "rank-by", "distribution",
                                 "m", "stdin",   "s",        "mpi"};
  if (std::find(kNames.begin(), kNames.end(), word.name) == kNames.end()) return std::nullopt;
  if (!word.value && word.rest.empty()) return lacks_value(word, "a value");
  const std::string value = word.value ? *word.value : word.rest[0];
  const std::string written = fmt::format("{} {}", word.text, value);
  Taken taken;
  if (word.name == "x") {
    // A name without a value is in the environment of the ranks anyway.
    if (value.find('=') != std::string::npos) taken.own = {with("--genv", value)};
  } else if (word.name == "bind-to" || word.name == "cpu-bind") {
    taken = binding(written, value);
  } else if (word.name == "stdin" || word.name == "s") {
    if (value != "0") return refuse(written, "rank 0 gets rmarun's stdin, and the others have /dev/null");
  } else if (word.name == "mpi") {
    // srun's: rmarun serves PMIx to all ranks, and nothing else.
    if (value.starts_with("pmi2") || value == "list")
      return refuse(written,
                    "ranks get PMIx; --mpi openmpi|mpich|auto|own is about the libraries of the program");
    if (!value.starts_with("pmix")) taken.own = {with("--mpi", value)};
  } else {
    taken = mapping(written, value);
  }
  if (taken.refusal.empty()) taken.words = word.value ? 1 : 2;
  return taken;
}

Taken take(const Word& word) {
  if (auto taken = by_value(word)) return *std::move(taken);
  // -n4
  if (word.text.starts_with("-n") && word.text.size() > 2 &&
      std::all_of(word.text.begin() + 2, word.text.end(), [](unsigned char c) { return std::isdigit(c); })) {
    return {{with("--ranks", word.text.substr(2))}, 1, ""};
  }
  const auto* const found = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                         [&](const Spelling& each) { return has_name(each, word.name); });
  if (found == std::end(kSpellings)) return {{}, 1, fmt::format("unknown option {}", word.text)};
  if (found->own == nullptr) return refuse(word.text, found->instead);
  Taken taken;
  if (found->values == 0) {
    if (word.value) return refuse(word.text, "it has no value");
    if (found->own != kNoEffect) taken.own.emplace_back(found->own);
    return taken;
  }
  if (!word.value && word.rest.empty()) return lacks_value(word, "a value");
  taken.own.push_back(with(found->own, word.value ? *word.value : word.rest[0]));
  taken.words = word.value ? 1 : 2;
  return taken;
}

Word word_at(std::span<const std::string> words) {
  Word word;
  word.text = words[0];
  word.name = word.text.substr(word.text.starts_with("--") ? 2 : 1);
  word.rest = words.subspan(1);
  if (const auto equals = word.name.find('='); equals != std::string_view::npos) {
    word.value = std::string(word.name.substr(equals + 1));
    word.name = word.name.substr(0, equals);
    word.text = word.text.substr(0, word.text.find('='));
  }
  return word;
}

}  // namespace

CommandLine own_spelling(const std::vector<std::string>& words) {
  CommandLine line;
  std::span<const std::string> rest = words;
  while (true) {
    Section& section = line.sections.emplace_back();
    while (!rest.empty() && rest[0].size() > 1 && rest[0][0] == '-' && rest[0] != "--") {
      Taken taken = take(word_at(rest));
      if (!taken.refusal.empty()) {
        line.refusal = std::move(taken.refusal);
        return line;
      }
      section.options.insert(section.options.end(), taken.own.begin(), taken.own.end());
      rest = rest.subspan(taken.words);
    }
    const bool marked = !rest.empty() && rest[0] == "--";
    if (marked) rest = rest.subspan(1);
    const auto end = marked ? rest.end() : std::find(rest.begin(), rest.end(), ":");
    section.command.assign(rest.begin(), end);
    if (end == rest.end()) return line;
    rest = rest.subspan(section.command.size() + 1);
  }
}

}  // namespace rmarun
