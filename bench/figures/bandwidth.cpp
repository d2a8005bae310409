/**
 * @file bandwidth.cpp
 * Bandwidth of streams of transfers, with the target idle, and with the target computing.
 */
#include <array>

#include "figures/job.hpp"

namespace rma::bench {
namespace {

constexpr double kIdleNs = 20e6;

void measure_idle_target(const Job& job, const std::string& suite, const std::vector<Case>& cases) {
  const Buffers buffers(job, cases);
  Samples samples(suite);
  if (job.initiator()) {
    for (const Case& each : cases) buffers.move(each);
    for (std::size_t i = 0; i < job.options.repetitions; ++i) {
      for (const Case& each : cases) {
        samples.add(row_name(each, "idle"), "MiB/s", each.named,
                    buffers.bandwidth(each, kIdleNs, job.options.window));
      }
    }
    samples.give(job.report, job.options.form);
  }
  job.world.barrier();
}

/** The words through which rank 0 and a computing rank 1 communicate. */
class Signals {
 public:
  explicit Signals(const Job& job) : words_(job.world, 2) {}

  /** Called by rank 1, before the barrier that both pass. */
  void reset() const {
    words_.local()[0] = static_cast<std::uint64_t>(Phase::quiet);
    words_.local()[1] = 0;
  }
  [[nodiscard]] ComputeRates compute() const {
    return compute_until_end(words_.local()[0], words_.local()[1]);
  }
  [[nodiscard]] bool running() const { return rma::get(words_[1] + 1) != 0; }
  void tell(Phase phase) const {
    rma::put(words_[1], static_cast<std::uint64_t>(phase));
    rma::fence(1);
  }

 private:
  rma::SharedArray<std::uint64_t> words_;
};

void measure_busy_target(const Job& job, const std::string& suite, const std::vector<Case>& cases) {
  const Buffers buffers(job, cases);
  const Signals signals(job);
  Samples samples(suite);
  if (job.initiator()) {
    for (const Case& each : cases) buffers.move(each);
  }
  for (std::size_t i = 0; i < job.options.repetitions; ++i) {
    for (const Case& each : cases) {
      if (job.initiator()) {
        samples.add(row_name(each, "idle"), "MiB/s", each.named,
                    buffers.bandwidth(each, kTrafficNs, job.options.window));
      }
      signals.reset();
      job.world.barrier();
      std::array<double, 2> rates = {};
      if (job.initiator()) {
        const double busy =
            busy_bandwidth([&] { return signals.running(); }, [&](Phase phase) { signals.tell(phase); },
                           [&] { return buffers.bandwidth(each, kTrafficNs, job.options.window); });
        samples.add(row_name(each, "busy"), "MiB/s", each.named, busy);
      } else if (job.world.rank() == 1) {
        const ComputeRates found = signals.compute();
        rates = {found.quiet, found.traffic};
      }
      job.world.broadcast(rates, 1);
      if (job.initiator()) {
        samples.add(row_name(each, "computation quiet"), "steps/s", each.named, rates[0]);
        samples.add(row_name(each, "computation disturbed"), "steps/s", each.named, rates[1]);
      }
    }
  }
  samples.give(job.report, job.options.form);
}

}  // namespace

void measure_contiguous(const Job& job) {
  measure_idle_target(job, "contiguous", contiguous_cases(job.options));
}

void measure_strided(const Job& job) { measure_idle_target(job, "strided", strided_cases(job.options)); }

void measure_tolerance(const Job& job) {
  std::vector<Case> cases = contiguous_cases(job.options);
  const std::vector<Case> strided = strided_cases(job.options);
  cases.insert(cases.end(), strided.begin(), strided.end());
  measure_busy_target(job, "cpu-tolerance", cases);
}

}  // namespace rma::bench
