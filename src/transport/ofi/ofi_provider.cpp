#include "transport/ofi/ofi_provider.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "transport/ofi/fabric_choice.hpp"
#include "transport/ofi/ofi_transport.hpp"
#include "transport/wireup/secret.hpp"
#include "util/log.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

using Transports = std::vector<std::unique_ptr<Transport>>;

/// The reasons why an interface is not used, for the text of a failure.
std::string reasons_of(const std::vector<FabricCandidate>& candidates) {
  std::string text;
  for (const FabricCandidate& candidate : candidates) {
    text += fmt::format("; {} on {}: {}", candidate.provider, candidate.device, candidate.unusable);
  }
  return text;
}

/// Opens the candidates that are to be used. One that cannot be opened is unusable from then on.
Transports open_all(std::vector<FabricCandidate>& candidates, const OfiOptions& ofi, std::size_t most,
                    ServiceThread& service) {
  Transports opened;
  for (FabricCandidate& candidate : candidates) {
    if (!candidate.unusable.empty() || opened.size() == most) continue;
    auto transport = OfiTransport::open(candidate, ofi, service);
    if (transport.ok()) {
      log(LogLevel::debug, "rail {}: libfabric's {} on {} ({})", opened.size(), candidate.provider,
          candidate.device, candidate.fabric);
      opened.push_back(std::move(transport).value());
    } else {
      candidate.unusable = std::string(transport.status().text());
      log(LogLevel::info, candidate.unusable);
    }
  }
  return opened;
}

/// Returns the list without its first words, up to that of `provider`.
std::string after(std::string_view providers, const std::string& provider) {
  while (!providers.empty()) {
    const std::string_view word = providers.substr(0, providers.find(','));
    providers.remove_prefix(std::min(providers.size(), word.size() + 1));
    if (word == provider) break;
  }
  return std::string(providers);
}

}  // namespace

Result<Transports> open_ofi(const ProviderOptions& options, ServiceThread& service) {
  RMA_TRY_ASSIGN(secret, make_secret());
  std::string providers = options.fabric_providers;
  std::string reasons;
  while (!providers.empty()) {
    RMA_TRY_ASSIGN(candidates, find_fabrics({.providers = providers, .devices = options.devices}));
    const auto used = [](const FabricCandidate& candidate) { return candidate.unusable.empty(); };
    const auto first = std::ranges::find_if(candidates, used);
    const std::string provider = first != candidates.end() ? first->provider : std::string();
    const auto usable = static_cast<std::size_t>(std::ranges::count_if(candidates, used));
    const OfiOptions ofi = {
        .rank = options.rank,
        .ranks = options.ranks,
        .secret = secret,
        .queue_depth = options.queue_depth,
        .completions = options.completions,
        .timeout = options.timeout,
        // The rails are tried in turn, so a rank that answers on none counts as lost after the whole timeout.
        .connect_timeout = options.timeout / std::clamp<std::size_t>(usable, 1, options.most)};
    Transports opened = open_all(candidates, ofi, options.most, service);
    if (!opened.empty()) return opened;
    reasons += reasons_of(candidates);
    providers = provider.empty() ? std::string() : after(providers, provider);
  }
  return Status(
      RMA_ERR_UNSUPPORTED,
      fmt::format("libfabric has no usable interface of the providers {} (see rma-info --devices){}",
                  options.fabric_providers, reasons));
}

}  // namespace librma::transport
