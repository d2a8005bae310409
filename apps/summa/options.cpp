#include "options.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace summa {

namespace {

// Matrices up to this side keep every byte count within 64 bits.
constexpr std::size_t kMaxSide = std::size_t{1} << 28;

}  // namespace

Parsed parse_options(int argc, const char* const* argv, bool speak) {
  Parsed parsed;
  Options& options = parsed.options;
  CLI::App app("C = A x B on a grid of ranks (SUMMA). Run it on any number of ranks.");
  app.add_option("--m", options.m, "rows of A and C")
      ->check(CLI::Range(std::size_t{1}, kMaxSide))
      ->capture_default_str();
  app.add_option("--n", options.n, "columns of B and C")
      ->check(CLI::Range(std::size_t{1}, kMaxSide))
      ->capture_default_str();
  app.add_option("--k", options.k, "columns of A, rows of B")
      ->check(CLI::Range(std::size_t{1}, kMaxSide))
      ->capture_default_str();
  app.add_option("--block", options.block, "how much of k one step multiplies, at most")
      ->check(CLI::Range(std::size_t{1}, kMaxSide))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the matrices and of the verification")
      ->capture_default_str();
  std::string mode = "overlap";
  CLI::Option* const mode_option = app.add_option("--mode", mode,
                                                  "overlap: fetch the next panels while multiplying; "
                                                  "blocking: fetch, then multiply; both: one after "
                                                  "the other, and the gain")
                                       ->check(CLI::IsMember({"overlap", "blocking", "both"}))
                                       ->capture_default_str();
  bool blocking = false;
  app.add_flag("--blocking", blocking, "the same as --mode blocking")->excludes(mode_option);
  app.add_flag("--verify", options.verify, "check the product; the exit code is 1 when it is wrong");
  app.add_flag("--json", options.json, "print JSON instead of text");
  std::array<std::size_t, 2> element{};
  CLI::Option* const inject =
      app.add_option("--inject-error", element, "spoil element ROW,COL of the product, to try --verify")
          ->delimiter(',')
          ->group("");  // for tests: left out of --help

  try {
    app.parse(argc, argv);
    if (inject->count() > 0) {
      if (element[0] >= options.m || element[1] >= options.n) {
        throw CLI::ValidationError("--inject-error", "the product has no such element");
      }
      options.inject_error = Element{element[0], element[1]};
    }
  } catch (const CLI::ParseError& error) {
    std::ostringstream nowhere;
    parsed.exit_code = speak ? app.exit(error) : app.exit(error, nowhere, nowhere);
  }
  options.overlap = !blocking && mode != "blocking";
  options.blocking = blocking || mode != "overlap";
  return parsed;
}

}  // namespace summa
