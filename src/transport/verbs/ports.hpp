#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.hpp"

namespace rma::transport {

struct ContextCloser {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
using Context = std::unique_ptr<ibv_context, ContextCloser>;

/// One port of an RDMA device of this host: what it can do, as the device says, and whether it is usable.
struct Port {
  std::string device;  ///< "mlx5_0"
  std::uint8_t number = 1;
  std::string unusable;  ///< why not, for people; empty when it is usable

  bool ethernet = false;  ///< RoCE or iWARP: peers are named by GIDs, not LIDs
  std::uint16_t lid = 0;
  ibv_mtu mtu = IBV_MTU_1024;  ///< active
  std::uint8_t gid_index = 0;
  ibv_gid gid = {};
  std::string gid_type;  ///< "RoCE v2", "RoCE v1", "IB"

  ibv_device_attr attributes = {};
  std::uint64_t max_message = 0;
};

/// What the user asks for.
struct PortChoice {
  std::string devices;           ///< "mlx5_0,mlx5_1:2"; empty takes every usable port
  std::optional<int> gid_index;  ///< in place of the choice made here
};

/// Every port of every device of this host, usable or not, devices by name. Those that `choice` leaves out
/// are unusable for that reason. RMA_ERR_SETTING when `choice` names a device or port that is not there.
/// @return no port where there is no RDMA device (or no driver for it).
[[nodiscard]] Result<std::vector<Port>> find_ports(const PortChoice& choice);

/// Opens the device of that name. RMA_ERR_SYSTEM.
[[nodiscard]] Result<Context> open_device(std::string_view name);

/// Bytes of a packet of that MTU.
[[nodiscard]] constexpr int mtu_bytes(ibv_mtu mtu) { return 128 << static_cast<int>(mtu); }

}  // namespace rma::transport
