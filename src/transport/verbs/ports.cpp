#include "transport/verbs/ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>

#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

/// Owns the list of devices.
class DeviceList {
 public:
  DeviceList() : list_(ibv_get_device_list(&count_)) {}
  ~DeviceList() {
    if (list_ != nullptr) ibv_free_device_list(list_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  [[nodiscard]] std::span<ibv_device* const> devices() const {
    return {list_, list_ == nullptr ? 0 : static_cast<std::size_t>(count_)};
  }

 private:
  int count_ = 0;
  ibv_device** list_;
};

/// One word of PortChoice::devices.
struct Wanted {
  std::string_view device;
  int port = 0;  ///< 0: all ports
  bool found = false;
};

Result<std::vector<Wanted>> parse(std::string_view text) {
  std::vector<Wanted> wanted;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t colon = word.find(':');
    Wanted this_wanted = {.device = word.substr(0, colon)};
    if (colon != std::string_view::npos) {
      const std::string_view number = word.substr(colon + 1);
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), this_wanted.port);
      if (error != std::errc() || end != number.data() + number.size() || this_wanted.port < 1)
        this_wanted.device = {};
    }
    if (this_wanted.device.empty()) {
      return Status(RMA_ERR_SETTING,
                    fmt::format("RMA_DEVICES has '{}': expected names as in 'mlx5_0,mlx5_1:2'", word));
    }
    wanted.push_back(this_wanted);
  }
  return wanted;
}

/// Returns the preference of a GID; lower is better. The order is: RoCE v2 with an IPv4 address, RoCE v2 with
/// an IPv6 address, RoCE v2 with a link-local address, RoCE v1, which cannot be routed.
int rank_of(const ibv_gid_entry& entry) {
  static constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const bool ipv4 = std::memcmp(entry.gid.raw, kMapped.data(), kMapped.size()) == 0;
  const bool link_local = entry.gid.raw[0] == 0xfe && (entry.gid.raw[1] & 0xc0U) == 0x80;
  const bool routable = entry.gid_type == IBV_GID_TYPE_ROCE_V2;
  return (routable ? 0 : 4) + (ipv4 ? 0 : link_local ? 2 : 1);
}

std::string type_name(std::uint32_t type) {
  switch (type) {
    case IBV_GID_TYPE_ROCE_V1:
      return "RoCE v1";
    case IBV_GID_TYPE_ROCE_V2:
      return "RoCE v2";
    default:
      return "IB";
  }
}

/// Fills in the port's GID. If the port has no usable GID, stores the reason into Port::unusable.
void choose_gid(ibv_context* context, const PortChoice& choice, int table_length, std::size_t port_count,
                Port& port) {
  std::optional<ibv_gid_entry> best;
  std::vector<ibv_gid_entry> entries(static_cast<std::size_t>(table_length) * port_count);
  const ssize_t found = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  entries.resize(found > 0 ? static_cast<std::size_t>(found) : 0);
  for (const ibv_gid_entry& entry : entries) {
    if (entry.port_num != port.number) continue;
    if (choice.gid_index && static_cast<std::uint32_t>(*choice.gid_index) != entry.gid_index) continue;
    if (!best || rank_of(entry) < rank_of(*best)) best = entry;
  }
  if (best) {
    port.gid = best->gid;
    port.gid_index = static_cast<std::uint8_t>(best->gid_index);
    port.gid_type = type_name(best->gid_type);
  } else if (choice.gid_index) {
    port.unusable = fmt::format("it has no GID number {} (RMA_GID_INDEX)", *choice.gid_index);
  } else if (port.ethernet) {
    port.unusable = "it has no GID: give its network interface an address";
  }
}

Port describe(ibv_context* context, const char* name, std::uint8_t number, const ibv_device_attr& attributes,
              const PortChoice& choice) {
  Port port;
  port.device = name;
  port.number = number;
  port.attributes = attributes;
  ibv_port_attr port_attributes = {};
  if (const int error = ibv_query_port(context, number, &port_attributes); error != 0) {
    port.unusable = fmt::format("it cannot be asked: {}", std::strerror(error));
    return port;
  }
  port.ethernet = port_attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
  port.lid = port_attributes.lid;
  port.mtu = port_attributes.active_mtu;
  port.max_message = port_attributes.max_msg_sz;
  choose_gid(context, choice, port_attributes.gid_tbl_len, attributes.phys_port_cnt, port);
  if (port_attributes.state != IBV_PORT_ACTIVE) {
    port.unusable = fmt::format("it is {}", ibv_port_state_str(port_attributes.state));
  } else if (port.unusable.empty() && attributes.max_srq == 0) {
    port.unusable = "the device has no shared receive queues";
  }
  return port;
}

void apply(std::vector<Wanted>& wanted, Port& port) {
  if (wanted.empty()) return;
  const auto it = std::find_if(wanted.begin(), wanted.end(), [&](const Wanted& this_wanted) {
    return this_wanted.device == port.device && (this_wanted.port == 0 || this_wanted.port == port.number);
  });
  if (it != wanted.end()) {
    it->found = true;
  } else {
    port.unusable = "RMA_DEVICES does not name it";
  }
}

}  // namespace

Result<std::vector<Port>> find_ports(const PortChoice& choice) {
  RMA_TRY_ASSIGN(wanted, parse(choice.devices));
  std::vector<Port> ports;
  const DeviceList list;
  for (ibv_device* const device : list.devices()) {
    const char* const name = ibv_get_device_name(device);
    const Context context(ibv_open_device(device));
    ibv_device_attr attributes = {};
    if (context == nullptr || ibv_query_device(context.get(), &attributes) != 0) {
      Port& port = ports.emplace_back();
      port.device = name;
      port.unusable = fmt::format("it cannot be opened: {}", std::strerror(errno));
      apply(wanted, port);
      continue;
    }
    for (std::uint8_t number = 1; number <= attributes.phys_port_cnt; ++number) {
      ports.push_back(describe(context.get(), name, number, attributes, choice));
      apply(wanted, ports.back());
    }
  }
  for (const Wanted& this_wanted : wanted) {
    if (!this_wanted.found) {
      return Status(
          RMA_ERR_SETTING,
          fmt::format("RMA_DEVICES names {}{}, which this host does not have; rma-info lists those it has",
                      this_wanted.device, this_wanted.port == 0 ? "" : fmt::format(":{}", this_wanted.port)));
    }
  }
  std::stable_sort(ports.begin(), ports.end(),
                   [](const Port& a, const Port& b) { return a.device < b.device; });
  return ports;
}

Result<Context> open_device(std::string_view name) {
  const DeviceList list;
  for (ibv_device* const device : list.devices()) {
    if (name != ibv_get_device_name(device)) continue;
    Context context(ibv_open_device(device));
    if (context != nullptr) return context;
    return system_failure(RMA_ERR_SYSTEM, fmt::format("opening RDMA device {}", name), errno);
  }
  return Status(RMA_ERR_SYSTEM, fmt::format("RDMA device {} is gone", name));
}

}  // namespace librma::transport
