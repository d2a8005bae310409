#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

#include "mpi.h"

namespace rma::mpi {

/// The members of a communicator or group: world ranks, in the order of their ranks there. It never changes.
///
/// Most communicators and groups have the whole job, or every n-th rank from one on. Then the members take no
/// memory: rank r has the world rank first + r * stride. All others have a table for each direction.
class Members {
 public:
  class WorldRanks;

  /// `world`: different world ranks below `world_size`.
  Members(std::vector<int> world, int world_size);
  /// `size` members from the world rank `first` on, each `stride` (not 0) behind the one before.
  Members(int first, int stride, int size, int world_size)
      : size_(size), world_size_(world_size), first_(first), stride_(stride) {}

  [[nodiscard]] int size() const { return size_; }
  /// Returns the world rank of a member.
  [[nodiscard]] int world_rank(int rank) const {
    return stride_ != 0 ? first_ + rank * stride_ : world_[static_cast<std::size_t>(rank)];
  }
  /// Returns the rank of a process of the job, or MPI_UNDEFINED if it is no member.
  [[nodiscard]] int rank_of(int world_rank) const {
    const auto distance = static_cast<long>(world_rank) - first_;
    if (stride_ == 1) [[likely]]
      return distance >= 0 && distance < size_ ? static_cast<int>(distance) : MPI_UNDEFINED;
    return stride_ != 0 ? strided_rank(distance) : listed_rank(distance);
  }
  /// Returns the world ranks, in the order of the ranks, as a range. It refers to the members.
  [[nodiscard]] WorldRanks world_ranks() const;
  /// Returns the same as a list.
  [[nodiscard]] std::vector<int> list() const;
  [[nodiscard]] int world_size() const { return world_size_; }

  /// Returns whether the other members are the same in the same order.
  [[nodiscard]] bool operator==(const Members& other) const;
  /// Returns whether the other members are the same in any order.
  [[nodiscard]] bool has_same(const Members& other) const;

 private:
  [[nodiscard]] int strided_rank(long distance) const {
    const long rank = distance / stride_;
    return rank * stride_ == distance && rank >= 0 && rank < size_ ? static_cast<int>(rank) : MPI_UNDEFINED;
  }
  [[nodiscard]] int listed_rank(long distance) const {
    const auto place = static_cast<std::size_t>(distance);
    return place < ranks_.size() ? ranks_[place] : MPI_UNDEFINED;
  }

  int size_;
  int world_size_;
  int first_ = 0;   ///< of a table: the lowest world rank
  int stride_ = 0;  ///< 0: the table has the members
  std::vector<int> world_;
  std::vector<int> ranks_;  ///< by world rank, from `first_` to the highest
};

/// clang 14 does not compile the views of this C++ library.
class Members::WorldRanks {
 public:
  class Iterator {
   public:
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using pointer = const int*;
    using reference = int;

    Iterator() = default;
    Iterator(const Members& members, int rank) : members_(&members), rank_(rank) {}
    int operator*() const { return members_->world_rank(rank_); }
    Iterator& operator++() {
      ++rank_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++rank_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Members* members_ = nullptr;
    int rank_ = 0;
  };

  explicit WorldRanks(const Members& members) : members_(members) {}
  [[nodiscard]] Iterator begin() const { return {members_, 0}; }
  [[nodiscard]] Iterator end() const { return {members_, members_.size()}; }

 private:
  const Members& members_;
};

inline Members::WorldRanks Members::world_ranks() const { return WorldRanks(*this); }

}  // namespace rma::mpi
