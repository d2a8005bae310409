#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rmarun/hang_report.hpp"
#include "rmarun/spawn.hpp"
#include "rmarun/verdict.hpp"

namespace rmarun {

/// The file in which the ranks say what they wait for (util/waiting/wait_board.hpp).
class Waits {
 public:
  /// Makes the file in rmarun's directory, for the ranks of the job with that PMIx name. Without it, the
  /// ranks run as well, and nothing can be said of their waits.
  void make(const std::string& directory, std::size_t ranks, const std::string& job);
  /// Returns the environment variable that tells a rank of the file, as NAME=VALUE, or an empty text if there
  /// is none.
  [[nodiscard]] std::string assignment() const;

  /// Returns what the ranks do now.
  [[nodiscard]] std::vector<RankState> look(const std::vector<Rank>& ranks) const;

 private:
  std::string path_;  ///< empty without a file
  Descriptor file_;   ///< read, and not mapped: a rank that truncated the file could end rmarun
};

/// Returns the value of a variable in a list of NAME=VALUE, or an empty text.
[[nodiscard]] std::string value_in(const std::vector<std::string>& environment, const std::string& name);

}  // namespace rmarun
