#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <variant>

#include "rmarun/exit_codes.hpp"
#include "rmarun/guard.hpp"
#include "rmarun/job.hpp"
#include "rmarun/options.hpp"
#include "rmarun/processes.hpp"

int main(int argc, char** argv) {
  const auto parsed = rmarun::parse_options(argc, argv);
  if (const auto* no_job = std::get_if<rmarun::NoJob>(&parsed)) {
    std::fputs(no_job->out.c_str(), stdout);
    std::fputs(no_job->err.c_str(), stderr);
    return no_job->exit_code;
  }
  const auto& options = std::get<rmarun::Options>(parsed);

  const rmarun::TemporaryDirectory directory;
  if (directory.path().empty()) {
    fmt::print(stderr, "rmarun: cannot make a directory under TMPDIR (or /tmp): {}\n", std::strerror(errno));
    return rmarun::kExitFailure;
  }
  return rmarun::run_guarded([&] {
    const int code = rmarun::run_job(options, directory.path());
    directory.remove();  // for the case that the guard, whose destructor does it too, was killed
    return code;
  });
}
