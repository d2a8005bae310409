#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rmarun {

/// The wait of one thread of a rank.
struct RankWait {
  std::string call;           ///< "MPI_Recv"
  std::string about;          ///< "from rank 3, tag 7, MPI_COMM_WORLD"
  double seconds = 0;         ///< since it began
  std::uint64_t meeting = 0;  ///< not 0: a collective call; those with this number are parts of one
  bool any = false;           ///< one of the awaited ranks is enough
  bool more = false;          ///< `ranks` is not complete
  std::vector<int> ranks;     ///< those that it waits for
};

/// A rank, as far as rmarun knows it.
struct RankState {
  enum class Process : std::uint8_t { sleeps, computes, stopped, ended, absent, unknown };
  Process process = Process::sleeps;
  std::vector<RankWait> waits;  ///< of its threads; none if it has not waited for long
};

/// Returns what the ranks wait for, in lines for the user. Ranks that wait for the same are in one line. A
/// line about a collective call says who has not come. The last lines name cycles of ranks that wait for each
/// other.
[[nodiscard]] std::vector<std::string> explain_hang(const std::vector<RankState>& ranks);

/// Returns "rank 3" or "ranks 0-2,4". `ranks` are in ascending order.
[[nodiscard]] std::string name_ranks(const std::vector<int>& ranks);

}  // namespace rmarun
