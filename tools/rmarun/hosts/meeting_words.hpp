#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rmarun/waits.hpp"

namespace rmarun {

/// The first of the words by which a keeper says whether its rank waits in the first meeting of the job. It
/// says so again and again as long as that lasts.
inline constexpr std::string_view kMeetsWord = "meets";

/// Whether one of a rank's waits is for all ranks of the job to join it.
[[nodiscard]] bool in_first_meeting(const WaitRecords& records);

/// Returns the keeper's words.
[[nodiscard]] std::string meeting_words(bool meets);
/// Reads them. @return nothing if they are not such words.
[[nodiscard]] std::optional<bool> meets_of(std::string_view words);

}  // namespace rmarun
