#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "core/job/job.hpp"
#include "core/network/network.hpp"
#include "core/one_sided/layout.hpp"
#include "core/one_sided/operation.hpp"
#include "core/one_sided/remote_access.hpp"
#include "helper_thread/rpc_client.hpp"
#include "strided/host_assisted.hpp"
#include "strided/shape.hpp"
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

/// The objects that carry noncontiguous transfers.
struct TransferPaths {
  Job& job;
  RemoteAccess& remote_access;
  Noncontiguous* noncontiguous;  ///< null if there is no helper; then transfers to other hosts go by segments
};

/// Executes a put or get of segments that are not all mapped here. `theirs` says which it is. `together` says
/// whether the protocols for noncontiguous transfers may carry it; then `layout(side)` returns the layout of
/// a side. Else `each(move)` calls move(dst, src, bytes) for each segment until one call fails.
template <typename LayoutOf, typename Each>
Status transfer_segments(const TransferPaths& paths, Side theirs, int rank, bool together,
                         const LayoutOf& layout, const Each& each, const Ending& ending) {
  Operation operation(paths.job, paths.remote_access, rank);
  const auto by_segments = [&] {
    return each([&](void* dst, const void* src, std::size_t bytes) {
      return theirs == Side::dst ? operation.put(dst, src, bytes) : operation.get(dst, src, bytes);
    });
  };
  const Side ours = theirs == Side::dst ? Side::src : Side::dst;
  Status moved =
      together && paths.noncontiguous != nullptr
          ? paths.noncontiguous->move(
                {.direction = theirs == Side::dst ? transport::Direction::write : transport::Direction::read,
                 .rank = rank,
                 .remote = layout(theirs),
                 .local = layout(ours)},
                operation, by_segments)
          : by_segments();
  if (!moved.ok()) return moved;
  return operation.end(ending);
}

}  // namespace rma
