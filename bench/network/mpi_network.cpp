/**
 * @file mpi_network.cpp
 * mpi-network-bench: one-sided and two-sided communication of two ranks on two hosts, in MPI, so that the
 * same program measures librma's MPI and, compiled by compare_tcp.py, others.
 */
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "harness/clock.hpp"
#include "harness/report.hpp"

namespace rma::bench {
namespace {

constexpr int kMegabyte = 1 << 20;
constexpr int kWindow = 8;        ///< messages or transfers of a megabyte under way
constexpr int kEnd = 7;           ///< the tag that ends a target's part
constexpr double kSliceNs = 2e6;  ///< how long a target computes between two calls

/** What both ranks know. */
struct Pair {
  int rank = 0;
  int iterations = 0;
  int megabytes = 0;
  char* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  std::vector<char> local = std::vector<char>(std::size_t{kWindow} * kMegabyte);
  Report report;

  void record(const std::string& row, int bytes, std::vector<double> samples) {
    report.rows.push_back(
        {.name = {.suite = "hosts", .row = row, .form = "", .bytes = static_cast<std::size_t>(bytes)},
         .unit = "ns",
         .spread = summarize(std::move(samples))});
  }
};

/** Rank 0 measures while rank 1 lets `meanwhile` run between its calls. */
void one_sided(Pair& pair, const std::string& target, int iterations, int megabytes,
               const std::function<void()>& meanwhile) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (pair.rank == 1) {
    const auto ended = [] {
      int found = 0;
      MPI_Iprobe(0, kEnd, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      return found != 0;
    };
    while (!ended()) meanwhile();
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, kEnd, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (const bool write : {true, false}) {
    const auto start = [&](int at, int bytes) {
      char* const here = pair.local.data() + at;
      if (write)
        MPI_Put(here, bytes, MPI_BYTE, 1, at, bytes, MPI_BYTE, pair.window);
      else
        MPI_Get(here, bytes, MPI_BYTE, 1, at, bytes, MPI_BYTE, pair.window);
    };
    const std::string verb = write ? "write" : "read";
    std::vector<double> times;
    for (int i = -iterations / 10; i < iterations; ++i) {
      const double begin = now_ns();
      start(0, 8);
      MPI_Win_flush(1, pair.window);
      if (i >= 0) times.push_back(now_ns() - begin);
    }
    pair.record(std::string(verb).append(" 8 B, target ").append(target), 8, std::move(times));
    times.clear();
    for (int done = -kWindow; done < megabytes; done += kWindow) {
      const double begin = now_ns();
      for (int i = 0; i < kWindow; ++i) start(i * kMegabyte, kMegabyte);
      MPI_Win_flush(1, pair.window);
      if (done >= 0) times.push_back((now_ns() - begin) / kWindow);
    }
    pair.record(std::string(verb).append(" 1 MiB, target ").append(target), kMegabyte, std::move(times));
  }
  MPI_Send(nullptr, 0, MPI_BYTE, 1, kEnd, MPI_COMM_WORLD);
}

void two_sided(Pair& pair) {
  char* const buffer = pair.local.data();
  const int other = 1 - pair.rank;
  std::vector<double> times;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = -pair.iterations / 10; i < pair.iterations; ++i) {
    const double begin = now_ns();
    if (pair.rank == 0) MPI_Send(buffer, 8, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, 8, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (pair.rank == 1) MPI_Send(buffer, 8, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    if (i >= 0) times.push_back((now_ns() - begin) / 2);
  }
  pair.record("message 8 B, half a round trip", 8, std::move(times));
  const auto windows = [&](int bytes, int count, int repetitions) {
    std::vector<MPI_Request> requests(static_cast<std::size_t>(count));
    std::vector<double> each;
    for (int done = -1; done < repetitions; ++done) {
      const double begin = now_ns();
      for (int i = 0; i < count; ++i) {
        char* const part = buffer + static_cast<std::ptrdiff_t>(i % kWindow) * kMegabyte;
        MPI_Request* const request = &requests[static_cast<std::size_t>(i)];
        if (pair.rank == 0)
          MPI_Isend(part, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, request);
        else
          MPI_Irecv(part, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, request);
      }
      MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
      if (pair.rank == 0)
        MPI_Recv(nullptr, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      else
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
      if (done >= 0) each.push_back((now_ns() - begin) / count);
    }
    return each;
  };
  constexpr int kFlood = 64;
  pair.record("message 8 B, 64 under way", 8, windows(8, kFlood, pair.iterations / 20 + 1));
  pair.record("message 1 MiB, 8 under way", kMegabyte,
              windows(kMegabyte, kWindow, pair.megabytes / kWindow + 1));
}

int run(int argc, char** argv) {
  Pair pair;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &pair.rank);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr const char* kUsage =
      "usage, on 2 ranks: mpi-network-bench ITERATIONS MEGABYTES JSON\n"
      "Measures latency and bandwidth of messages, puts and gets between two ranks, for compare_ofi.sh.\n";
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    if (pair.rank == 0) std::fputs(kUsage, stdout);
    MPI_Finalize();
    return 0;
  }
  if (argc != 4 || ranks != 2) {
    std::fputs(kUsage, stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  pair.iterations = std::atoi(argv[1]);
  pair.megabytes = std::atoi(argv[2]);
  pair.report.backend = RMA_BENCH_MPI;
  pair.report.ranks = 2;
  MPI_Win_allocate(std::size_t{kWindow} * kMegabyte, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &pair.memory,
                   &pair.window);
  MPI_Win_lock_all(0, pair.window);
  two_sided(pair);
  one_sided(pair, "polls", pair.iterations, pair.megabytes, [] {});
  // A library that serves no target while it computes takes a slice for each step of each transfer.
  one_sided(pair, "computes", pair.iterations / 20 + 1, pair.megabytes / 8 + 1, [] {
    for (const double begin = now_ns(); now_ns() - begin < kSliceNs;) {
    }
  });
  MPI_Win_unlock_all(pair.window);
  MPI_Win_free(&pair.window);
  bool good = true;
  if (pair.rank == 0) good = pair.report.write_json(argv[3]);
  MPI_Finalize();
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::run(argc, argv); }
