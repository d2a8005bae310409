#include "util/log.hpp"
#include "util/text.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <exception>

namespace librma {
namespace {

/// The words of RMA_LOG, in the order of LogLevel, then "off". spdlog's own parser is not used because it
/// accepts more words.
constexpr std::array<std::string_view, 6> kWords = {"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<spdlog::level::level_enum, 6> kLevels = {spdlog::level::trace, spdlog::level::debug,
                                                              spdlog::level::info,  spdlog::level::warn,
                                                              spdlog::level::err,   spdlog::level::off};

/// Returns the library's own logger. A program that uses spdlog thus keeps its own settings. Before
/// open_log() it has the default level.
spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("rma", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_level(spdlog::level::warn);
    made.set_pattern("[rma %H:%M:%S.%f %l] %v");
    return made;
  }();
  return instance;
}

}  // namespace

Status open_log(std::string_view least, int rank) {
  const auto* const word = std::find(kWords.begin(), kWords.end(), least);
  if (word == kWords.end()) {
    return {RMA_ERR_SETTING,
            text("RMA_LOG={} is not valid: expected trace, debug, info, warn, error or off", least)};
  }
  logger().set_level(kLevels[static_cast<std::size_t>(word - kWords.begin())]);
  logger().set_pattern(fmt::format("[rma %H:%M:%S.%f rank {} %l] %v", rank));
  return {};
}

bool log_prints(LogLevel level) noexcept {
  return logger().should_log(kLevels[static_cast<std::size_t>(level)]);
}

void log(LogLevel level, std::string_view message) noexcept {
  if (message.empty()) return;  // text() had no memory
  try {
    logger().log(kLevels[static_cast<std::size_t>(level)], "{}", message);
  } catch (const std::exception&) {  // there is no memory for the text: it is lost
  }
}

}  // namespace librma
