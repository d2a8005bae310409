/**
 * @file job.hpp
 * What the modes of figures-bench share: options, the job, and the memory between which data moves.
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
  std::string form;               ///< tells this run's rows from those of other settings
  std::size_t repetitions = 5;    ///< samples of each row
  std::size_t iterations = 200;   ///< of a latency
  std::size_t window = kWindow;   ///< transfers of a bandwidth under way at once
  std::size_t idle_seconds = 10;  ///< how long mode idle lets the helper be
  std::size_t total = std::size_t{256} << 10;
  std::size_t segment = std::size_t{4} << 10;
  std::vector<std::size_t> sizes = {std::size_t{16} << 10, std::size_t{64} << 10, std::size_t{256} << 10,
                                    std::size_t{1} << 20};
  std::vector<std::size_t> segments = {
      128, 512, std::size_t{1} << 10, std::size_t{4} << 10, std::size_t{16} << 10, std::size_t{64} << 10};
  bool cold = false;
  bool copied = false;  ///< contiguous data in two halves, which the copying protocols move
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
  /** Until the data is there, or here. */
  static void finish(const Case& each, rma::Request& request);
  void move(const Case& each) const;
  /** MiB/s of a stream of them. */
  [[nodiscard]] double bandwidth(const Case& each, double at_least_ns, std::size_t window) const;

 private:
  rma::SharedArray<std::byte> memory_;
};

/** Contiguous transfers by size, put and get; strided ones of one total by the segment's size. */
std::vector<Case> contiguous_cases(const FiguresOptions& options);
std::vector<Case> strided_cases(const FiguresOptions& options);

/** Bandwidth of streams of transfers, the target idle. */
void measure_contiguous(const Job& job);
void measure_strided(const Job& job);
/** The same, the target idle and computing in turn; and how fast it computes. */
void measure_tolerance(const Job& job);
/** How much of a nonblocking transfer computation hides. */
void measure_overlaps(const Job& job);
/** Latency of read-modify-write, by whoever RMA_ATOMIC_DOMAIN names. */
void measure_rmw(const Job& job);
/** Processor time of the library's threads while nothing happens. */
void measure_idle(const Job& job);

}  // namespace rma::bench
