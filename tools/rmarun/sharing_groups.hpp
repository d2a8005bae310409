#pragma once

#include <vector>

#include "util/system/rank_calls.hpp"

namespace rmarun {

/// The ranks that one rank can share memory with.
struct SharingGroup {
  bool by_file = false;    ///< they are in several network namespaces, so they meet at files
  std::vector<int> ranks;  ///< ascending, the rank itself among them
};

/// Returns the group of each rank. `sites` has the place of each rank, and `own` is rmarun's.
[[nodiscard]] std::vector<SharingGroup> sharing_groups(const std::vector<librma::RankSite>& sites,
                                                       const librma::RankSite& own);

}  // namespace rmarun
