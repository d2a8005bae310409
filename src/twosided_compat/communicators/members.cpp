#include "twosided_compat/communicators/members.hpp"

#include <algorithm>

namespace rma::mpi {

Members::Members(std::vector<int> world, int world_size)
    : size_(static_cast<int>(world.size())), world_size_(world_size) {
  first_ = world.empty() ? 0 : world.front();
  stride_ = world.size() < 2 ? 1 : world[1] - world[0];
  const auto apart = [&](int one, int next) { return next - one != stride_; };
  if (std::ranges::adjacent_find(world, apart) == world.end()) return;
  stride_ = 0;
  const auto [lowest, highest] = std::ranges::minmax(world);
  first_ = lowest;
  world_ = std::move(world);
  ranks_.assign(static_cast<std::size_t>(highest - lowest) + 1, MPI_UNDEFINED);
  for (std::size_t rank = 0; rank < world_.size(); ++rank) {
    ranks_[static_cast<std::size_t>(world_[rank] - lowest)] = static_cast<int>(rank);
  }
}

std::vector<int> Members::list() const {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(size_));
  for (const int rank : world_ranks()) ranks.push_back(rank);
  return ranks;
}

bool Members::operator==(const Members& other) const {
  if (this == &other) return true;
  if (size_ != other.size_) return false;
  // One member has no stride of its own.
  if (stride_ != 0 && other.stride_ != 0)
    return size_ == 0 || (first_ == other.first_ && world_rank(size_ - 1) == other.world_rank(size_ - 1));
  return stride_ == other.stride_ && world_ == other.world_;
}

bool Members::has_same(const Members& other) const {
  return size_ == other.size_ &&
         std::ranges::all_of(world_ranks(), [&](int rank) { return other.rank_of(rank) != MPI_UNDEFINED; });
}

}  // namespace rma::mpi
