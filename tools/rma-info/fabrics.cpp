#include "fabrics.hpp"

#include <fmt/format.h>

#include <algorithm>

#ifdef RMA_HAS_OFI
#include "transport/ofi/fabric_choice.hpp"
#endif

namespace librma::info {

bool Fabrics::usable() const {
  return std::ranges::any_of(interfaces,
                             [](const Interface& interface) { return interface.unusable.empty(); });
}

bool Fabrics::has(const std::string& device) const {
  return std::ranges::any_of(interfaces,
                             [&](const Interface& interface) { return interface.device == device; });
}

#ifdef RMA_HAS_OFI
Fabrics find_fabrics(const Settings& settings) {
  Fabrics fabrics;
  auto found = transport::find_fabrics({.providers = settings.fabric_providers, .devices = settings.devices});
  if (!found.ok()) {
    fabrics.error = std::string(found.status().text());
    return fabrics;
  }
  for (const transport::FabricCandidate& candidate : found.value()) {
    fabrics.interfaces.push_back({.provider = candidate.provider,
                                  .device = candidate.device,
                                  .network = candidate.fabric,
                                  .unusable = candidate.unusable});
  }
  if (fabrics.interfaces.empty()) {
    fabrics.error = fmt::format("none of the providers {} has an interface", settings.fabric_providers);
  }
  return fabrics;
}
#else
Fabrics find_fabrics(const Settings& /*settings*/) {
  return {.interfaces = {}, .error = "this librma was built without libfabric"};
}
#endif

std::string network_text(const Settings& settings, bool verbs, const Fabrics& fabrics) {
  const std::string_view wanted = network_name(settings.network);
  std::string choice;
  if (settings.network == NetworkSetting::off) {
    choice = "none: RMA_NETWORK=off";
  } else if (settings.network != NetworkSetting::automatic) {
    const bool there = settings.network == NetworkSetting::verbs ? verbs : fabrics.usable();
    choice =
        fmt::format("{}: RMA_NETWORK={}{}", wanted, wanted, there ? "" : ", but it has nothing usable here");
  } else if (verbs) {
    choice = "verbs: there is an RDMA device, which RMA_NETWORK=auto prefers to ofi";
  } else if (fabrics.usable()) {
    choice = "ofi: there is no usable RDMA device, and libfabric has an interface";
  } else {
    choice =
        "none: there is no usable RDMA device, and libfabric has no usable interface; jobs of several hosts "
        "cannot run here";
  }
  return fmt::format("{:<22}{}\n", "network between hosts", choice);
}

std::string fabrics_text(const Fabrics& fabrics) {
  if (fabrics.interfaces.empty()) return fmt::format("{:<22}{}\n", "libfabric", fabrics.error);
  std::string text;
  for (const Fabrics::Interface& interface : fabrics.interfaces) {
    text += fmt::format("{:<22}{} by {} ({}): {}\n", text.empty() ? "libfabric" : "", interface.device,
                        interface.provider, interface.network,
                        interface.unusable.empty() ? "rail of ofi" : "not used: " + interface.unusable);
  }
  return text;
}

nlohmann::ordered_json fabrics_json(const Fabrics& fabrics) {
  auto list = nlohmann::ordered_json::array();
  for (const Fabrics::Interface& interface : fabrics.interfaces) {
    nlohmann::ordered_json entry = {
        {"provider", interface.provider}, {"device", interface.device}, {"network", interface.network}};
    if (!interface.unusable.empty()) entry["why_not_used"] = interface.unusable;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace librma::info
