/**
 * @file job.hpp
 * What the parts of network-bench share: the job, options, and how failures and rows are handled.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/report.hpp"
#include "rma/rma.h"

namespace rma::bench {

struct NetworkOptions {
  std::vector<std::string> modes;
  std::string json;
  std::string meet;              ///< file by which the ranks of one host meet in mode `memory`
  std::size_t iterations = 300;  ///< of a latency
  std::size_t megabytes = 16;    ///< that one bandwidth moves
  std::vector<std::size_t> sizes = {std::size_t{64} << 10,
                                    std::size_t{1} << 20};  ///< of a transfer, for bandwidth
  std::vector<std::size_t> uses = {1, 2, 5, 10};
  std::size_t buffer = std::size_t{8} << 20;  ///< bytes of a buffer in mode `reuse`
  std::size_t buffers = 1;                    ///< how many of them are used, one after the other
  std::string label;                          ///< goes before each row's name
};

/** The job, as every mode needs it. Rank 0 keeps the rows. */
struct Job {
  const NetworkOptions& options;
  Report& report;
  int rank = 0;
  int size = 1;

  void record(const std::string& suite, const std::string& row, const std::string& unit, std::size_t bytes,
              std::vector<double> samples) const;
};

/** Ends the job when `status` is a failure: a measurement of failing calls would be worthless. */
void check(rma_status_t status);

/** As many bytes in every rank's heap; where they are, by rank. Freed by the destructor. Collective. */
class SharedMemory {
 public:
  SharedMemory(std::size_t bytes, int ranks);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] char* of(int rank) const { return static_cast<char*>(all_[static_cast<std::size_t>(rank)]); }
  [[nodiscard]] char* mine() const { return static_cast<char*>(mine_); }

 private:
  std::vector<void*> all_;
  void* mine_ = nullptr;
};

/** One 8-byte word at a time between ranks 0 and 1, in the patterns of ib_write_lat, ib_read_lat and
 * ib_atomic_lat. */
void measure_latency(const Job& job);
/** Puts and gets by rank 0, as ib_write_bw and ib_read_bw do them; and how busy the hosts of ranks 0 and 1
 * were. */
void measure_bandwidth(const Job& job);
/** Puts from buffers outside the heap, each used several times. */
void measure_reuse(const Job& job);
/** Memory of every rank: after the start, with one connection each, with connections to all. One host. */
void measure_memory(const Job& job);

}  // namespace rma::bench
