#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace rma::info {

/// What is wrong with the settings in this environment; empty when nothing is.
[[nodiscard]] std::string environment_error();

/// The settings in force (or, where the environment is wrong, the defaults) with their meaning.
[[nodiscard]] nlohmann::ordered_json settings_json();
[[nodiscard]] std::string settings_text();

/// docs/settings.md: the same from the defaults alone, whatever the environment says.
[[nodiscard]] std::string settings_markdown();

/// The RDMA ports and which of them a job would use; and what is wrong with RMA_DEVICES, empty when nothing.
[[nodiscard]] std::string devices_page();
[[nodiscard]] std::string devices_error();

/// What this machine offers to the runtime: processors, memory, ways to reach other processes' memory.
[[nodiscard]] nlohmann::ordered_json machine_json();
[[nodiscard]] std::string machine_text();

}  // namespace rma::info
