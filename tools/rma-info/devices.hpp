#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "transport/verbs/ports.hpp"
#include "util/settings.hpp"

namespace librma::info {

/// The RDMA ports of this host.
struct Devices {
  std::vector<transport::Port> ports;
  std::string error;  ///< the error of RMA_DEVICES; `ports` then has all ports, as if it were not set
};
[[nodiscard]] Devices find_devices(const Settings& settings);

/// How a job would use a port: the rail's number, or the reason why the port is no rail.
struct RailChoice {
  int rail = -1;
  std::string why_not;
};
[[nodiscard]] std::vector<RailChoice> choose_rails(const std::vector<transport::Port>& ports);

/// Returns one paragraph for each port, or a line that says that there is none.
[[nodiscard]] std::string devices_text(const std::vector<transport::Port>& ports);
/// Returns one line for each port.
[[nodiscard]] std::string devices_summary(const std::vector<transport::Port>& ports);
[[nodiscard]] nlohmann::ordered_json devices_json(const std::vector<transport::Port>& ports);

/// Returns why each large transfer would register memory outside the heap anew, or an empty text if
/// registrations can be remembered.
[[nodiscard]] std::string why_no_registration_cache();

}  // namespace librma::info
