#include "rmarun/options.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <sstream>

#include "rma/types.h"
#include "rmarun/exit_codes.hpp"

namespace rmarun {
namespace {

/// More ranks than any machine runs. The limit catches a mistyped count before it brings the machine down.
constexpr int kMostRanks = 65536;
/// Ten years. A longer time is no limit, and a shorter one cannot overflow a count of nanoseconds.
constexpr double kLongestTimeout = 3e8;

constexpr const char* kNotes =
    R"(rmarun's exit code is that of the first rank to fail, 128 + n when signal n ended it;
124 after a timeout, 126 when the program cannot be executed, 127 when there is no
such program, 128 + n when signal n interrupted rmarun, 2 for a wrong command line.
When rmarun ends, for whatever reason, so do all processes that its ranks started.

Ctrl-\ (SIGQUIT) prints what each rank waits for, for whom and since when; the job goes on, and
its processes do not get the signal. --timeout prints the same before it ends the job.

Ctrl-C, SIGTERM, SIGHUP and --timeout end the job: its processes get SIGTERM and, half a
second later, SIGKILL. A second Ctrl-C, or any second signal, kills them at once.
rmarun is two processes, itself and rma-job, which runs the job. When one of the two is
killed, the other ends the job; when rma-job has not ended the job 3 s after a signal or
a time limit, rmarun kills both.)";

std::string version() {
  return "rmarun of librma " + std::to_string(RMA_VERSION_MAJOR) + "." + std::to_string(RMA_VERSION_MINOR) +
         "." + std::to_string(RMA_VERSION_PATCH);
}

/// CLI11's own line of usage names no program, which is no option of rmarun's.
class Help : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: rmarun [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n";
  }
};

std::string check_assignment(const std::string& text) {
  const auto equals = text.find('=');
  return equals == std::string::npos || equals == 0 ? "'" + text + "' is not NAME=VALUE" : "";
}

NoJob usage_error(const std::string& what) {
  return {kExitUsage, "", "rmarun: " + what + "\nRun with --help for more information.\n"};
}

}  // namespace

std::variant<Options, NoJob> parse_options(int argc, const char* const* argv) {
  Options options;
  std::vector<std::string> assignments;
  double timeout = 0;

  CLI::App app("Runs PROGRAM as the ranks of one job on this machine.", "rmarun");
  app.formatter(std::make_shared<Help>());
  app.footer(kNotes);
  app.set_version_flag("--version", version(), "Prints the version and exits");
  app.add_option("-n,--ranks", options.ranks, "Number of ranks")
      ->check(CLI::Range(1, kMostRanks))
      ->capture_default_str();
  app.add_option("--env", assignments, "Sets an environment variable for the ranks; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_assignment, ""));
  app.add_option(
         "--bind", options.bind,
         "core: binds rank i to the i-th core, starting over after the last; none: leaves it to the system")
      ->type_name("core|none")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, Bind>{{"core", Bind::kCore}, {"none", Bind::kNone}})
              .description(""))
      ->default_str("none");
  app.add_flag("--label", options.label, "Starts each line of output with [rank]");
  auto* const timeout_option =
      app.add_option("--timeout", timeout, "Ends the job after so many seconds")->type_name("SECONDS");
  timeout_option->check(CLI::Range(1e-3, kLongestTimeout).description(""));
  // The parsing ends at the first word that is not an option. CLI11 then passes the rest on unchanged. With a
  // positional option it would not: there "[a,b]" is a list.
  app.prefix_command();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    if (app.exit(error, out, err) == 0) return NoJob{0, out.str(), ""};
    return usage_error(error.what());
  }
  options.command = app.remaining();
  const bool marked = !options.command.empty() && options.command.front() == "--";
  if (marked) options.command.erase(options.command.begin());
  if (options.command.empty()) return usage_error("no program to run");
  if (!marked && options.command.front().starts_with('-')) {
    return usage_error("unknown option " + options.command.front());
  }
  if (timeout_option->count() > 0) options.timeout_seconds = timeout;
  for (const std::string& text : assignments) {
    const auto equals = text.find('=');
    options.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return options;
}

}  // namespace rmarun
