#include "rmarun/sharing_groups.hpp"

#include <algorithm>

namespace rmarun {

std::vector<SharingGroup> sharing_groups(const std::vector<librma::RankSite>& sites,
                                         const librma::RankSite& own) {
  const auto sees_directory = [&](const librma::RankSite& site) {
    return site.directory_inode == own.directory_inode && site.directory_device == own.directory_device &&
           own.directory_inode != 0;
  };
  const bool one_network = std::ranges::all_of(
      sites, [&](const librma::RankSite& site) { return site.network == sites.front().network; });
  // A rank is in one group only, so that all members share memory with each other.
  const auto together = [&](const librma::RankSite& a, const librma::RankSite& b) {
    if (one_network) return true;
    if (sees_directory(a) != sees_directory(b)) return false;
    return sees_directory(a) || a.network == b.network;
  };
  std::vector<SharingGroup> groups(sites.size());
  for (std::size_t rank = 0; rank < sites.size(); ++rank) {
    for (std::size_t other = 0; other < sites.size(); ++other) {
      if (other != rank && !together(sites[rank], sites[other])) continue;
      groups[rank].ranks.push_back(static_cast<int>(other));
      groups[rank].by_file = groups[rank].by_file || sites[other].network != sites[rank].network;
    }
  }
  return groups;
}

}  // namespace rmarun
