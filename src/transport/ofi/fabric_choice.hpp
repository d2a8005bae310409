#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/ofi/libfabric.hpp"
#include "util/status.hpp"

namespace librma::transport {

/// What a provider of libfabric demands and promises, as far as this transport depends on it.
struct FabricTraits {
  /// A peer's memory is named by its offset in the registration. This process chooses the keys, and a key
  /// contains the address at which its registration begins, so it names the offset too.
  bool offsets = false;
  bool provider_keys = false;  ///< the provider chooses the keys
  bool local_keys = false;     ///< local memory has to be registered
  bool bound_regions = false;  ///< a registration is bound to the endpoint
  bool ordered = false;        ///< writes, reads and sends to a peer take effect in the order of posting
  std::size_t inline_bytes = 0;
  std::size_t gather = 1;
  std::uint64_t max_message = 0;

  /// Reads the attributes. RMA_ERR_UNSUPPORTED says which one this transport cannot live with.
  [[nodiscard]] static Result<FabricTraits> of(const fi_info& info);
};

struct InfoFreer {
  void operator()(fi_info* info) const;
};
using FabricInfo = std::unique_ptr<fi_info, InfoFreer>;

/// A network interface as one provider offers it.
struct FabricCandidate {
  std::string provider;
  std::string device;  ///< the name of the interface or device: eth0, cxi0
  std::string fabric;  ///< the provider's name of the network, as 10.0.0.0/24
  FabricInfo info;
  FabricTraits traits;
  std::string unusable;  ///< why it is not used; empty: it is
};

struct FabricChoice {
  std::string providers;  ///< the names of providers, the best first, with commas between them
  std::string devices;    ///< the interfaces to use, with commas between them; empty: the best
};

/// Returns the interfaces that libfabric knows, the best first. Those of the first provider with a usable
/// interface are used. RMA_ERR_UNSUPPORTED if there is no libfabric.
[[nodiscard]] Result<std::vector<FabricCandidate>> find_fabrics(const FabricChoice& choice);

/// Decides which candidates are used; the first part of find_fabrics() finds them. `default_interface` is the
/// one that reaches other networks, if there is one.
void choose_fabrics(std::vector<FabricCandidate>& candidates, std::string_view devices,
                    std::string_view default_interface);

}  // namespace librma::transport
