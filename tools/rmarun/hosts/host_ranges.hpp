#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.hpp"

namespace rmarun {

/// Returns the hosts of a list with ranges, as Slurm writes it: "a[1-3,07],b" has a1, a2, a3, a07 and b, and
/// "r[1-2]n[1-2]-ib" has r1n1-ib, r1n2-ib, r2n1-ib and r2n2-ib.
/// @return RMA_ERR_ARGUMENT for a list that cannot be read.
librma::Result<std::vector<std::string>> expand_host_ranges(std::string_view list);
/// Returns the numbers of Slurm's short form: "4(x2),3" has 4, 4 and 3.
/// @return RMA_ERR_ARGUMENT for numbers that cannot be read.
librma::Result<std::vector<int>> expand_slurm_counts(std::string_view counts);

/// More slots than any machine has. The limit keeps sums from overflowing.
constexpr int kMostSlots = 1 << 20;
/// Returns the number that is the whole text; nothing if the text is none from 0 to `most`.
std::optional<int> number_up_to(std::string_view text, int most);

}  // namespace rmarun
