#pragma once

#include <cstddef>
#include <vector>

#include "mpi.h"
#include "util/rank_map.hpp"

namespace librma::mpi {

/// The members of a communicator or group: world ranks, in the order of their ranks there. It never changes.
/// The members take no memory if the RankMap of them takes none. All others have a table for each direction.
class Members {
 public:
  /// `world`: different world ranks below `world_size`.
  Members(std::vector<int> world, int world_size);
  /// `size` members from the world rank `first` on, each `stride` (not 0) behind the one before.
  Members(int first, int stride, int size, int world_size)
      : world_(first, stride, size), world_size_(world_size), first_(first) {}

  [[nodiscard]] int size() const { return world_.size(); }
  /// Returns the world rank of a member.
  [[nodiscard]] int world_rank(int rank) const { return world_[rank]; }
  /// Returns the rank of a process of the job, or MPI_UNDEFINED if it is no member.
  [[nodiscard]] int rank_of(int world_rank) const {
    const auto distance = static_cast<long>(world_rank) - first_;
    if (world_.stride() == 1) [[likely]]
      return distance >= 0 && distance < size() ? static_cast<int>(distance) : MPI_UNDEFINED;
    return world_.stride() != 0 ? strided_rank(distance) : listed_rank(distance);
  }
  /// Returns the world ranks, in the order of the ranks.
  [[nodiscard]] const RankView& world_ranks() const { return world_.view(); }
  /// Returns the same as a list.
  [[nodiscard]] std::vector<int> list() const { return world_ranks().list(); }
  [[nodiscard]] int world_size() const { return world_size_; }

  /// Returns whether the other members are the same in the same order.
  [[nodiscard]] bool operator==(const Members& other) const { return world_ == other.world_; }
  /// Returns whether the other members are the same in any order.
  [[nodiscard]] bool has_same(const Members& other) const;

 private:
  [[nodiscard]] int strided_rank(long distance) const {
    const long rank = distance / world_.stride();
    return rank * world_.stride() == distance && rank >= 0 && rank < size() ? static_cast<int>(rank)
                                                                            : MPI_UNDEFINED;
  }
  [[nodiscard]] int listed_rank(long distance) const {
    const auto place = static_cast<std::size_t>(distance);
    return place < ranks_.size() ? ranks_[place] : MPI_UNDEFINED;
  }

  const RankMap world_;
  int world_size_;
  int first_ = 0;           ///< the first world rank, or of a table the lowest
  std::vector<int> ranks_;  ///< of a table: by world rank, from `first_` to the highest
};

}  // namespace librma::mpi
