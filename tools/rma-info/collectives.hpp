#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "util/settings.hpp"

namespace librma::info {

/// Return which engine executes each blocking collective operation, for teams on one host, with one rank on
/// each of several hosts, and with several.
[[nodiscard]] nlohmann::ordered_json collectives_json(const Settings& settings);
[[nodiscard]] std::string collectives_text(const Settings& settings);

}  // namespace librma::info
