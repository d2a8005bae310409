#include "shmem/job/options.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "shmem/job/errors.hpp"

namespace librma::shmem {
namespace {

const char* find(const char* name) {
  if (const char* const said = std::getenv(fmt::format("SHMEM_{}", name).c_str()); said != nullptr)
    return said;
  return std::getenv(fmt::format("SMA_{}", name).c_str());
}

bool is_on(const char* name) {
  const char* const said = find(name);
  if (said == nullptr) return false;
  constexpr std::array<std::string_view, 6> kOff = {"", "0", "n", "no", "off", "false"};
  for (const std::string_view off : kOff) {
    if (off == said) return false;
  }
  return true;
}

}  // namespace

std::optional<std::size_t> parse_size(const std::string& said) {
  double number = 0;
  const char* const end = said.data() + said.size();
  const auto [rest, error] = std::from_chars(said.data(), end, number);
  if (error != std::errc() || end - rest > 1) return std::nullopt;
  if (rest != end) {
    constexpr std::string_view kUnits = "kmgt";
    const std::size_t unit = kUnits.find(static_cast<char>(*rest | 0x20));  // a lower-case letter
    if (unit == std::string_view::npos) return std::nullopt;
    number = std::ldexp(number, 10 * (static_cast<int>(unit) + 1));
  }
  constexpr double kMost = 0x1p60;
  if (!(number >= 1 && number <= kMost)) return std::nullopt;
  return static_cast<std::size_t>(number);
}

Options read_options() {
  Options options;
  options.version = is_on("VERSION");
  options.info = is_on("INFO");
  options.debug = is_on("DEBUG");
  if (const char* const said = find("SYMMETRIC_SIZE"); said != nullptr) {
    options.symmetric_size = parse_size(said);
    if (!options.symmetric_size) {
      die("shmem_init",
          fmt::format(
              "SHMEM_SYMMETRIC_SIZE is '{}': expected a number of bytes such as 67108864, 64m or 1.5g",
              said));
    }
  }
  return options;
}

std::string describe(const Options& options, std::size_t heap_bytes, const std::string& refusal) {
  const auto on = [](bool value) { return value ? "on" : "off"; };
  return fmt::format(
      "SHMEM_VERSION         {:12} print the version of the library at start\n"
      "SHMEM_INFO            {:12} print this text at start\n"
      "SHMEM_DEBUG           {:12} check arguments of collective calls, and that their memory is symmetric\n"
      "SHMEM_SYMMETRIC_SIZE  {:<12} bytes of the symmetric heap of each PE{}\n"
      "Static data           {:12} {}\n",
      on(options.version), on(options.info), on(options.debug), heap_bytes,
      options.symmetric_size ? "" : " (default)", refusal.empty() ? "shared" : "registered",
      refusal.empty() ? "PEs of one host reach them as they reach the heap" : refusal);
}

}  // namespace librma::shmem
