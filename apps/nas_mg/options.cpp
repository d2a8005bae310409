#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cctype>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "problem.hpp"

namespace nas_mg {

namespace {

constexpr int kMostIterations = 1'000'000;

}  // namespace

Parsed parse_options(int argc, const char* const* argv, bool speak) {
  Parsed parsed;
  Options& options = parsed.options;
  CLI::App app(
      "The NAS benchmark MG: Poisson's equation in three dimensions, by multigrid. Run it on any power of "
      "two of ranks.");
  std::vector<std::string> names;
  for (const Problem& each : problems()) names.emplace_back(1, each.name);
  std::string name(1, options.problem);
  app.add_option("--class", name, "the problem: S has 32 points along each side, W 128, A and B 256, C 512")
      ->check(CLI::IsMember(names, CLI::ignore_case))
      ->capture_default_str();
  int iterations = 0;
  CLI::Option* const iterations_option =
      app.add_option("--iterations", iterations,
                     "V-cycles instead of the class's; the result is then not verified")
          ->check(CLI::Range(1, kMostIterations));
  RankGrid grid{};
  CLI::Option* const grid_option =
      app.add_option("--grid", grid, "how the ranks are arranged, instead of as near to a cube as can be")
          ->delimiter(',')
          ->type_name("X,Y,Z");
  app.add_flag("--json", options.json, "print JSON instead of text");
  app.add_flag("--inject-error", options.inject_error, "spoil one charge, to try the verification")
      ->group("");  // for tests: left out of --help

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream nowhere;
    parsed.exit_code = speak ? app.exit(error) : app.exit(error, nowhere, nowhere);
    return parsed;
  }
  options.problem = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  if (iterations_option->count() > 0) options.iterations = iterations;
  if (grid_option->count() > 0) options.grid = grid;
  return parsed;
}

}  // namespace nas_mg
