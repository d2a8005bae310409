/**
 * @file job.hpp
 * The common parts of figures-bench's modes: the options, the job, and the memory of the transfers.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "figures/measured.hpp"
#include "rma/rma.hpp"

namespace rma::bench {

struct FiguresOptions {
  std::vector<std::string> modes;
  std::string json;
  std::string form;               ///< distinguishes this run's rows from those of other settings
  std::size_t repetitions = 5;    ///< samples of each row
  std::size_t iterations = 200;   ///< operations of a latency sample
  std::size_t window = kWindow;   ///< transfers of a bandwidth under way at once
  std::size_t idle_seconds = 10;  ///< how long mode idle gives the helper no requests
  std::size_t total = std::size_t{256} << 10;
  std::size_t segment = std::size_t{4} << 10;
  std::vector<std::size_t> sizes = {std::size_t{16} << 10, std::size_t{64} << 10, std::size_t{256} << 10,
                                    std::size_t{1} << 20};
  std::vector<std::size_t> segments = {
      128, 512, std::size_t{1} << 10, std::size_t{4} << 10, std::size_t{16} << 10, std::size_t{64} << 10};
  bool cold = false;
  bool copied = false;  ///< contiguous data consists of two halves, so that the copying protocols move it
};

/** The job, as every mode needs it. Rank 0 keeps the rows. */
struct Job {
  const FiguresOptions& options;
  Report& report;
  rma::Team world;

  [[nodiscard]] bool initiator() const { return world.rank() == 0; }
};

/** Memory in both ranks' heaps for the largest case, and the transfer of one case from and to rank 1. */
class Buffers {
 public:
  Buffers(const Job& job, const std::vector<Case>& cases);
  [[nodiscard]] rma::Request start(const Case& each) const;
  /** Waits until the data is at its destination. */
  static void finish(const Case& each, rma::Request& request);
  void move(const Case& each) const;
  /** Returns the bandwidth of a stream of transfers in MiB/s. */
  [[nodiscard]] double bandwidth(const Case& each, double at_least_ns, std::size_t window) const;

 private:
  rma::SharedArray<std::byte> memory_;
};

/** Returns the cases: contiguous puts and gets by size, and strided ones of one total size by the size
 * of the segment. */
std::vector<Case> contiguous_cases(const FiguresOptions& options);
std::vector<Case> strided_cases(const FiguresOptions& options);

/** Measures the bandwidth of streams of transfers with an idle target. */
void measure_contiguous(const Job& job);
void measure_strided(const Job& job);
/** Measures the same with a target that is idle and that computes, in turn, and how fast
 * the target computes. */
void measure_tolerance(const Job& job);
/** Measures how much of a nonblocking transfer computation hides. */
void measure_overlaps(const Job& job);
/** Measures how much of a two-sided message computation of its receiver, rank 0, hides. */
void measure_message_overlaps(const Job& job);
/** Measures the latency of read-modify-write by the unit that RMA_ATOMIC_DOMAIN selects. */
void measure_rmw(const Job& job);
/** Measures the processor time of the library's threads while nothing happens. */
void measure_idle(const Job& job);

}  // namespace rma::bench
