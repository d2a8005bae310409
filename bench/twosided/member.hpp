/**
 * @file member.hpp
 * A process of an MPI job. The same source serves every MPI: it calls only functions of mpi.h.
 */
#pragma once

#include <mpi.h>

#include "harness/program.hpp"

// The name of this MPI in the results: -DRMA_BENCH_MPI=... on the command line, else librma's name.
#ifndef RMA_BENCH_MPI
#define RMA_BENCH_MPI "rma"
#endif

namespace rma::bench {

/** The suite that needs MPI_THREAD_MULTIPLE. If it is selected, all rows of the run have that level. */
inline constexpr const char* kThreadSuite = "threads";

/** Errors end the job: MPI_ERRORS_ARE_FATAL is the default of communicators. */
class MpiMember {
 public:
  static const char* name() { return RMA_BENCH_MPI; }

  MpiMember(int& argc, char**& argv, const Options& options) {
    const int wanted = options.wants(kThreadSuite) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &level_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  [[nodiscard]] int leave(int exit_code) {
    MPI_Finalize();
    return exit_code;
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /** Returns whether several threads may call MPI at the same time. */
  [[nodiscard]] bool threaded() const { return level_ == MPI_THREAD_MULTIPLE; }

  void sync() { MPI_Barrier(MPI_COMM_WORLD); }
  double greatest(double mine) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
  }

 private:
  int rank_ = 0;
  int size_ = 0;
  int level_ = MPI_THREAD_SINGLE;
};

using MpiMeasure = Measure<MpiMember>;

}  // namespace rma::bench
