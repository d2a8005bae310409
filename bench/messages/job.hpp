/**
 * @file job.hpp
 * The common parts of messages-bench: the options, the job, and the handling of rows.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/report.hpp"
#include "rma/rma.hpp"

namespace rma::bench {

inline constexpr std::size_t kKibi = std::size_t{1} << 10;
inline constexpr std::size_t kMebi = std::size_t{1} << 20;

struct MessagesOptions {
  std::vector<std::string> modes;
  std::string json;
  std::string form;                ///< distinguishes this run's rows from those of other settings
  std::size_t iterations = 200;    ///< messages of a latency, an overhead or a rank's turn
  std::size_t window = 100;        ///< messages of a bandwidth before the reply
  std::size_t windows = 5;         ///< samples of a bandwidth
  std::size_t pause = 5000;        ///< microseconds in which a message surely arrives, for overhead
  std::size_t buffers = 3;         ///< pairs of buffers for reuse; each is a sample
  std::size_t budget = 1 << 20;    ///< bytes that one sample of effective bandwidth moves, at most
  std::vector<std::size_t> sizes;  ///< bytes of a message; each mode has its own defaults
  std::vector<std::size_t> uses = {1};
  std::vector<std::size_t> peers = {1, 2, 4, 8};
  std::size_t longest = std::size_t{1} << 20;  ///< longest message of effective bandwidth
};

/** The job, as every mode needs it. Rank 0 keeps the rows. */
struct Job {
  const MessagesOptions& options;
  Report& report;
  rma::Team world;

  [[nodiscard]] int rank() const { return world.rank(); }
  /** Returns the options' sizes, or the mode's own if there are none. */
  [[nodiscard]] std::vector<std::size_t> sizes(const std::vector<std::size_t>& own) const {
    return options.sizes.empty() ? own : options.sizes;
  }
  void record(const std::string& suite, const std::string& row, const std::string& unit, std::size_t bytes,
              std::vector<double> samples) const;
};

/** The tags of messages between two ranks. */
inline constexpr rma::Label kPing = {.tag = 1};
inline constexpr rma::Label kPong = {.tag = 2};
inline constexpr rma::Label kResult = {.tag = 3};

/** Measures half a round trip by size, between ranks 0 and 1. */
void measure_latency(const Job& job);
/** Measures the processor time that a message takes at its sender and at its receiver, by size. */
void measure_overhead(const Job& job);
/** Measures windows of messages that are answered by one reply, by size: bandwidth and messages a second. */
void measure_bandwidth(const Job& job);
/** Measures messages between buffers that the library has not seen before, by size and by number of uses. */
void measure_reuse(const Job& job);
/** Measures the effective bandwidth of all ranks. */
void measure_effective(const Job& job);
/** Measures half a round trip between rank 0 and each of its first peers in turn, by their number. */
void measure_peers(const Job& job);
/** Measures the round trip of an active message between ranks 0 and 1. */
void measure_active(const Job& job);

}  // namespace rma::bench
