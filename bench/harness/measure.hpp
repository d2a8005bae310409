/**
 * @file measure.hpp
 * The method of all measurements: warm up, find how many operations fill a sample, take samples, keep median
 * and spread. Every rank calls the same functions in the same order; rank 0 keeps the rows.
 */
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "backend.hpp"
#include "harness/clock.hpp"
#include "harness/options.hpp"
#include "harness/placement.h"
#include "harness/report.hpp"

namespace rma::bench {

/** The layout of every rank's arena. */
struct Arena {
  static constexpr std::size_t kAgreed = 0;       ///< the word rank 0 shares with the others
  static constexpr std::size_t kGathered = 4096;  ///< one word per rank, read at rank 0
  static constexpr std::size_t kCounter = 16384;  ///< for fetch-add
  static constexpr std::size_t kFlag = 20480;     ///< for notification
  static constexpr std::size_t kData = 65536;     ///< everything else
  static constexpr std::size_t kMaxRanks = (kCounter - kGathered) / sizeof(std::uint64_t);
  static constexpr std::size_t kBytes = std::size_t{4} << 20;        ///< enough for all suites but these:
  static constexpr std::size_t kLargeBytes = std::size_t{16} << 20;  ///< put and get
};

template <Process B>
requires(Member<B> || Messenger<B>) class Measure {
 public:
  Measure(B& backend, const Options& options)
      : backend_(backend), options_(options), placement_(placement_open(backend.rank())) {
    report_.backend = B::name();
    report_.ranks = backend.size();
  }

  [[nodiscard]] B& backend() { return backend_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Report& report() const { return report_; }
  /** Returns the rank that rank 0 communicates with; rank 0 for all others. */
  [[nodiscard]] int partner() const { return backend_.rank() == 0 ? 1 : 0; }

  /** Rank 0 calls op(i) repeatedly while the others wait. Each call counts as `operations` operations. The
   * row is in nanoseconds per operation. */
  template <typename Op>
  void alone(RowName name, Op&& op, std::size_t operations = 1) {
    placed([&] {
      backend_.sync();
      if (backend_.rank() == 0) {
        const std::size_t count = enough(op);
        std::vector<double> samples(static_cast<std::size_t>(options_.repetitions));
        for (double& sample : samples) {
          sample = time_batch(count, op) / static_cast<double>(count * operations);
        }
        record(std::move(name), "ns", std::move(samples));
      }
      backend_.sync();
    });
  }

  /** Measures as alone() does, and also a control in the row "NAME bare": the same work by plain loads and
   * stores. The two take their samples in turn, so that a disturbance of the machine affects both. */
  template <typename Op, typename Control>
  void alone_beside(const RowName& name, Op&& op, Control&& control, std::size_t operations = 1) {
    placed([&] {
      backend_.sync();
      if (backend_.rank() == 0) {
        const std::size_t count = enough(op);
        const std::size_t control_count = enough(control);
        record_beside(
            name, [&] { return time_batch(count, op) / static_cast<double>(count * operations); },
            [&] {
              return time_batch(control_count, control) / static_cast<double>(control_count * operations);
            });
      }
      backend_.sync();
    });
  }

  /** All ranks call op(i) at the same time, equally often. A sample lasts from the first rank's start to the
   * last rank's end, because ranks that share processors may run one after the other. The row is as above.
   * For one host only. */
  template <typename Op>
  void together(RowName name, Op&& op, std::size_t operations = 1) {
    placed([&] {
      const std::size_t count = enough_together(op);
      std::vector<double> samples(static_cast<std::size_t>(options_.repetitions));
      for (double& sample : samples) {
        sample = time_together(count, op) / static_cast<double>(count * operations);
      }
      record(std::move(name), "ns", std::move(samples));
    });
  }

  /** Measures as together() does, with a control as in alone_beside(). */
  template <typename Op, typename Control>
  void together_beside(const RowName& name, Op&& op, Control&& control, std::size_t operations = 1) {
    placed([&] {
      const std::size_t count = enough_together(op);
      const std::size_t control_count = enough_together(control);
      record_beside(
          name, [&] { return time_together(count, op) / static_cast<double>(count * operations); },
          [&] {
            return time_together(control_count, control) / static_cast<double>(control_count * operations);
          });
    });
  }

  /** Rank 0 empties its caches and then calls op(i) once for each i below `count`. Each call must touch
   * memory of its own. */
  template <typename Op>
  void cold(RowName name, std::size_t count, Op&& op) {
    placed([&] {
      backend_.sync();
      if (backend_.rank() == 0) {
        time_batch(count, op);  // pages and translations are warm, only the caches are cold
        std::vector<double> samples;
        for (int i = 0; i < std::min(options_.repetitions, kColdRepetitions); ++i) {
          scrubber_.scrub();
          samples.push_back(time_batch(count, op) / static_cast<double>(count));
        }
        record(std::move(name), "ns", std::move(samples));
      }
      backend_.sync();
    });
  }

  /** Keeps a row; at rank 0 only. */
  void record(RowName name, std::string unit, std::vector<double> samples) {
    if (backend_.rank() != 0) return;
    report_.rows.push_back({std::move(name), std::move(unit), summarize(std::move(samples))});
  }

  /** Returns whether all ranks found the row's data right. If not, rank 0 prints a message, and the row must
   * not be measured. Collective. */
  bool agree(const RowName& name, bool right) {
    const bool agreed = all(right);
    if (!agreed) {
      ++wrong_;
      if (backend_.rank() == 0) std::fprintf(stderr, "%s: wrong data: %s\n", B::name(), name.row.c_str());
    }
    return agreed;
  }
  /** Returns whether `mine` is true on every rank. Collective. */
  bool all(bool mine) { return slowest(mine ? 0.0 : 1.0) == 0.0; }
  /** Returns the number of rows with wrong data. */
  [[nodiscard]] int wrong() const { return wrong_; }

  /** Returns the largest of the ranks' values, on all ranks. Collective. */
  double slowest(double mine) {
    if constexpr (Messenger<B>) {
      return backend_.greatest(mine);
    } else {
      return slowest_by_puts(mine);
    }
  }

 private:
  /** Measures rows, and notes in them the greatest distance of the first two ranks' processors.
   * Collective. */
  template <typename Rows>
  void placed(Rows&& rows) {
    const std::size_t first = report_.rows.size();
    const double before = placement_crossing(&placement_);
    rows();
    const double crossing = std::max(before, placement_crossing(&placement_));
    for (std::size_t i = first; i < report_.rows.size(); ++i) report_.rows[i].crossing = crossing;
  }

  double slowest_by_puts(double mine) {
    const auto bits = static_cast<std::uint64_t>(mine);
    const auto rank = static_cast<std::size_t>(backend_.rank());
    backend_.put(Arena::kGathered + rank * sizeof bits, &bits, sizeof bits, 0);
    backend_.sync();
    if (backend_.rank() == 0) {
      std::uint64_t most = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(backend_.size()); ++i) {
        most = std::max(most, load(Arena::kGathered + i * sizeof bits));
      }
      for (int i = 0; i < backend_.size(); ++i) backend_.put(Arena::kAgreed, &most, sizeof most, i);
    }
    backend_.sync();
    return static_cast<double>(load(Arena::kAgreed));
  }

  static constexpr int kColdRepetitions = 11;
  static constexpr const char* kControlSuffix = " bare";  ///< compare_table.py knows it

  [[nodiscard]] bool fills(double elapsed) const {
    return elapsed >= static_cast<double>(options_.batch.count());
  }

  /** Returns how many calls of op(i) fill a sample. The search serves as the warm-up. */
  template <typename Op>
  [[nodiscard]] std::size_t enough(Op& op) const {
    std::size_t count = 1;
    double elapsed = time_batch(count, op);
    while (!fills(elapsed)) {
      count = more(count, elapsed);
      elapsed = time_batch(count, op);
    }
    return count;
  }

  /** Returns the same for time_together(). Collective. Every rank computes the same number. */
  template <typename Op>
  [[nodiscard]] std::size_t enough_together(Op& op) {
    std::size_t count = 1;
    double elapsed = time_together(count, op);
    while (!fills(elapsed)) {
      count = more(count, elapsed);
      elapsed = time_together(count, op);
    }
    return count;
  }

  /** Takes the samples of a row and of its control in turn, and keeps both. */
  template <typename Sample, typename Control>
  void record_beside(const RowName& name, Sample&& sample, Control&& control) {
    std::vector<double> samples(static_cast<std::size_t>(options_.repetitions));
    std::vector<double> control_samples(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = sample();
      control_samples[i] = control();
    }
    RowName control_name = name;
    control_name.row += kControlSuffix;
    record(name, "ns", std::move(samples));
    record(std::move(control_name), "ns", std::move(control_samples));
  }

  /** Returns how many operations to try after `count` operations took `elapsed`: enough to fill a sample, but
   * at most ten times more, because the first ones are slow. Every rank computes the same number. */
  [[nodiscard]] std::size_t more(std::size_t count, double elapsed) const {
    const double factor = 1.2 * static_cast<double>(options_.batch.count()) / std::max(elapsed, 1.0);
    return std::max(count + 1,
                    static_cast<std::size_t>(static_cast<double>(count) * std::clamp(factor, 1.0, 10.0)));
  }

  /** Returns the same number on all ranks. Collective. */
  template <typename Op>
  double time_together(std::size_t count, Op&& op) {
    constexpr double kLate = 9007199254740992.0;  // 2^53: below it a double has every nanosecond
    backend_.sync();
    const double start = now_ns();
    for (std::size_t i = 0; i < count; ++i) op(i);
    const double end = slowest(now_ns());
    return end - (kLate - slowest(kLate - start));
  }

  /** Loads a word of this rank's own arena. The sync before made it visible. */
  [[nodiscard]] std::uint64_t load(std::size_t offset) {
    auto* const word = reinterpret_cast<std::uint64_t*>(backend_.local() + offset);
    return std::atomic_ref<std::uint64_t>(*word).load(std::memory_order_acquire);
  }

  B& backend_;
  const Options& options_;
  Report report_;
  int wrong_ = 0;
  CacheScrubber scrubber_;
  placement placement_;
};

}  // namespace rma::bench
