#include "rmarun/hosts/meeting_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace rmarun {
namespace {

/// How a rank numbers and names its first meeting of all ranks (src/bootstrap/pmix_bootstrap.cpp).
constexpr std::uint64_t kNumberOfFirst = std::uint64_t{1} << 32U | 1U;
constexpr std::string_view kAboutAll = "all ranks";

}  // namespace

bool in_first_meeting(const WaitRecords& records) {
  return std::ranges::any_of(records, [](const std::optional<librma::WaitRecord>& record) {
    return record && record->thread != 0 && record->meeting == kNumberOfFirst &&
           librma::text_of(record->about) == kAboutAll;
  });
}

std::string meeting_words(bool meets) { return fmt::format("{} {}", kMeetsWord, meets ? 1 : 0); }

std::optional<bool> meets_of(std::string_view words) {
  for (const bool meets : {false, true}) {
    if (words == meeting_words(meets)) return meets;
  }
  return std::nullopt;
}

}  // namespace rmarun
