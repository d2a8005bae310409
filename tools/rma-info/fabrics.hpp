#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "util/settings.hpp"

namespace librma::info {

/// What libfabric offers on this host, by which jobs reach other hosts without RDMA devices.
struct Fabrics {
  struct Interface {
    std::string provider;
    std::string device;
    std::string network;
    std::string unusable;  ///< why RMA_NETWORK=ofi would not use it; empty: it would
  };
  std::vector<Interface> interfaces;  ///< the best first
  std::string error;                  ///< why there are none

  [[nodiscard]] bool usable() const;
  /// Returns whether there is an interface of this name.
  [[nodiscard]] bool has(const std::string& device) const;
};
[[nodiscard]] Fabrics find_fabrics(const Settings& settings);

/// Returns a line that says which network a job of several hosts would use, and why. `verbs`: there is a
/// usable RDMA device.
[[nodiscard]] std::string network_text(const Settings& settings, bool verbs, const Fabrics& fabrics);
/// Returns a line for each interface, or one that says why there is none.
[[nodiscard]] std::string fabrics_text(const Fabrics& fabrics);
[[nodiscard]] nlohmann::ordered_json fabrics_json(const Fabrics& fabrics);

}  // namespace librma::info
