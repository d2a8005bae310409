#include "rmarun/hosts/host_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <sstream>
#include <system_error>
#include <utility>

namespace rmarun {
namespace {

/// More hosts than any machine has.
constexpr std::size_t kMostHosts = 100'000;
/// More digits than a number of a host has.
constexpr std::size_t kMostDigits = 9;

librma::Status wrong_ranges(std::string text) { return {RMA_ERR_ARGUMENT, std::move(text)}; }

/// Adds PREFIX01 to PREFIX12 for the range "01-12". Names of Slurm keep the zeros in front.
bool add_range(std::vector<std::string>& names, const std::string& prefix, std::string_view range) {
  const auto dash = range.find('-');
  const std::string_view from = range.substr(0, dash);
  const auto first = number_up_to(from, kMostSlots);
  const auto last = dash == range.npos ? first : number_up_to(range.substr(dash + 1), kMostSlots);
  if (from.size() > kMostDigits || !first || !last ||
      static_cast<std::size_t>(*last - std::min(*first, *last)) > kMostHosts)
    return false;
  for (int number = *first; number <= *last && names.size() < kMostHosts; ++number)
    names.push_back(fmt::format("{}{:0{}}", prefix, number, from.size()));
  return true;
}

}  // namespace

std::optional<int> number_up_to(std::string_view text, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > most)
    return std::nullopt;
  return number;
}

librma::Result<std::vector<std::string>> expand_host_ranges(std::string_view list) {
  const auto failure = [&] {
    return wrong_ranges(fmt::format("'{}' is no list of hosts with ranges", list));
  };
  std::vector<std::string> names;
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto end = rest.find_first_of(",[");
    std::string prefix(rest.substr(0, end));
    if (end == rest.npos || rest[end] == ',') {
      if (prefix.empty()) return failure();
      names.push_back(std::move(prefix));
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
      continue;
    }
    const auto close = rest.find(']');
    if (close == rest.npos) return failure();
    std::istringstream ranges(std::string(rest.substr(end + 1, close - end - 1)));
    for (std::string range; std::getline(ranges, range, ',');) {
      if (!add_range(names, prefix, range)) return failure();
    }
    rest.remove_prefix(close + 1);
    // A second pair of brackets, or a name that goes on, is of machines with several dimensions.
    if (!rest.empty() && rest.front() != ',') return failure();
    if (!rest.empty()) rest.remove_prefix(1);
  }
  if (names.empty()) return failure();
  return names;
}

librma::Result<std::vector<int>> expand_slurm_counts(std::string_view counts) {
  std::vector<int> numbers;
  std::istringstream words{std::string(counts)};
  for (std::string word; std::getline(words, word, ',');) {
    const auto open = word.find("(x");
    const auto number = number_up_to(std::string_view(word).substr(0, open), kMostSlots);
    const auto times =
        open == word.npos
            ? 1
            : number_up_to(std::string_view(word).substr(open + 2, word.size() - open - 3), kMostSlots);
    if (!number || !times || (open != word.npos && word.back() != ')') || numbers.size() > kMostHosts)
      return wrong_ranges(fmt::format("'{}' are no numbers of Slurm's", counts));
    numbers.insert(numbers.end(), static_cast<std::size_t>(*times), *number);
  }
  return numbers;
}

}  // namespace rmarun
