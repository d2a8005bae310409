#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "core/job/job.hpp"
#include "core/network/network.hpp"
#include "core/one_sided/operation.hpp"
#include "helper_thread/layout.hpp"
#include "helper_thread/rpc_client.hpp"
#include "strided/host_assisted.hpp"
#include "transport/transport.hpp"
#include "util/settings.hpp"

namespace rma {

/// Noncontiguous transfers to and from ranks that are not mapped here, by one of several protocols.
class Noncontiguous {
 public:
  /// Registers handlers with `channel`. The arguments outlive this. Packed transfers use the requests that
  /// RemoteCopy serves.
  Noncontiguous(const Job& job, PendingOperations& pending, Network& network, Channel& channel,
                RpcClient& client);

  struct Transfer {
    transport::Direction direction = transport::Direction::write;  ///< write: a put
    int rank = -1;
    std::shared_ptr<const Layout> remote;  ///< not empty
    std::shared_ptr<const Layout> local;   ///< with the same sizes of segments
  };
  /// Executes a transfer as a part of `operation`, which it does not end. RMA_NONCONTIGUOUS, or the layout,
  /// decides the protocol. `by_segments` executes it by one contiguous transfer per segment.
  [[nodiscard]] Status move(const Transfer& transfer, Operation& operation,
                            const std::function<Status()>& by_segments);

 private:
  [[nodiscard]] ProtocolSetting choose(const Transfer& transfer);
  [[nodiscard]] bool registered(const Transfer& transfer);

  const Settings& settings_;
  PendingOperations& pending_;
  Network& network_;
  RpcClient& client_;
  HostAssisted host_assisted_;
};

}  // namespace rma
