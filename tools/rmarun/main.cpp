#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <variant>

#include "rmarun/exit_codes.hpp"
#include "rmarun/guard.hpp"
#include "rmarun/job.hpp"
#include "rmarun/options.hpp"
#include "rmarun/temporary_directory.hpp"

int main(int argc, char** argv) {
  const auto parsed = rmarun::parse_options(argc, argv);
  if (const auto* no_job = std::get_if<rmarun::NoJob>(&parsed)) {
    std::fputs(no_job->out.c_str(), stdout);
    std::fputs(no_job->err.c_str(), stderr);
    return no_job->exit_code;
  }
  const auto& options = std::get<rmarun::Options>(parsed);

  // The job's process makes the directory, and both processes remove it. So it vanishes even if one is
  // killed.
  rmarun::TemporaryDirectory directory;
  const pid_t guard = ::getpid();
  const int exit_code = rmarun::run_guarded(options.timeout_seconds, [&](rmarun::Progress& progress) {
    if (!directory.make()) {
      fmt::print(stderr, "rmarun: cannot make the directory {} (TMPDIR names another place): {}\n",
                 directory.path(), std::strerror(errno));
      return rmarun::kExitFailure;
    }
    const int code = rmarun::run_job(options, directory.path(), progress);
    directory.remove();
    // Without the guard, which removes the directory again, files that PMIx's threads make meanwhile would
    // stay.
    if (::getppid() != guard) directory.remove_afterwards();
    return code;
  });
  // Both processes of an earlier job may have been killed at once.
  directory.remove_abandoned();
  return exit_code;
}
