#include "transport/ofi/ofi_provider.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "transport/ofi/fabric_choice.hpp"
#include "transport/ofi/ofi_transport.hpp"
#include "transport/wireup/secret.hpp"
#include "util/log.hpp"
#include "util/try_assign.hpp"

namespace rma::transport {
namespace {

Status no_fabric(const std::vector<FabricCandidate>& candidates, const std::string& providers) {
  std::string text = fmt::format(
      "libfabric has no usable interface of the providers {} (see rma-info --devices)", providers);
  for (const FabricCandidate& one : candidates) {
    text += fmt::format("; {} on {}: {}", one.provider, one.device, one.unusable);
  }
  return {RMA_ERR_UNSUPPORTED, text};
}

}  // namespace

Result<std::vector<std::unique_ptr<Transport>>> open_ofi(const ProviderOptions& options,
                                                         ServiceThread& service) {
  RMA_TRY_ASSIGN(candidates,
                 find_fabrics({.providers = options.fabric_providers, .devices = options.devices}));
  RMA_TRY_ASSIGN(secret, make_secret());
  const auto usable = static_cast<std::size_t>(std::count_if(
      candidates.begin(), candidates.end(), [](const FabricCandidate& one) { return one.unusable.empty(); }));
  const OfiOptions ofi = {
      .rank = options.rank,
      .ranks = options.ranks,
      .secret = secret,
      .queue_depth = options.queue_depth,
      .completions = options.completions,
      .timeout = options.timeout,
      // The rails are tried in turn, so a rank that answers on none counts as lost after
      // the whole timeout.
      .connect_timeout = options.timeout / std::clamp<std::size_t>(usable, 1, options.most)};
  std::vector<std::unique_ptr<Transport>> opened;
  for (const FabricCandidate& one : candidates) {
    if (!one.unusable.empty() || opened.size() == options.most) continue;
    RMA_TRY_ASSIGN(transport, OfiTransport::open(one, ofi, service));
    log(LogLevel::debug, fmt::format("rail {}: libfabric's {} on {} ({})", opened.size(), one.provider,
                                     one.device, one.fabric));
    opened.push_back(std::move(transport));
  }
  if (opened.empty()) return no_fabric(candidates, options.fabric_providers);
  return opened;
}

}  // namespace rma::transport
