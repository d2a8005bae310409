// Reads the hints of files from an info object and from ROMIO's file of hints, and writes them to an info.

#include "twosided_compat/files/hints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace librma::mpi {
namespace {

struct SwitchHint {
  const char* key;
  Switch FileHints::*value;
};
constexpr std::array kSwitches = {SwitchHint{"romio_cb_read", &FileHints::romio_cb_read},
                                  SwitchHint{"romio_cb_write", &FileHints::romio_cb_write},
                                  SwitchHint{"romio_ds_read", &FileHints::romio_ds_read},
                                  SwitchHint{"romio_ds_write", &FileHints::romio_ds_write}};

struct SizeHint {
  const char* key;
  std::size_t FileHints::*value;
};
constexpr std::array kSizes = {SizeHint{"cb_buffer_size", &FileHints::cb_buffer_size},
                               SizeHint{"ind_rd_buffer_size", &FileHints::ind_rd_buffer_size},
                               SizeHint{"ind_wr_buffer_size", &FileHints::ind_wr_buffer_size},
                               SizeHint{"striping_unit", &FileHints::striping_unit}};
// Offsets within a buffer have 32 bits in the messages of collective calls.
constexpr std::size_t kMostBytes = std::size_t{1} << 31U;

constexpr const char* kNoIndependent = "romio_no_indep_rw";

struct SwitchName {
  const char* name;
  Switch value;
};
constexpr std::array kSwitchNames = {SwitchName{"automatic", Switch::kAutomatic},
                                     SwitchName{"enable", Switch::kEnable},
                                     SwitchName{"disable", Switch::kDisable}};

/// Returns the number that a text is, if it is a positive one.
std::optional<long> positive_number(const std::string& text) {
  long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

}  // namespace

void FileHints::take(MPI_Info info) {
  const Info* const given = find_info(info);
  if (given != nullptr) take_given([given](const char* key) { return given->get(key); });
}

void FileHints::take_from_environment() {
  const char* const name = std::getenv("ROMIO_HINTS");  // NOLINT(concurrency-mt-unsafe): the program's matter
  if (name == nullptr) return;
  std::map<std::string, std::string, std::less<>> hints;
  std::ifstream file(name);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    std::string value;
    if (words >> key >> value && !key.starts_with('#')) hints.emplace(key, value);
  }
  take_given([&hints](const char* key) {
    const auto found = hints.find(key);
    return found == hints.end() ? std::nullopt : std::optional(found->second);
  });
}

void FileHints::take_given(const Given& given) {
  for (const SwitchHint& hint : kSwitches) {
    const std::optional<std::string> text = given(hint.key);
    if (!text) continue;
    for (const SwitchName& known : kSwitchNames) {
      if (*text == known.name) this->*hint.value = known.value;
    }
  }
  for (const SizeHint& hint : kSizes) {
    const std::optional<std::string> text = given(hint.key);
    if (!text) continue;
    if (const auto bytes = positive_number(*text))
      this->*hint.value = std::min(static_cast<std::size_t>(*bytes), kMostBytes);
  }
  if (const std::optional<std::string> text = given("cb_nodes")) {
    constexpr long kMostNodes = 1 << 20;
    if (const auto nodes = positive_number(*text)) cb_nodes = static_cast<int>(std::min(*nodes, kMostNodes));
  }
  if (const std::optional<std::string> text = given(kNoIndependent); text == "true" || text == "false")
    romio_no_indep_rw = text == "true";
}

void FileHints::store(Info& info) const {
  for (const SwitchHint& hint : kSwitches) {
    for (const SwitchName& known : kSwitchNames) {
      if (this->*hint.value == known.value) info.set(hint.key, known.name);
    }
  }
  for (const SizeHint& hint : kSizes) {
    if (this->*hint.value != 0) info.set(hint.key, std::to_string(this->*hint.value));
  }
  info.set(kNoIndependent, romio_no_indep_rw ? "true" : "false");
}

}  // namespace librma::mpi
