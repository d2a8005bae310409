#include "rmarun/hosts/host_addresses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace rmarun {
namespace {

constexpr std::string_view kOutputFile = "agent.";
constexpr std::size_t kDigitsOfWord = 8;
/// How the address of IPv6 begins that stands for one of IPv4.
constexpr std::string_view kMapped = "00000000000000000000ffff";

/// proc(5) writes an address as words of 32 bits, each with its first byte last.
std::string in_network_order(std::string_view words) {
  std::string digits;
  for (std::size_t word = 0; word + kDigitsOfWord <= words.size(); word += kDigitsOfWord) {
    for (std::size_t byte = kDigitsOfWord; byte > 0; byte -= 2) digits += words.substr(word + byte - 2, 2);
  }
  std::ranges::transform(digits, digits.begin(),
                         [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  return digits;
}

std::string dotted(std::string_view digits) {
  constexpr int kBaseOfDigits = 16;
  std::uint32_t number = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number, kBaseOfDigits).ec != std::errc())
    return "";
  return fmt::format("{}.{}.{}.{}", number >> 24U, number >> 16U & 255U, number >> 8U & 255U, number & 255U);
}

bool tells(const std::filesystem::path& path, const std::string& address) {
  const std::string wanted = fmt::format("{} {}", kAddressWord, address);
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line == wanted) return true;
  }
  return false;
}

}  // namespace

std::string address_of_end(std::string_view end) {
  std::string digits = in_network_order(end.substr(0, end.find(':')));
  if (digits.size() == kDigitsOfWord) return dotted(digits);
  if (digits.starts_with(kMapped)) return dotted(std::string_view(digits).substr(kMapped.size()));
  return digits;
}

std::string host_of_end(const std::string& directory, std::string_view end) {
  const std::string address = address_of_end(end);
  if (address.empty()) return "";
  std::vector<std::string> hosts;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), last; !error && entry != last;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(kOutputFile) && tells(entry->path(), address))
      hosts.push_back(name.substr(kOutputFile.size()));
  }
  return hosts.size() == 1 ? hosts.front() : "";
}

}  // namespace rmarun
