#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rmarun/hang_report.hpp"
#include "rmarun/spawn.hpp"
#include "rmarun/verdict.hpp"
#include "util/waiting/wait_board.hpp"

namespace rmarun {

/// The waits of one rank's threads; none for a thread that does not wait, or whose record is being written.
using WaitRecords = std::array<std::optional<librma::WaitRecord>, librma::WaitPage::kSlots>;

/// The file in which ranks say what they wait for (util/waiting/wait_board.hpp).
class Waits {
 public:
  /// Makes the file in rmarun's directory, for the ranks of the job with that PMIx name. Without it, the
  /// ranks run as well, and nothing can be said of their waits. SIGXFSZ is ignored (open_signals).
  void make(const std::string& directory, std::size_t ranks, const std::string& job);
  /// Makes it for one rank alone, in memory that only this process's descendants find.
  void make_for(std::size_t rank, std::size_t ranks, const std::string& job);
  /// Returns the environment variable that tells a rank of the file, as NAME=VALUE, or an empty text if there
  /// is none.
  [[nodiscard]] std::string assignment() const;

  /// Returns what a rank waits for at this moment.
  [[nodiscard]] WaitRecords read(std::size_t rank) const;
  /// Returns what the ranks do now.
  [[nodiscard]] std::vector<RankState> look(const std::vector<Rank>& ranks) const;

 private:
  std::string path_;  ///< empty without a file
  Descriptor file_;   ///< read, and not mapped: a rank that truncated the file could end rmarun
};

/// Returns what the process of a rank does.
[[nodiscard]] RankState::Process state_of(const Rank& rank);
/// Returns the present time on the clock of the records' `since`.
[[nodiscard]] std::int64_t time_of_waits();
/// Returns the waits that stand in both records of a rank of a job of `ranks` ranks. `now` is the time on its
/// host's clock, in nanoseconds. Nothing in the records need be true.
///
/// Only what was so at one moment for all ranks is told: a cycle of waits that were never there together is
/// none. So the caller reads the second record of each rank after the first ones of all. A record that its
/// owner wrote while it was read is not the same the second time either.
[[nodiscard]] std::vector<RankWait> lasting_waits(const WaitRecords& before, const WaitRecords& after,
                                                  std::int64_t now, std::size_t ranks);

/// Returns the value of a variable in a list of NAME=VALUE, or an empty text.
[[nodiscard]] std::string value_in(const std::vector<std::string>& environment, const std::string& name);

}  // namespace rmarun
