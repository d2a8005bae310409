#include "twosided_compat/communicators/members.hpp"

#include <algorithm>
#include <utility>

namespace librma::mpi {

Members::Members(std::vector<int> world, int world_size)
    : world_(std::move(world)), world_size_(world_size), first_(size() != 0 ? world_rank(0) : 0) {
  if (world_.stride() != 0 || size() == 0) return;
  int highest = first_;
  for (const int rank : world_ranks()) {
    first_ = std::min(first_, rank);
    highest = std::max(highest, rank);
  }
  ranks_.assign(static_cast<std::size_t>(highest - first_) + 1, MPI_UNDEFINED);
  for (int rank = 0; rank < size(); ++rank)
    ranks_[static_cast<std::size_t>(world_rank(rank) - first_)] = rank;
}

bool Members::has_same(const Members& other) const {
  return size() == other.size() &&
         std::ranges::all_of(world_ranks(), [&](int rank) { return other.rank_of(rank) != MPI_UNDEFINED; });
}

}  // namespace librma::mpi
