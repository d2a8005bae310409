/**
 * @file idle.cpp
 * Processor time of the thread that serves other ranks, while there are no requests.
 */
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "figures/job.hpp"

namespace rma::bench {
namespace {

/** The name of the thread in src/transport/service_thread.cpp. */
constexpr const char* kHelperThread = "rma-service";

/** Returns the time that this process's helper thread has run, in nanoseconds, from the kernel's scheduler.
 * Ends the job if there is no such thread or no such number, so that a missing measurement does not count as
 * a small one. */
double helper_thread_ns() {
  double all = 0;
  std::ifstream("/proc/self/schedstat") >> all;
  if (all == 0) rma::abort(EXIT_FAILURE, "the kernel does not tell for how long threads ran (schedstat)");
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    double ns = 0;
    if (name == kHelperThread && std::ifstream(task.path() / "schedstat") >> ns) return ns;
  }
  rma::abort(EXIT_FAILURE,
             "this process has no helper thread to measure, perhaps for lack of memory for messages");
}

}  // namespace

void measure_idle(const Job& job) {
  const std::vector<Case> cases = strided_cases(job.options);
  const Buffers buffers(job, cases);
  // Both sides of a connection must have served something.
  if (job.initiator()) buffers.move(cases.front());
  job.world.barrier();
  const double begin = helper_thread_ns();
  sleep(static_cast<unsigned>(job.options.idle_seconds));
  const double mine = (helper_thread_ns() - begin) / 1e6;
  const std::vector<double> all = job.world.allgather(mine);
  if (!job.initiator()) return;
  Samples samples("idle");
  samples.add("helper thread: CPU time in " + std::to_string(job.options.idle_seconds) + " s", "ms", 0,
              *std::max_element(all.begin(), all.end()));
  samples.give(job.report, job.options.form);
}

}  // namespace rma::bench
