#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.hpp"

namespace librma::transport {

struct ContextCloser {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
using Context = std::unique_ptr<ibv_context, ContextCloser>;

/// One port of an RDMA device of this host, with the properties that the device reports, and whether
/// it is usable.
struct Port {
  std::string device;  ///< "mlx5_0"
  std::uint8_t number = 1;
  std::string unusable;  ///< the reason, as a text for the user; empty if the port is usable

  bool ethernet = false;  ///< RoCE or iWARP: ports are addressed by GIDs, not by LIDs
  std::uint16_t lid = 0;
  ibv_mtu mtu = IBV_MTU_1024;  ///< active
  std::uint8_t gid_index = 0;
  ibv_gid gid = {};
  std::string gid_type;  ///< "RoCE v2", "RoCE v1", "IB"

  ibv_device_attr attributes = {};
  std::uint64_t max_message = 0;
};

/// The user's choice of ports.
struct PortChoice {
  std::string devices;           ///< "mlx5_0,mlx5_1:2"; empty takes every usable port
  std::optional<int> gid_index;  ///< overrides the choice that find_ports() makes
};

/// Returns every port of every device of this host, usable or not, sorted by device name. Ports that `choice`
/// leaves out are unusable for that reason. Returns no port if the host has no RDMA device, or no driver for
/// it. RMA_ERR_SETTING if `choice` names a device or port that does not exist.
[[nodiscard]] Result<std::vector<Port>> find_ports(const PortChoice& choice);

/// Opens the device with this name. RMA_ERR_SYSTEM.
[[nodiscard]] Result<Context> open_device(std::string_view name);

/// Returns the MTU in bytes.
[[nodiscard]] constexpr int mtu_bytes(ibv_mtu mtu) { return 128 << static_cast<int>(mtu); }

}  // namespace librma::transport
