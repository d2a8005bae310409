/**
 * @file job.hpp
 * The common parts of network-bench: the job, the options, and the handling of failures and rows.
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
  std::string meet;              ///< file through which the ranks of one host synchronize in mode `memory`
  std::size_t iterations = 300;  ///< operations of a latency
  std::size_t megabytes = 16;    ///< megabytes that one bandwidth moves
  std::vector<std::size_t> sizes = {std::size_t{64} << 10,
                                    std::size_t{1} << 20};  ///< size of a transfer, for bandwidth
  std::vector<std::size_t> uses = {1, 2, 5, 10};
  std::size_t buffer = std::size_t{8} << 20;  ///< bytes of a buffer in mode `reuse`
  std::size_t buffers = 1;                    ///< how many buffers are used, one after the other
  bool messages = false;                      ///< mode `memory` communicates by messages, and not by puts
  std::string label;                          ///< the prefix of each row's name
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

/** Ends the job if `status` is a failure, because a measurement of failing calls would be worthless. */
void check(rma_status_t status);

/** The same number of bytes in every rank's heap. The constructor and the destructor, which frees
 * them, are collective. */
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

/** Measures transfers of one 8-byte word at a time between ranks 0 and 1, in the patterns of ib_write_lat,
 * ib_read_lat and ib_atomic_lat. */
void measure_latency(const Job& job);
/** Measures puts and gets by rank 0, as ib_write_bw and ib_read_bw make them, and how busy the hosts of ranks
 * 0 and 1 were. */
void measure_bandwidth(const Job& job);
/** Measures puts from buffers outside the heap, each of which is used several times. */
void measure_reuse(const Job& job);
/** Measures two-sided messages between ranks 0 and 1. */
void measure_messages(const Job& job);
/** Measures puts with a fence, and gets, by rank 0, while rank 1 waits, computes or sleeps. */
void measure_complete(const Job& job);
/** Measures the memory of every rank: after the start, with one connection each, and with connections to all.
 * For one host only. */
void measure_memory(const Job& job);

}  // namespace rma::bench
