#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rmarun {

enum class Bind { kNone, kCore };

/// The job that the command line asks for.
struct Options {
  int ranks = 1;
  Bind bind = Bind::kNone;
  bool label = false;
  std::optional<double> timeout_seconds;
  std::vector<std::pair<std::string, std::string>> environment;  ///< for each rank; later ones win
  std::vector<std::string> command;  ///< the program and its arguments, at least one
};

/// The answer to a command line that is wrong or asks for no job (`--help`).
struct NoJob {
  int exit_code = 0;
  std::string out;  ///< for stdout
  std::string err;  ///< for stderr
};

/// Reads the command line. Options end at the program's name; everything behind it belongs to the program.
std::variant<Options, NoJob> parse_options(int argc, const char* const* argv);

}  // namespace rmarun
