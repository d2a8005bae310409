// The counters and settings, as tools see them (rma/variables.h).

#include "rma/variables.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/variables.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// The settings of the job. A copy, because a tool may ask while another thread ends the job.
struct InForce {
  std::mutex lock;  // guards the rest
  std::optional<Settings> settings;
};
InForce& in_force() {
  static InForce* const kInForce = new InForce;  // never destroyed: tools ask until the process ends
  return *kInForce;
}

Result<Settings> settings_in_force() {
  InForce& known = in_force();
  {
    const std::lock_guard guard(known.lock);
    if (known.settings) return *known.settings;
  }
  return read_settings();
}

bool is_counter(std::size_t counter) { return counter < kCounters; }
const SettingInfo* find_setting(std::size_t setting) {
  const auto table = setting_table();
  return setting < table.size() ? &table[setting] : nullptr;
}

Status no_setting(std::size_t setting) {
  return {RMA_ERR_ARGUMENT, text("there is no setting {} of {}", setting, setting_table().size())};
}

Status store_number(std::size_t setting, std::uint64_t* value) {
  RMA_TRY(check_not_null(value, "value"));
  const SettingInfo* const info = find_setting(setting);
  if (info == nullptr) return no_setting(setting);
  const auto* const number = std::get_if<std::uint64_t Settings::*>(&info->value);
  if (number == nullptr) return {RMA_ERR_ARGUMENT, text("the values of {} are no numbers", info->name)};
  RMA_TRY_ASSIGN(settings, settings_in_force());
  *value = settings.**number;
  return {};
}

Status store_text(std::size_t setting, char* value, std::size_t bytes, std::size_t* needed) {
  if (bytes != 0) {
    RMA_TRY(check_not_null(value, "value"));
  }
  const SettingInfo* const info = find_setting(setting);
  if (info == nullptr) return no_setting(setting);
  RMA_TRY_ASSIGN(settings, settings_in_force());
  const std::string whole = setting_text(*info, settings);
  if (needed != nullptr) *needed = whole.size() + 1;
  if (bytes == 0) return {};
  const std::size_t length = std::min(whole.size(), bytes - 1);
  std::memcpy(value, whole.data(), length);
  value[length] = '\0';
  return {};
}

/// Runs the body of a call that needs no job.
template <typename Body>
rma_status_t call_any_time(const char* name, const Body& body) try {
  const Status status = body();
  return status.ok() ? RMA_SUCCESS : fail(name, status);
} catch (const std::exception& thrown) {
  return fail(name, thrown);
}

}  // namespace

void note_settings(const Settings& settings) {
  InForce& known = in_force();
  const std::lock_guard guard(known.lock);
  known.settings = settings;
}

void forget_settings() noexcept {
  InForce& known = in_force();
  const std::lock_guard guard(known.lock);
  known.settings.reset();
}

extern "C" {

// All names and texts of the tables are literals, which end in a null.

size_t rma_counter_count(void) { return kCounters; }

const char* rma_counter_name(size_t counter) {
  return is_counter(counter) ? counter_name(static_cast<Counter>(counter)).data() : nullptr;
}

const char* rma_counter_text(size_t counter) {
  return is_counter(counter) ? counter_help(static_cast<Counter>(counter)).data() : nullptr;
}

uint64_t rma_counter_value(size_t counter) {
  return is_counter(counter) ? total_count(static_cast<Counter>(counter)) : 0;
}

size_t rma_setting_count(void) { return setting_table().size(); }

const char* rma_setting_name(size_t setting) {
  const SettingInfo* const info = find_setting(setting);
  return info != nullptr ? info->name.data() : nullptr;
}

const char* rma_setting_text(size_t setting) {
  const SettingInfo* const info = find_setting(setting);
  return info != nullptr ? info->help.data() : nullptr;
}

int rma_setting_is_number(size_t setting) {
  const SettingInfo* const info = find_setting(setting);
  return info != nullptr && std::holds_alternative<std::uint64_t Settings::*>(info->value) ? 1 : 0;
}

rma_status_t rma_setting_number(size_t setting, uint64_t* value) {
  return call_any_time(__func__, [&] { return store_number(setting, value); });
}

rma_status_t rma_setting_value(size_t setting, char* value, size_t bytes, size_t* needed) {
  return call_any_time(__func__, [&] { return store_text(setting, value, bytes, needed); });
}

}  // extern "C"

}  // namespace librma
