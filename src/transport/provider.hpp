#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/service_thread.hpp"
#include "transport/transport.hpp"

namespace rma::transport {

/// What the devices of a job's network are opened with.
struct ProviderOptions {
  int rank = 0;
  int ranks = 1;
  std::size_t most = 1;                  ///< devices to open at most
  std::string devices;                   ///< those that the user names; empty: every usable one
  std::optional<int> gid_index;          ///< the address of a port, where a port has several
  std::uint32_t queue_depth = 0;         ///< operations to one peer that may be posted and not yet polled
  std::uint32_t completions = 0;         ///< the same for all peers together
  std::uint32_t buffers = 0;             ///< for messages, that may be posted at the same time
  std::chrono::milliseconds timeout{0};  ///< a peer that is silent for so long is lost
};

/// A kind of network, by the name that RMA_NETWORK has for it. A new one is an entry in providers.cpp and a
/// word of the setting.
struct Provider {
  std::string_view name;
  /// Opens the usable devices of this host. `service`, which is not started yet, will call what answers peers
  /// that connect; it must stop before the devices end. RMA_ERR_UNSUPPORTED when there is no usable device,
  /// RMA_ERR_SETTING, RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  Result<std::vector<std::unique_ptr<Transport>>> (*open)(const ProviderOptions& options,
                                                          ServiceThread& service);
};

/// All of them; the first is that of RMA_NETWORK=auto.
[[nodiscard]] std::span<const Provider> providers();
/// Null when there is none of that name.
[[nodiscard]] const Provider* find_provider(std::string_view name);

}  // namespace rma::transport
