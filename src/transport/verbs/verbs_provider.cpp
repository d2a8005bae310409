#include "transport/verbs/verbs_provider.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "transport/verbs/ports.hpp"
#include "transport/verbs/verbs_transport.hpp"
#include "transport/wireup/secret.hpp"
#include "util/log.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

Status no_port(const std::vector<Port>& ports) {
  std::string text =
      "this job spans several hosts, and this one has no usable RDMA device (see rma-info --devices)";
  for (const Port& port : ports) {
    text += fmt::format("; {} port {}: {}", port.device, port.number, port.unusable);
  }
  return {RMA_ERR_UNSUPPORTED, text};
}

}  // namespace

Result<std::vector<std::unique_ptr<Transport>>> open_verbs(const ProviderOptions& options,
                                                           ServiceThread& service) {
  RMA_TRY_ASSIGN(ports, find_ports({.devices = options.devices, .gid_index = options.gid_index}));
  RMA_TRY_ASSIGN(secret, make_secret());
  const auto usable = static_cast<std::size_t>(
      std::count_if(ports.begin(), ports.end(), [](const Port& port) { return port.unusable.empty(); }));
  const std::size_t count = std::clamp<std::size_t>(usable, 1, options.most);
  const VerbsOptions verbs = {.rank = options.rank,
                              .ranks = options.ranks,
                              .secret = secret,
                              .queue_depth = options.queue_depth,
                              .completions = options.completions,
                              .buffers = options.buffers,
                              .timeout = options.timeout,
                              // The rails are tried in turn, so a rank that answers on none counts as lost
                              // after the whole timeout.
                              .connect_timeout = options.timeout / count};
  std::vector<std::unique_ptr<Transport>> opened;
  for (const Port& port : ports) {
    if (!port.unusable.empty()) continue;
    if (opened.size() == options.most) {
      log(LogLevel::info, "{} port {} is not used: {} rails are the most", port.device, port.number,
          options.most);
      continue;
    }
    RMA_TRY_ASSIGN(transport, VerbsTransport::open(port, verbs, service));
    log(LogLevel::debug, "rail {}: {} port {}, {} index {}, MTU {}", opened.size(), port.device, port.number,
        port.gid_type, port.gid_index, mtu_bytes(port.mtu));
    opened.push_back(std::move(transport));
  }
  if (opened.empty()) return no_port(ports);
  return opened;
}

}  // namespace librma::transport
