#include <algorithm>
#include <array>

#include "transport/provider.hpp"
#ifdef RMA_HAS_OFI
#include "transport/ofi/ofi_provider.hpp"
#endif
#include "transport/verbs/verbs_provider.hpp"

namespace librma::transport {

std::span<const Provider> providers() {
  static constexpr std::array kProviders = {
      Provider{"verbs", open_verbs},
#ifdef RMA_HAS_OFI
      Provider{"ofi", open_ofi},
#endif
  };
  return kProviders;
}

const Provider* find_provider(std::string_view name) {
  const auto all = providers();
  const auto found = std::ranges::find(all, name, &Provider::name);
  return found != all.end() ? &*found : nullptr;
}

}  // namespace librma::transport
