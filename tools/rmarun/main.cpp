#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <variant>

#include "rmarun/binding.hpp"
#include "rmarun/descriptors.hpp"
#include "rmarun/exit_codes.hpp"
#include "rmarun/guard.hpp"
#include "rmarun/hosts/hosts_job.hpp"
#include "rmarun/hosts/keeper.hpp"
#include "rmarun/job.hpp"
#include "rmarun/options.hpp"
#include "rmarun/privileges.hpp"
#include "rmarun/temporary_directory.hpp"
#include "rmarun/universe.hpp"

namespace {

/// Over several hosts a report of the ranks' waits takes up to 4 s, and an engine needs more time to end its
/// daemons (hosts_job.cpp).
constexpr auto kPatienceWithHosts = std::chrono::seconds(12);

}  // namespace

int main(int argc, char** argv) {
  rmarun::refuse_lent_rights();
  rmarun::provide_stdin();
  if (argc == 2 && std::string_view(argv[1]) == "--rank") {
    return rmarun::run_keeper([] {
      rmarun::look_for_processors_only();
      return rmarun::allowed_cores();
    });
  }
  auto parsed = rmarun::parse_options(argc, argv);
  if (const auto* no_job = std::get_if<rmarun::NoJob>(&parsed)) {
    std::fputs(no_job->out.c_str(), stdout);
    std::fputs(no_job->err.c_str(), stderr);
    return no_job->exit_code;
  }
  auto& options = std::get<rmarun::Options>(parsed);
  rmarun::leave_room_for_spawning(options);

  // The job's process makes the directory, and both processes remove it. So it vanishes even if one is
  // killed.
  rmarun::TemporaryDirectory directory;
  const pid_t guard = ::getpid();
  const auto job = [&](rmarun::Progress& progress) {
    if (!directory.make()) {
      fmt::print(stderr, "rmarun: cannot make the directory {} (TMPDIR names another place): {}\n",
                 directory.path(), std::strerror(errno));
      return rmarun::kExitFailure;
    }
    const int code = options.placed.empty() ? rmarun::run_job(options, directory.path(), progress)
                                            : rmarun::run_hosts_job(options, directory.path(), progress);
    directory.remove();
    // Without the guard, which removes the directory again, files that PMIx's threads make meanwhile would
    // stay.
    if (::getppid() != guard) directory.remove_afterwards();
    return code;
  };
  const int exit_code = rmarun::run_guarded(
      options.timeout_seconds, job, options.placed.empty() ? rmarun::kUsualPatience : kPatienceWithHosts);
  // Both processes of an earlier job may have been killed at once.
  directory.remove_abandoned();
  return exit_code;
}
