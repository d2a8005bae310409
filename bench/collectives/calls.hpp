/**
 * @file calls.hpp
 * One collective call of each kind with its buffers, and the check of its results. All data are doubles, in
 * memory that the program has from malloc, as in most programs.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "twosided/member.hpp"

namespace rma::bench {

/** A kind of collective call. `bytes` below is the size of one block: all data of a broadcast or a reduction,
 * and what one rank sends to one other rank in the calls that have a block for each rank. */
enum class Call {
  barrier,
  bcast,
  reduce,
  allreduce,
  allgather,
  gather,
  scatter,
  alltoall,
  reduce_scatter_block,
  scan
};

/** The buffers of one rank. */
class CallBuffers {
 public:
  CallBuffers(const MpiMember& member, Call call, std::size_t bytes)
      : call_(call),
        rank_(member.rank()),
        size_(member.size()),
        count_(static_cast<int>(bytes / sizeof(double))),
        out_(static_cast<std::size_t>(count_) * (blocks_out() ? static_cast<std::size_t>(size_) : 1)),
        in_(static_cast<std::size_t>(count_) * (blocks_in() ? static_cast<std::size_t>(size_) : 1)) {
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = value(rank_, i);
  }

  /** Makes the call. Every rank in turn is the root, so no rank can be ahead of the others for long. */
  void operator()(std::size_t i) {
    const int root = static_cast<int>(i % static_cast<std::size_t>(size_));
    double* const out = out_.data();
    double* const in = in_.data();
    switch (call_) {
      case Call::barrier:
        MPI_Barrier(MPI_COMM_WORLD);
        return;
      case Call::bcast:
        MPI_Bcast(rank_ == root ? out : in, count_, MPI_DOUBLE, root, MPI_COMM_WORLD);
        return;
      case Call::reduce:
        MPI_Reduce(out, in, count_, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
        return;
      case Call::allreduce:
        MPI_Allreduce(out, in, count_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return;
      case Call::allgather:
        MPI_Allgather(out, count_, MPI_DOUBLE, in, count_, MPI_DOUBLE, MPI_COMM_WORLD);
        return;
      case Call::gather:
        MPI_Gather(out, count_, MPI_DOUBLE, in, count_, MPI_DOUBLE, root, MPI_COMM_WORLD);
        return;
      case Call::scatter:
        MPI_Scatter(out, count_, MPI_DOUBLE, in, count_, MPI_DOUBLE, root, MPI_COMM_WORLD);
        return;
      case Call::alltoall:
        MPI_Alltoall(out, count_, MPI_DOUBLE, in, count_, MPI_DOUBLE, MPI_COMM_WORLD);
        return;
      case Call::reduce_scatter_block:
        MPI_Reduce_scatter_block(out, in, count_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return;
      case Call::scan:
        MPI_Scan(out, in, count_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return;
    }
  }

  /** Makes the call with each of the first and the last rank as the root. Returns whether the results are
   * right. */
  bool is_right() { return right_with_root(0) && right_with_root(size_ - 1); }

 private:
  /** The element `i` of what `rank` sends. Sums of these are exact. */
  static double value(int rank, std::size_t i) {
    return static_cast<double>(rank * 7 + static_cast<int>(i % 101));
  }

  [[nodiscard]] bool blocks_out() const {
    return call_ == Call::scatter || call_ == Call::alltoall || call_ == Call::reduce_scatter_block;
  }
  [[nodiscard]] bool blocks_in() const {
    return call_ == Call::gather || call_ == Call::allgather || call_ == Call::alltoall;
  }

  [[nodiscard]] double expected(int root, std::size_t i) const {
    const auto count = static_cast<std::size_t>(count_);
    const auto rank = static_cast<std::size_t>(rank_);
    const auto sum = [&](int ranks, std::size_t at) {
      double all = 0;
      for (int other = 0; other < ranks; ++other) all += value(other, at);
      return all;
    };
    switch (call_) {
      case Call::reduce:
      case Call::allreduce:
        return sum(size_, i);
      case Call::scan:
        return sum(rank_ + 1, i);
      case Call::reduce_scatter_block:
        return sum(size_, rank * count + i);
      case Call::scatter:
        return value(root, rank * count + i);
      case Call::alltoall:
        return value(static_cast<int>(i / count), rank * count + i % count);
      case Call::gather:
      case Call::allgather:
        return value(static_cast<int>(i / count), i % count);
      default:
        return value(root, i);
    }
  }

  bool right_with_root(int root) {
    std::fill(in_.begin(), in_.end(), -1.0);
    (*this)(static_cast<std::size_t>(root));
    const bool everywhere = call_ != Call::reduce && call_ != Call::gather;
    if (!everywhere && rank_ != root) return true;
    if (call_ == Call::bcast && rank_ == root) return true;
    for (std::size_t i = 0; i < in_.size(); ++i) {
      if (in_[i] != expected(root, i)) return false;
    }
    return true;
  }

  const Call call_;
  const int rank_;
  const int size_;
  const int count_;
  std::vector<double> out_;
  std::vector<double> in_;
};

}  // namespace rma::bench
