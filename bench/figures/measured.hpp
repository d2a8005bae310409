/**
 * @file measured.hpp
 * The measurements of both the library and the bare device, so that both are measured alike.
 */
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "figures/compute.hpp"
#include "harness/clock.hpp"
#include "harness/report.hpp"

namespace rma::bench {

/** One transfer: all bytes in one piece, or in segments that are each followed by a gap. */
struct Case {
  bool put = false;
  std::string layout;  ///< contiguous, halves or strided
  std::size_t bytes = 0;
  std::size_t segment = 0;  ///< contiguous if equal to `bytes`
  std::size_t gap = 0;
  std::size_t named = 0;  ///< the size in the row's name
};

std::string row_name(const Case& each, const std::string& quantity);

/** Samples by row, taken in interleaved repetitions. */
class Samples {
 public:
  explicit Samples(std::string suite) : suite_(std::move(suite)) {}
  void add(const std::string& row, const std::string& unit, std::size_t bytes, double value);
  /** Moves all samples into rows of `report`. `form` distinguishes the protocols. */
  void give(Report& report, const std::string& form);

 private:
  struct Row {
    std::string name;
    std::string unit;
    std::size_t bytes;
    std::vector<double> values;
  };
  std::string suite_;
  std::vector<Row> rows_;
};

/** The durations of the phases of a computing target. */
constexpr double kQuietNs = 100e6;    ///< time for which the target computes without traffic
constexpr double kTrafficNs = 200e6;  ///< least time for which transfers go on
constexpr std::size_t kMebi = std::size_t{1} << 20;

/** The number of transfers of a bandwidth that are under way at once, unless an option says otherwise. */
constexpr std::size_t kWindow = 4;

/**
 * MiB/s of a stream of transfers that goes on for `at_least` nanoseconds, `window` of them under way at once,
 * to the completion of the last. `start(place)` starts one in a place from 0 to window - 1, `finish(place)`
 * waits for it, and `drain()` waits until all data has arrived.
 */
template <typename Start, typename Finish, typename Drain>
double bandwidth(std::size_t bytes, double at_least, std::size_t window, Start&& start, Finish&& finish,
                 Drain&& drain) {
  window = std::max<std::size_t>(window, 1);
  std::size_t count = 0;
  const double begin = now_ns();
  do {
    if (count >= window) finish(count % window);
    start(count % window);
    ++count;
  } while (now_ns() - begin < at_least);
  for (std::size_t i = count - std::min(count, window); i < count; ++i) finish(i % window);
  drain();
  return static_cast<double>(count * bytes) / static_cast<double>(kMebi) / (now_ns() - begin) * 1e9;
}

/** Takes the initiator's part of a measurement with a computing target, whose rates come later. `running()`
 * returns whether the target computes, `tell(phase)` stores that word there, and `measure()` measures. */
template <typename Running, typename Tell, typename Measure>
double busy_bandwidth(Running&& running, Tell&& tell, Measure&& measure) {
  while (!running()) usleep(2000);
  usleep(static_cast<useconds_t>(kQuietNs / 1e3));
  tell(Phase::traffic);
  const double result = measure();
  tell(Phase::end);
  return result;
}

/** A sample of overlap lasts only as long as three transfers. So a repetition takes several samples. */
inline constexpr std::size_t kOverlapsPerRepetition = 9;

/** Takes one sample of overlap: a transfer alone, as much computation alone, and both at once. */
template <typename Start, typename Finish>
void measure_overlap(const Case& each, Samples& samples, CacheScrubber* scrubber, Start&& start,
                     Finish&& finish) {
  const auto timed = [&](auto&& body) {
    if (scrubber != nullptr) scrubber->scrub();
    const double begin = now_ns();
    body();
    return now_ns() - begin;
  };
  const double pure = timed([&] {
    start();
    finish();
  });
  const auto steps = static_cast<std::size_t>(std::max(pure / step_ns(), 1.0));
  const double alone = timed([&] { compute(steps); });
  double call = 0;
  const double both = timed([&] {
    const double begin = now_ns();
    start();
    call = now_ns() - begin;
    compute(steps);
    finish();
  });
  samples.add(row_name(each, "pure"), "ns", each.named, pure);
  samples.add(row_name(each, "computation"), "ns", each.named, alone);
  samples.add(row_name(each, "both"), "ns", each.named, both);
  samples.add(row_name(each, "call"), "ns", each.named, call);
  const double hidden = (pure + alone - both) / std::max(pure, alone);
  samples.add(row_name(each, "overlap"), "%", each.named, 100 * std::clamp(hidden, 0.0, 1.0));
}

}  // namespace rma::bench
