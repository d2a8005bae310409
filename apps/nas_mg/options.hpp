/// @file
/// The options of nas_mg.
#ifndef NAS_MG_OPTIONS_HPP
#define NAS_MG_OPTIONS_HPP

#include <optional>

#include "decomposition.hpp"

namespace nas_mg {

struct Options {
  char problem = 'S';             ///< the class
  std::optional<int> iterations;  ///< instead of the class's
  std::optional<RankGrid> grid;   ///< instead of default_grid()
  bool json = false;
  bool inject_error = false;  ///< spoil one charge, to try the verification
};

/// The options, or the exit code to end with: for --help, or for a wrong option. Every rank reads the same
/// command line; `speak` on one of them only.
struct Parsed {
  Options options;
  std::optional<int> exit_code;
};
Parsed parse_options(int argc, const char* const* argv, bool speak);

}  // namespace nas_mg

#endif
