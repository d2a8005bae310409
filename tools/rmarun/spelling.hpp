#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rmarun {

/// The words of a command line that belong to one program.
struct Section {
  std::vector<std::string> options;  ///< in rmarun's own spelling
  std::vector<std::string> command;  ///< the program and its arguments; empty if there is none
};

/// A command line in rmarun's own spelling, or why it cannot be taken.
struct CommandLine {
  std::vector<Section> sections;  ///< at least one
  std::string refusal;            ///< empty if there is nothing to refuse
};

/// Splits a command line into its programs, and translates the options that Open MPI's, MPICH's and Intel's
/// launchers have. Each name may begin with one dash or two.
CommandLine own_spelling(const std::vector<std::string>& words);

}  // namespace rmarun
