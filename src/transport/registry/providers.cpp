#include <algorithm>
#include <array>

#include "transport/provider.hpp"
#include "transport/verbs/verbs_provider.hpp"

namespace rma::transport {

std::span<const Provider> providers() {
  static constexpr std::array kProviders = {Provider{"verbs", open_verbs}};
  return kProviders;
}

const Provider* find_provider(std::string_view name) {
  const auto all = providers();
  const auto found = std::ranges::find(all, name, &Provider::name);
  return found != all.end() ? &*found : nullptr;
}

}  // namespace rma::transport
