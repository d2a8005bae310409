#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"

// Nonblocking and persistent collective calls of every kind, with buffers of their own and the result that
// each rank computes for itself.

namespace mpi_test {

/// A place in a buffer for each member: counts and displacements in elements, for both forms of the calls.
struct Layout {
  std::vector<int> counts;
  std::vector<int> places;
  std::vector<MPI_Count> wide_counts;
  std::vector<MPI_Aint> wide_places;
  std::vector<int> byte_places;  ///< displacements in bytes, as MPI_Alltoallw has them
  std::vector<MPI_Aint> wide_byte_places;
  std::vector<MPI_Datatype> types;
  int total = 0;

  /// Puts another member's elements behind the last ones, with a gap.
  void add(int count) {
    counts.push_back(count);
    places.push_back(total);
    wide_counts.push_back(count);
    wide_places.push_back(total);
    byte_places.push_back(total * static_cast<int>(sizeof(std::int64_t)));
    wide_byte_places.push_back(byte_places.back());
    types.push_back(MPI_INT64_T);
    total += count + 1;
  }
};

/// A collective call of one member. The members draw the same call from generators with the same state.
class CollectiveCase {
 public:
  static constexpr int kKinds = 17;
  using Values = std::vector<std::int64_t>;

  /// `kind` is 0 to kKinds - 1. `random` draws the sizes, the root and so on. `affine` does not commute.
  CollectiveCase(int kind, MPI_Comm comm, MPI_Op affine, std::mt19937& random);

  /// Gives the buffers the values of this round.
  void fill(int round);
  [[nodiscard]] int begin(MPI_Request* request) const;
  [[nodiscard]] int init(MPI_Request* request) const;
  /// Checks the results of the round.
  void check() const;

 private:
  [[nodiscard]] std::int64_t value(int member, int index) const;
  /// The result at `index` of the reduction over members [0, end).
  [[nodiscard]] std::int64_t reduced(int end, int index) const;
  [[nodiscard]] Values values(int member, int from, int count) const;
  void make_layouts();
  void fill(Values& in, Values& out) const;
  void expect_whole(const Values& got, const Values& expected, const char* what) const;
  [[nodiscard]] int begin_data(MPI_Request* request) const;
  [[nodiscard]] int begin_reduction(MPI_Request* request) const;
  [[nodiscard]] int init_data(MPI_Request* request) const;
  [[nodiscard]] int init_reduction(MPI_Request* request) const;
  [[nodiscard]] bool at_root() const { return rank_ == root_; }
  /// What the call gets as its own data: MPI_IN_PLACE if it is in place.
  [[nodiscard]] const void* source() const { return in_place_ ? MPI_IN_PLACE : out_.data(); }

  int kind_;
  MPI_Comm comm_;
  int rank_;
  int size_;
  int count_;
  int root_;
  int salt_;
  int round_ = 0;
  bool large_;     ///< the form with large counts
  bool in_place_;  ///< at this member
  MPI_Op op_;
  bool affine_;
  Layout to_;    ///< of `in_`
  Layout from_;  ///< of `out_`
  mutable Values out_;
  mutable Values in_;
};

}  // namespace mpi_test
