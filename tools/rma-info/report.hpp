#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace librma::info {

/// Returns the errors of the settings in this environment, or an empty text if there are none.
[[nodiscard]] std::string environment_error();
/// Returns what is unusual about the environment, and no error; empty if there is nothing.
[[nodiscard]] std::string environment_warning();

/// Returns the settings in force, with their meaning. If the environment is wrong, these are the defaults.
[[nodiscard]] nlohmann::ordered_json settings_json();
[[nodiscard]] std::string settings_text();

/// Returns the text of docs/settings.md: the settings with their defaults, independent of the environment.
[[nodiscard]] std::string settings_markdown();

/// Return which engine executes each collective operation, with the settings in force.
[[nodiscard]] nlohmann::ordered_json collectives_page_json();
[[nodiscard]] std::string collectives_page();

/// devices_page() returns the RDMA ports, and which of them a job would use. devices_error() returns the
/// error of RMA_DEVICES, or an empty text.
[[nodiscard]] std::string devices_page();
[[nodiscard]] std::string devices_error();

/// Measures the ways to copy a block within this host, and returns which one a job would take for each size.
[[nodiscard]] std::string copies_page();
[[nodiscard]] nlohmann::ordered_json copies_json();

/// Returns the abilities of this machine: processors, memory, ways to reach other processes' memory.
[[nodiscard]] nlohmann::ordered_json machine_json();
[[nodiscard]] std::string machine_text();

}  // namespace librma::info
