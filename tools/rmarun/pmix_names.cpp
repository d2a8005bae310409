#include "rmarun/pmix_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace rmarun {
namespace {

/// The characters of host names in DNS, and '_', which many hosts have too.
bool harmless(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_';
}

/// FNV-1a. The names of one job's host are no secret and no attack.
uint32_t hash(std::string_view text) {
  uint32_t value = 2166136261;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 16777619;
  return value;
}

}  // namespace

std::string pmix_host_name(std::string_view name) {
  if (name.empty()) return "localhost";
  if (name.size() <= kLongestPmixHostName && std::all_of(name.begin(), name.end(), harmless))
    return std::string(name);
  constexpr std::size_t kHash = 9;  // "-" and eight digits
  std::string result(name.substr(0, kLongestPmixHostName - kHash));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return !harmless(c); }, '-');
  return result + fmt::format("-{:08x}", hash(name));
}

}  // namespace rmarun
