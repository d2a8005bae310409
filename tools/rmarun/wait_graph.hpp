#pragma once

#include <cstddef>
#include <vector>

namespace rmarun {

/// Which ranks wait for which.
struct WaitGraph {
  /// One thread's wait.
  struct Wait {
    std::vector<std::size_t> ranks;  ///< awaited ones; empty if nobody knows who ends the wait
    bool any = false;                ///< one of them is enough
  };
  struct Node {
    std::vector<Wait> waits;  ///< of its threads; empty if it waits for nobody
    bool ended = false;       ///< nobody will get anything from it any more
  };
  std::vector<Node> ranks;
};

/// Returns for each rank whether it cannot go on, as far as the graph shows: each of its waits is for ranks
/// that cannot go on or have ended. One of these ranks is enough if the wait is for all of them. A rank that
/// has ended is not stuck.
[[nodiscard]] std::vector<bool> find_stuck(const WaitGraph& graph);

/// Returns cycles of stuck ranks, each of which waits for the next one, and the last for the first. A cycle
/// begins at its lowest rank. No rank is in two of them. There is at least one if there is any, and at most
/// `most`.
[[nodiscard]] std::vector<std::vector<std::size_t>> find_cycles(const WaitGraph& graph,
                                                                const std::vector<bool>& stuck,
                                                                std::size_t most);

}  // namespace rmarun
