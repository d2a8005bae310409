#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "transport/verbs/ports.hpp"
#include "util/settings.hpp"

namespace rma::info {

/// The RDMA ports of this host.
struct Devices {
  std::vector<transport::Port> ports;
  std::string error;  ///< what is wrong with RMA_DEVICES; all ports are then shown as if it were not set
};
[[nodiscard]] Devices find_devices(const Settings& settings);

/// Which of them a job would use: the rail's number, or why none.
struct RailChoice {
  int rail = -1;
  std::string why_not;
};
[[nodiscard]] std::vector<RailChoice> choose_rails(const std::vector<transport::Port>& ports);

/// One paragraph for each port; says so where there is none.
[[nodiscard]] std::string devices_text(const std::vector<transport::Port>& ports);
/// One line for each port.
[[nodiscard]] std::string devices_summary(const std::vector<transport::Port>& ports);
[[nodiscard]] nlohmann::ordered_json devices_json(const std::vector<transport::Port>& ports);

/// Why memory outside the heap would be registered anew for each large transfer; empty when registrations
/// can be remembered.
[[nodiscard]] std::string why_no_registration_cache();

}  // namespace rma::info
