#include "devices.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>

#include "fabric/registrar.hpp"
#include "fabric/registration_cache.hpp"

namespace librma::info {
namespace {

constexpr const char* kNone = "none\n";

/// Registers nothing. It only serves to ask whether registrations could be remembered.
class NoRegistrar final : public Registrar {
 public:
  [[nodiscard]] Result<Registered> add(std::byte* /*address*/, std::size_t /*bytes*/) override {
    return Status(RMA_ERR_UNSUPPORTED, "no device");
  }
  void remove(const Registered& /*registered*/) override {}
};

/// Returns whether the device could be opened and queried.
bool answered(const transport::Port& port) { return port.attributes.phys_port_cnt != 0; }

std::string gid_text(const transport::Port& port) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  return inet_ntop(AF_INET6, port.gid.raw, text.data(), text.size()) != nullptr ? text.data() : "?";
}

std::string place(const transport::Port& port) {
  const std::string gid = port.gid_type.empty()
                              ? std::string("no GID")
                              : fmt::format("GID {}, {}, {}", port.gid_index, port.gid_type, gid_text(port));
  return port.ethernet ? gid : fmt::format("LID {}; {}", port.lid, gid);
}

std::string verdict(const RailChoice& choice) {
  return choice.rail >= 0 ? fmt::format("rail {}", choice.rail) : "not used: " + choice.why_not;
}

bool has_atomics(const transport::Port& port) { return port.attributes.atomic_cap != IBV_ATOMIC_NONE; }

}  // namespace

Devices find_devices(const Settings& settings) {
  transport::PortChoice choice = {.devices = settings.devices, .gid_index = std::nullopt};
  if (settings.gid_index != kAnyGid) choice.gid_index = static_cast<int>(settings.gid_index);
  auto ports = transport::find_ports(choice);
  if (ports.ok()) return {std::move(ports).value(), {}};
  choice.devices.clear();
  auto all = transport::find_ports(choice);
  return {all.ok() ? std::move(all).value() : std::vector<transport::Port>(),
          std::string(ports.status().text())};
}

std::vector<RailChoice> choose_rails(const std::vector<transport::Port>& ports) {
  std::vector<RailChoice> choices;
  int next = 0;
  for (const transport::Port& port : ports) {
    if (!port.unusable.empty()) {
      choices.push_back({.rail = -1, .why_not = port.unusable});
    } else if (next == static_cast<int>(kMaxRails)) {
      choices.push_back(
          {.rail = -1, .why_not = fmt::format("{} rails are the most (RMA_DEVICES chooses)", next)});
    } else {
      choices.push_back({.rail = next++, .why_not = {}});
    }
  }
  return choices;
}

std::string devices_text(const std::vector<transport::Port>& ports) {
  if (ports.empty()) return std::string("RDMA devices: ") + kNone;
  std::string text = "RDMA devices, in the order in which usable ports become rails:\n";
  const auto choices = choose_rails(ports);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const transport::Port& port = ports[i];
    text += fmt::format("{} port {}: {}\n", port.device, port.number, verdict(choices[i]));
    if (!answered(port)) continue;
    text += fmt::format(
        "    link      {}, packets of {} bytes\n"
        "    address   {}\n"
        "    limits    messages of {} bytes, {} pieces in a request, {} requests in a queue,\n"
        "              {} entries in a completion queue\n"
        "    can do    atomics on 8 bytes: {}; shared receive queues: {}\n",
        port.ethernet ? "Ethernet" : "InfiniBand", transport::mtu_bytes(port.mtu), place(port),
        port.max_message, port.attributes.max_sge, port.attributes.max_qp_wr, port.attributes.max_cqe,
        has_atomics(port) ? "yes" : "no", port.attributes.max_srq > 0 ? "yes" : "no");
  }
  return text;
}

std::string devices_summary(const std::vector<transport::Port>& ports) {
  if (ports.empty()) return fmt::format("{:<22}{}", "RDMA devices", kNone);
  std::string text;
  const auto choices = choose_rails(ports);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    text += fmt::format("{:<22}{} port {}: {}\n", i == 0 ? "RDMA devices" : "", ports[i].device,
                        ports[i].number, verdict(choices[i]));
  }
  return text;
}

nlohmann::ordered_json devices_json(const std::vector<transport::Port>& ports) {
  auto list = nlohmann::ordered_json::array();
  const auto choices = choose_rails(ports);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const transport::Port& port = ports[i];
    nlohmann::ordered_json entry = {{"device", port.device}, {"port", port.number}};
    if (choices[i].rail >= 0) {
      entry["rail"] = choices[i].rail;
    } else {
      entry["why_not_used"] = choices[i].why_not;
    }
    if (answered(port)) {
      entry["link_layer"] = port.ethernet ? "Ethernet" : "InfiniBand";
      entry["mtu"] = transport::mtu_bytes(port.mtu);
      entry["lid"] = port.lid;
      if (!port.gid_type.empty()) {
        entry["gid"] = {{"index", port.gid_index}, {"type", port.gid_type}, {"address", gid_text(port)}};
      }
      entry["max_message"] = port.max_message;
      entry["max_pieces"] = port.attributes.max_sge;
      entry["max_queue_depth"] = port.attributes.max_qp_wr;
      entry["max_completions"] = port.attributes.max_cqe;
      entry["atomics"] = has_atomics(port);
      entry["shared_receive_queues"] = port.attributes.max_srq > 0;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::string why_no_registration_cache() {
  NoRegistrar registrar;
  return RegistrationCache::create(registrar, {.max_bytes = 1, .max_entries = 1, .enabled = true})->why_off();
}

}  // namespace librma::info
