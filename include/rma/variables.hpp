/**
 * @file variables.hpp
 * The library's counters and settings. The rules are those of variables.h.
 */
#ifndef RMA_VARIABLES_HPP
#define RMA_VARIABLES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rma/error.hpp"
#include "rma/variables.h"

namespace rma::inline v0 {

/** A counter of the library, by its number. */
class LibraryCounter {
 public:
  explicit LibraryCounter(std::size_t number) noexcept : number_(number) {}
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] std::string_view name() const noexcept { return rma_counter_name(number_); }
  [[nodiscard]] std::string_view text() const noexcept { return rma_counter_text(number_); }
  /** Returns how much this process has counted. */
  [[nodiscard]] std::uint64_t value() const noexcept { return rma_counter_value(number_); }

 private:
  std::size_t number_;
};

/** Returns all counters. */
[[nodiscard]] inline std::vector<LibraryCounter> counters() {
  std::vector<LibraryCounter> all;
  for (std::size_t i = 0; i < rma_counter_count(); ++i) all.emplace_back(i);
  return all;
}

/** Returns the counter of a name, or no value if there is none. */
[[nodiscard]] inline std::optional<LibraryCounter> find_counter(std::string_view name) noexcept {
  for (std::size_t i = 0; i < rma_counter_count(); ++i) {
    if (name == rma_counter_name(i)) return LibraryCounter(i);
  }
  return std::nullopt;
}

/** A setting of the library, by its number. */
class LibrarySetting {
 public:
  explicit LibrarySetting(std::size_t number) noexcept : number_(number) {}
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] std::string_view name() const noexcept { return rma_setting_name(number_); }
  [[nodiscard]] std::string_view text() const noexcept { return rma_setting_text(number_); }
  /** Returns the value as a user writes it. Throws an Error if the environment has a setting that is not
   * valid. */
  [[nodiscard]] std::string value() const {
    std::size_t needed = 0;
    check(rma_setting_value(number_, nullptr, 0, &needed));
    std::string text(needed, '\0');
    check(rma_setting_value(number_, text.data(), text.size(), &needed));
    text.resize(text.find('\0'));
    return text;
  }

 private:
  std::size_t number_;
};

/** Returns all settings. */
[[nodiscard]] inline std::vector<LibrarySetting> settings() {
  std::vector<LibrarySetting> all;
  for (std::size_t i = 0; i < rma_setting_count(); ++i) all.emplace_back(i);
  return all;
}

}  // namespace rma::inline v0

#endif
