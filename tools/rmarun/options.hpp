#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rmarun {

enum class Bind { kNone, kCore };

/// What the command line asks for.
struct Options {
  int ranks = 1;
  Bind bind = Bind::kNone;
  bool label = false;
  std::optional<double> timeout_seconds;
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to each rank's, later ones win
  std::vector<std::string> command;  ///< the program and its arguments, at least one
};

/// The command line asks for no job (`--help`), or is wrong.
struct NoJob {
  int exit_code = 0;
  std::string out;  ///< for stdout
  std::string err;  ///< for stderr
};

/// Reads the command line. Options end at the program's name: what follows is the program's.
std::variant<Options, NoJob> parse_options(int argc, const char* const* argv);

}  // namespace rmarun
