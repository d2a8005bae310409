#include "util/settings.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

namespace librma {
namespace {

/// Parses a number such as "64K". Returns no value for any other text.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  if (suffix.empty()) return value;
  constexpr std::string_view kSuffixes = "KMGT";
  const std::size_t power = kSuffixes.find(suffix[0]);
  if (suffix.size() != 1 || power == std::string_view::npos) return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (value > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
  return value << shift;
}

std::string number_text(std::uint64_t value) {
  constexpr std::string_view kSuffixes = "TGMK";
  for (std::size_t i = 0; i < kSuffixes.size(); ++i) {
    const unsigned shift = 40 - 10 * static_cast<unsigned>(i);
    if (value != 0 && value % (std::uint64_t{1} << shift) == 0) {
      return fmt::format("{}{}", value >> shift, kSuffixes[i]);
    }
  }
  return fmt::format("{}", value);
}

/// Returns Levenshtein's distance: the number of letters to insert, delete or change.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// Variables that the compilers of MPI programs read (tools/compiler.sh.in), and rmarun
/// (rmarun/personality.hpp). They are in the environment of programs, too.
constexpr std::array<std::string_view, 4> kOfTools{"RMA_CC", "RMA_CXX", "RMA_FC", "RMA_MPI"};

std::string_view nearest_setting(std::string_view name) {
  const auto table = setting_table();
  const auto nearest = std::min_element(table.begin(), table.end(), [name](const auto& a, const auto& b) {
    return edit_distance(name, a.name) < edit_distance(name, b.name);
  });
  return nearest->name;
}

/// Returns the text about variables that look like settings and are not.
std::string describe_unknown(std::span<const std::string_view> names) {
  constexpr std::size_t kMostNamed = 8;
  std::string text;
  for (const std::string_view name : names.first(std::min(names.size(), kMostNamed))) {
    text += fmt::format("{}there is no setting {}; the nearest is {}", text.empty() ? "" : "; ", name,
                        nearest_setting(name));
  }
  if (names.size() > kMostNamed) text += fmt::format("; and {} more", names.size() - kMostNamed);
  return text + " (rma-info --settings lists all)";
}

Status malformed(const SettingInfo& info, std::string_view value) {
  return {RMA_ERR_SETTING, text("{}={} is not valid: expected {}", info.name, value, setting_range(info))};
}

/// Returns the row of `entry` ("NAME=value") if it, or the setting `name` of it, has another name now; else
/// null.
const RenamedSetting* find_renamed(std::string_view entry, std::string_view name) {
  const auto table = renamed_settings();
  const auto found = std::find_if(table.begin(), table.end(), [entry, name](const RenamedSetting& row) {
    return row.before == entry || row.before == name;
  });
  return found != table.end() ? &*found : nullptr;
}

/// Calls `visit` with each setting that counts for the whole job.
template <typename Visit>
void for_each_of_job(const Visit& visit) {
  for (const SettingInfo& info : setting_table()) {
    if (info.scope == SettingScope::job) visit(info);
  }
}

/// Returns a setting of the job as a number. No such setting is a text.
std::uint64_t word_of(const SettingInfo& info, const Settings& settings) {
  if (const auto* number = std::get_if<std::uint64_t Settings::*>(&info.value)) return settings.**number;
  return std::get<Choice>(info.value).load(settings);
}

/// The opposite of word_of(). Another process may have sent `word`.
std::string word_text(const SettingInfo& info, std::uint64_t word) {
  if (std::holds_alternative<std::uint64_t Settings::*>(info.value)) return number_text(word);
  const auto& words = std::get<Choice>(info.value).words;
  return word < words.size() ? std::string(words[word]) : number_text(word);
}

Status store(const SettingInfo& info, std::string_view text, Settings& settings) {
  if (const auto* number = std::get_if<std::uint64_t Settings::*>(&info.value)) {
    const auto value = parse_number(text);
    if (!value || *value < info.least || *value > info.most) return malformed(info, text);
    settings.** number = *value;
  } else if (const auto* string = std::get_if<std::string Settings::*>(&info.value)) {
    settings.** string = text;
  } else {
    const auto& choice = std::get<Choice>(info.value);
    const auto word = std::find(choice.words.begin(), choice.words.end(), text);
    if (word == choice.words.end()) return malformed(info, text);
    choice.store(settings, static_cast<std::size_t>(word - choice.words.begin()));
  }
  return {};
}

}  // namespace

std::string setting_range(const SettingInfo& info) {
  if (std::holds_alternative<std::uint64_t Settings::*>(info.value)) {
    return fmt::format("{} .. {} {}", number_text(info.least), number_text(info.most), info.unit);
  }
  if (const auto* choice = std::get_if<Choice>(&info.value))
    return fmt::format("{}", fmt::join(choice->words, " | "));
  return "text";
}

std::string setting_text(const SettingInfo& info, const Settings& settings) {
  if (const auto* number = std::get_if<std::uint64_t Settings::*>(&info.value))
    return number_text(settings.**number);
  if (const auto* string = std::get_if<std::string Settings::*>(&info.value)) return settings.**string;
  const auto& choice = std::get<Choice>(info.value);
  return std::string(choice.words[choice.load(settings)]);
}

JobSettings::JobSettings(const Settings& settings) {
  for_each_of_job([&](const SettingInfo& info) { words_.push_back(word_of(info, settings)); });
}

bool JobSettings::take(std::span<const std::byte> bytes) {
  std::size_t words = 0;
  for_each_of_job([&](const SettingInfo& /*info*/) { ++words; });
  if (bytes.size() != words * sizeof(std::uint64_t)) return false;
  words_.resize(words);
  std::memcpy(words_.data(), bytes.data(), bytes.size());
  return true;
}

Status JobSettings::agree(const JobSettings& theirs, int self, int other) const {
  if (words_ == theirs.words_) return {};
  std::string differences;
  std::size_t at = 0;
  for_each_of_job([&](const SettingInfo& info) {
    const std::uint64_t mine = words_[at];
    const std::uint64_t other_word = theirs.words_[at++];
    if (mine == other_word) return;
    differences += fmt::format("{}{} is {} on rank {} and {} on rank {}", differences.empty() ? "" : ", ",
                               info.name, word_text(info, mine), self, word_text(info, other_word), other);
  });
  return {RMA_ERR_SETTING, differences + ": set it alike on all ranks"};
}

Result<Settings> read_settings(std::span<const std::string_view> environment) {
  Settings settings;
  const auto table = setting_table();
  for (const SettingInfo& info : table) {
    RMA_TRY(store(info, info.standard, settings));
  }
  std::vector<std::string_view> unknown;
  for (const std::string_view entry : environment) {
    const std::size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    if (equals == std::string_view::npos || !name.starts_with("RMA_")) continue;
    if (std::ranges::find(kOfTools, name) != kOfTools.end()) continue;
    const auto info =
        std::find_if(table.begin(), table.end(), [name](const auto& row) { return row.name == name; });
    if (const RenamedSetting* const renamed = find_renamed(entry, name); renamed != nullptr) {
      return Status(RMA_ERR_SETTING, text("{} is called {} now", renamed->before, renamed->now));
    }
    if (info == table.end()) {
      unknown.push_back(name);
      continue;
    }
    RMA_TRY(store(*info, entry.substr(equals + 1), settings));
  }
  if (unknown.empty()) return settings;
  settings.unknown = describe_unknown(unknown);
  if (settings.strict) return Status(RMA_ERR_SETTING, settings.unknown);
  return settings;
}

Result<Settings> read_settings() {
  std::vector<std::string_view> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return read_settings(entries);
}

}  // namespace librma
