/**
 * @file cache_line.cpp
 * cache-line: the control of the comparison. Two processes, each bound to a processor of its own, bounce one
 * flag. Half a round trip is the time that the machine needs to carry a cache line from one processor to the
 * other, without any library.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "harness/clock.hpp"
#include "harness/report.hpp"

namespace {

using Flag = std::atomic<std::uint64_t>;
constexpr std::uint64_t kStop = ~std::uint64_t{0};

/** Returns the processors that this process may use. */
std::vector<std::size_t> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<std::size_t> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

bool bind_to(std::size_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

/** Waits until the flag no longer holds `old`. Acquire pairs with the other process's release store. */
std::uint64_t wait_change(const Flag& flag, std::uint64_t old) {
  std::uint64_t seen = flag.load(std::memory_order_acquire);
  while (seen == old) seen = flag.load(std::memory_order_acquire);
  return seen;
}

/** Answers every value with the next one until it is told to stop. */
void echo(Flag& flag) {
  for (std::uint64_t mine = 0;;) {
    const std::uint64_t seen = wait_change(flag, mine);
    if (seen == kStop) return;
    mine = seen + 1;
    flag.store(mine, std::memory_order_release);
  }
}

/** Returns one-way times in nanoseconds. Each sample is the mean over `rounds` round trips. */
std::vector<double> bounce(Flag& flag, int samples, std::size_t rounds) {
  std::uint64_t value = 0;
  std::vector<double> times;
  for (int sample = -1; sample < samples; ++sample) {
    const double elapsed = rma::bench::time_batch(rounds, [&](std::size_t) {
      flag.store(value + 1, std::memory_order_release);
      value = wait_change(flag, value + 1);
    });
    const bool warming_up = sample < 0;
    if (!warming_up) times.push_back(elapsed / static_cast<double>(2 * rounds));
  }
  flag.store(kStop, std::memory_order_release);
  return times;
}

int fail(const char* what) {
  std::fprintf(stderr, "cache-line: %s: %s\n", what, std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures how long a cache line takes from one processor to another"};
  std::string json;
  std::vector<std::size_t> cpus;
  bool quick = false;
  app.add_option("--json", json, "Write the result as JSON to this file (- for standard output)");
  app.add_option("--cpus", cpus, "The two processors, as 0,1 (default: the first two allowed)")
      ->delimiter(',')
      ->expected(2);
  app.add_flag("--quick", quick, "A few round trips: shows that it works, measures nothing");
  CLI11_PARSE(app, argc, argv);
  if (cpus.empty()) cpus = allowed_cpus();
  if (cpus.size() < 2) {
    std::fprintf(stderr, "cache-line: needs two processors, and this process may use %zu\n", cpus.size());
    return 1;
  }

  void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return fail("cannot map a shared page");
  Flag& flag = *new (shared) Flag(0);
  // The child inherits its binding. So no call can fail there while this process waits for its answer.
  if (!bind_to(cpus[1])) return fail("cannot bind to the second processor");
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return fail("cannot start the second process");
  if (child == 0) {
    // The child ends when its parent ends. The parent may have ended before this call.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) echo(flag);
    _exit(0);
  }
  if (!bind_to(cpus[0])) {
    const int code = fail("cannot bind to the first processor");
    kill(child, SIGKILL);
    return code;
  }

  rma::bench::Row row;
  row.name.suite = "control";
  row.name.row = "cache-line crossing";
  row.unit = "ns";
  row.spread = rma::bench::summarize(bounce(flag, quick ? 3 : 25, quick ? 100 : 5000));
  rma::bench::Report report;
  report.backend = "cache-line";
  report.ranks = 2;
  report.rows.push_back(row);
  waitpid(child, nullptr, 0);
  if (json != "-") report.print();
  if (!json.empty() && !report.write_json(json)) return fail(("cannot write " + json).c_str());
  return 0;
}
