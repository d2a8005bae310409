#include "figures/compute.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "harness/clock.hpp"

namespace rma::bench {
namespace {

/** The work of one thread in one phase. */
struct Share {
  double steps = 0;
  double ns = 0;
  [[nodiscard]] double per_second() const { return ns > 0 ? steps / ns * 1e9 : 0; }
};

struct Shares {
  Share quiet;
  Share traffic;
};

Phase load(const std::uint64_t& word) {
  // A network device writes the word. Acquire orders the following accesses after this load, as for
  // another thread's store.
  auto& shared = const_cast<std::uint64_t&>(word);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return static_cast<Phase>(std::atomic_ref<std::uint64_t>(shared).load(std::memory_order_acquire));
}

Shares run(const std::uint64_t& word) {
  Shares shares;
  Phase phase = load(word);
  double begin = now_ns();
  double steps = 0;
  while (phase != Phase::end) {
    compute_step();
    ++steps;
    const Phase next = load(word);
    if (next == phase) continue;
    const double now = now_ns();
    Share& share = phase == Phase::quiet ? shares.quiet : shares.traffic;
    share.steps += steps;
    share.ns += now - begin;
    phase = next;
    begin = now;
    steps = 0;
  }
  return shares;
}

std::size_t processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

}  // namespace

void compute_step() {
  // Each number depends on the one before, and the compiler cannot know them. So nothing
  // shortens the computation.
  std::uint64_t number = 0x9e3779b97f4a7c15;
  for (int i = 0; i < 256; ++i) {
    number = number * 0x5851f42d4c957f2d + 1;
    asm volatile("" : "+r"(number));
  }
}

double step_ns() {
  constexpr std::size_t kSteps = 500;
  double least = 0;
  for (int i = 0; i < 5; ++i) {
    const double begin = now_ns();
    compute(kSteps);
    const double ns = (now_ns() - begin) / kSteps;
    least = i == 0 ? ns : std::min(least, ns);
  }
  return least;
}

ComputeRates compute_until_end(const std::uint64_t& phase, std::uint64_t& running) {
  std::vector<Shares> shares(processors());
  std::atomic<std::size_t> started = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(shares.size());
    for (Shares& mine : shares) {
      threads.emplace_back([&] {
        // Release: a reader that sees `running` knows that every thread runs.
        if (started.fetch_add(1, std::memory_order_acq_rel) + 1 == shares.size()) {
          std::atomic_ref<std::uint64_t>(running).store(1, std::memory_order_release);
        }
        mine = run(phase);
      });
    }
  }
  ComputeRates rates;
  for (const Shares& each : shares) {
    rates.quiet += each.quiet.per_second();
    rates.traffic += each.traffic.per_second();
  }
  return rates;
}

}  // namespace rma::bench
