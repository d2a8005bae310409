#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rmarun/hosts/mapping.hpp"
#include "rmarun/hosts/way.hpp"

namespace rmarun {

enum class Bind { kNone, kCore };

/// One program of a job, with the options in front of it.
struct Program {
  int ranks = 1;
  std::string directory;  ///< in which its ranks start; empty: rmarun's
  std::vector<std::pair<std::string, std::string>> environment;  ///< for each rank; later ones win
  std::vector<std::string> command;  ///< the program and its arguments, at least one

  /// Returns the path of the program, as it is where rmarun runs. A name without a folder stays as it is.
  [[nodiscard]] std::string path() const;
};

/// The job that the command line asks for.
struct Options {
  std::vector<Program> programs;  ///< at least one. The ranks of the first come first.
  Bind bind = Bind::kNone;
  bool label = false;
  bool survive = false;
  std::optional<double> timeout_seconds;
  std::optional<int> universe;  ///< the number of ranks that the job may have with those that it spawns
  std::vector<Placed>
      placed;  ///< the hosts with their ranks; empty if all ranks start here, without an engine
  Way way;     ///< to these hosts

  /// Returns the number of ranks of the job.
  [[nodiscard]] int ranks() const;
  /// Returns the number of ranks that the job may have.
  [[nodiscard]] int seats() const { return universe.value_or(ranks()); }
  /// Returns for each rank the number of its program.
  [[nodiscard]] std::vector<int> programs_of_ranks() const;
};

/// The answer to a command line that is wrong or asks for no job (`--help`).
struct NoJob {
  int exit_code = 0;
  std::string out;  ///< for stdout
  std::string err;  ///< for stderr
};

/// Reads the command line. Options end at the program's name. The words behind it belong to the program, up
/// to a ":", behind which the next program's options begin. Behind "--" all words belong to the program.
std::variant<Options, NoJob> parse_options(int argc, const char* const* argv);

}  // namespace rmarun
