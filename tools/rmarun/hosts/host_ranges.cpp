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

/// Returns "01" to "12" for the range "01-12". A text that is not a range gives an empty list. Slurm's names
/// keep the zeros in front of a number.
std::vector<std::string> numbers_of_range(std::string_view range) {
  const auto dash = range.find('-');
  const std::string_view from = range.substr(0, dash);
  const auto first = number_up_to(from, kMostSlots);
  const auto last = dash == range.npos ? first : number_up_to(range.substr(dash + 1), kMostSlots);
  std::vector<std::string> numbers;
  if (from.size() > kMostDigits || !first || !last ||
      static_cast<std::size_t>(*last - std::min(*first, *last)) >= kMostHosts)
    return numbers;
  for (int number = *first; number <= *last; ++number)
    numbers.push_back(fmt::format("{:0{}}", number, from.size()));
  return numbers;
}

/// Returns each of `names` with each of the numbers of "01-03,07" behind it, the last part changing first;
/// nothing if these are no ranges, or too many.
std::vector<std::string> with_ranges(const std::vector<std::string>& names, const std::string& ranges) {
  std::vector<std::string> numbers;
  std::istringstream words(ranges);
  for (std::string range; std::getline(words, range, ',');) {
    const auto more = numbers_of_range(range);
    if (more.empty() || numbers.size() + more.size() > kMostHosts) return {};
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  std::vector<std::string> result;
  if (names.size() * numbers.size() > kMostHosts) return result;
  for (const std::string& name : names) {
    for (const std::string& number : numbers) result.push_back(name + number);
  }
  return result;
}

/// Takes the first word of a list off it, up to a comma outside of brackets, and returns its hosts:
/// "r[1-2]n[1-2]-ib" has four. Returns nothing if it cannot be read.
std::vector<std::string> take_hosts(std::string_view& rest) {
  std::vector<std::string> names(1);
  while (true) {
    const auto end = std::min(rest.find_first_of(",["), rest.size());
    for (std::string& name : names) name += rest.substr(0, end);
    const bool bracket = end < rest.size() && rest[end] == '[';
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!bracket) break;
    const auto close = rest.find(']');
    if (close == rest.npos) return {};
    names = with_ranges(names, std::string(rest.substr(0, close)));
    rest.remove_prefix(close + 1);
  }
  if (!names.empty() && names.front().empty()) names.clear();
  return names;
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
  for (std::string_view rest = list; !rest.empty();) {
    const auto more = take_hosts(rest);
    if (more.empty() || names.size() + more.size() > kMostHosts) return failure();
    names.insert(names.end(), more.begin(), more.end());
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
