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

namespace librma::transport {

/// The options for opening the devices of a job's network.
struct ProviderOptions {
  int rank = 0;
  int ranks = 1;
  std::size_t most = 1;           ///< the maximum number of devices to open
  std::string devices;            ///< the devices that the user names; empty: every usable device
  std::string fabric_providers;   ///< the providers of libfabric to use, the best first, with commas
  std::optional<int> gid_index;   ///< the index of the address (GID) to use, if a port has several
  std::uint32_t queue_depth = 0;  ///< most operations to one peer that may be posted and not yet polled
  std::uint32_t completions = 0;  ///< the same for all peers together
  std::uint32_t buffers = 0;      ///< most message buffers that may be posted at the same time
  std::chrono::milliseconds timeout{0};  ///< a peer that does not answer for this long counts as lost
};

/// A kind of network, under the name that RMA_NETWORK has for it. To add a kind, add an entry to
/// registry/providers.cpp and a word to the setting.
struct Provider {
  std::string_view name;
  /// Opens the usable devices of this host. The devices register handlers with `service`, which answer peers
  /// that connect. The caller starts it later and stops it before it destroys the devices.
  /// RMA_ERR_UNSUPPORTED if there is no usable device, RMA_ERR_SETTING, RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  Result<std::vector<std::unique_ptr<Transport>>> (*open)(const ProviderOptions& options,
                                                          ServiceThread& service);
};

/// Returns all providers. RMA_NETWORK=auto takes the first that has a usable device.
[[nodiscard]] std::span<const Provider> providers();
/// Returns null if no provider has that name.
[[nodiscard]] const Provider* find_provider(std::string_view name);

}  // namespace librma::transport
