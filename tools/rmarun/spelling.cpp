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
constexpr const char* kNoEffect = "";

/// An option as others have it.
struct Spelling {
  const char* names;    ///< without dashes, separated by blanks
  int values;           ///< how many words follow it
  const char* own;      ///< rmarun's option with the same values, kNoEffect, or null if it is refused
  const char* instead;  ///< what to use instead of an option that is refused
};

constexpr Spelling kSpellings[] = {
    {"n np c ranks", 1, "--ranks", nullptr},
    {"host hosts H", 1, "--host", nullptr},
    {"hostfile machinefile default-hostfile f", 1, "--hostfile", nullptr},
    {"ppn perhost npernode N", 1, "--ppn", nullptr},
    {"engine", 1, "--engine", nullptr},
    {"agent launcher-exec bootstrap-exec", 1, "--agent", nullptr},
    {"interface iface", 1, "--interface", nullptr},
    {"start-timeout", 1, "--start-timeout", nullptr},
    {"oversubscribe", 0, "--oversubscribe", nullptr},
    {"by-node bynode", 0, "--by-node", nullptr},
    {"wdir wd", 1, "--wdir", nullptr},
    {"genv", 1, "--genv", nullptr},  // and -env: see assignment()
    {"bind", 1, "--bind", nullptr},
    {"mpi", 1, "--mpi", nullptr},
    {"bind-to-core", 0, "--bind=core", nullptr},
    {"bind-to-none", 0, "--bind=none", nullptr},
    {"label l tag-output prepend-rank", 0, "--label", nullptr},
    {"survive", 0, "--survive", nullptr},
    {"timeout", 1, "--timeout", nullptr},
    {"universe usize", 1, "--universe", nullptr},
    {"help h ?", 0, "--help", nullptr},
    {"version V", 0, "--version", nullptr},
    {"allow-run-as-root byslot bycore genvall envall use-hwthread-cpus q quiet v verbose", 0, kNoEffect,
     nullptr},
    {"nooversubscribe", 0, nullptr, "give the number of slots: --host localhost:N"},
    {"genvnone envnone genvlist envlist", 0, nullptr,
     "ranks get rmarun's environment: run rmarun under env -i, with the variables that they need"},
    {"launcher bootstrap rmk nolocal", 0, nullptr, kHosts},
    {"mca gmca omca prtemca pmixmca tune am", 0, nullptr,
     "it sets parameters of Open MPI; librma's settings are environment variables, which rma-info lists"},
    {"path", 0, nullptr, "write the program with its path, or set PATH"},
    {"prefix", 0, nullptr, "call the rmarun of the installation by its path"},
    {"configfile app file", 0, nullptr, "write the programs on the command line, with a : between them"},
    {"soft arch usize", 0, nullptr, "give the number of ranks: -n N"},
    {"initial-errhandler", 0, nullptr, "set the handler in the program: MPI_Comm_set_errhandler"},
    {"report-bindings display-map display-allocation print-rank-map", 0, nullptr,
     "taskset -cp PID shows where a process may run"},
    {"cpus-per-proc cpus-per-rank cpu-set cpu-list slot-list rankfile rf npersocket npercore bind-to-socket "
     "bysocket",
     0, nullptr, kPlaces},
    {"output output-filename outfile-pattern errfile-pattern prepend-pattern", 0, nullptr,
     "redirect rmarun's output; --label tells the ranks apart"},
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

/// Options whose value decides what becomes of them. Each returns nothing for other options.
std::optional<Taken> by_value(const Word& word) {
  if (word.name == "env") return assignment(word, "--env", word.text.starts_with("-e"));
  if (word.name == "genv") return assignment(word, "--genv", true);
  constexpr std::array kNames = {"x", "bind-to", "map-by", "rank-by", "stdin", "s"};
  if (std::find(kNames.begin(), kNames.end(), word.name) == kNames.end()) return std::nullopt;
  if (!word.value && word.rest.empty()) return lacks_value(word, "a value");
  const std::string value = word.value ? *word.value : word.rest[0];
  Taken taken{{}, word.value ? std::size_t{1} : std::size_t{2}, ""};
  const std::string written = fmt::format("{} {}", word.text, value);
  if (word.name == "x") {
    // A name without a value is in the environment of the ranks anyway.
    if (value.find('=') != std::string::npos) taken.own = {with("--genv", value)};
  } else if (word.name == "bind-to") {
    if (value != "core" && value != "none") return refuse(written, kPlaces);
    taken.own = {with("--bind", value)};
  } else if (word.name == "stdin" || word.name == "s") {
    if (value != "0") return refuse(written, "rank 0 gets rmarun's stdin, and the others have /dev/null");
  } else if (value.starts_with("ppr:") && value.ends_with(":node")) {
    constexpr std::size_t kPpr = 4;
    constexpr std::size_t kNode = 5;
    taken.own = {with("--ppn", value.substr(kPpr, value.size() - std::min(value.size(), kPpr + kNode)))};
  } else {  // map-by, rank-by: on one host all places give the same order
    std::string place = value.substr(0, value.find(':'));
    std::string more = value.substr(std::min(place.size(), value.size()));
    for (std::string* part : {&place, &more})
      std::transform(part->begin(), part->end(), part->begin(),
                     [](unsigned char c) { return std::tolower(c); });
    if (place != "slot" && place != "core" && place != "node" && !place.empty())
      return refuse(written, fmt::format("rank i is for the i-th core; {}", kPlaces));
    if (place == "node") taken.own = {"--by-node"};
    if (more == ":oversubscribe") {
      taken.own.emplace_back("--oversubscribe");
    } else if (!more.empty()) {
      return refuse(written, fmt::format("rank i is for the i-th core; {}", kPlaces));
    }
  }
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
