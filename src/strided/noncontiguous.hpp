#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

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
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {

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

/// The segments of a transfer, for the choice of its path.
struct Segments {
  std::size_t count = 0;
  std::size_t bytes = 0;  ///< of all of them
  /// All of the rank's side lies in memory of the program, not of a heap, and each segment in one region.
  bool foreign = false;
};

/// Returns whether the helper of `rank`, which is on this host, is to copy the segments.
[[nodiscard]] bool helper_copies(const TransferPaths& paths, int rank, const Segments& segments);

/// Executes a put or get of segments that are not all mapped here. `theirs` says which it is. If the
/// protocols for noncontiguous transfers or the helper are to carry it, `layout(side)` returns the layout of
/// a side. Else `each(move)` calls move(dst, src, bytes) for each segment until one call fails.
template <typename LayoutOf, typename Each>
Status transfer_segments(const TransferPaths& paths, Side theirs, int rank, const Segments& segments,
                         const LayoutOf& layout, const Each& each, const Ending& ending) {
  Operation operation(paths.job, paths.remote_access, rank);
  const Side ours = theirs == Side::dst ? Side::src : Side::dst;
  const auto direction = theirs == Side::dst ? transport::Direction::write : transport::Direction::read;
  if (helper_copies(paths, rank, segments)) {
    RMA_TRY_ASSIGN(started, operation.host_operation());
    RMA_TRY(
        paths.remote_access.copy_fallback()->move(direction, rank, layout(theirs), layout(ours), started));
    return operation.end(ending);
  }
  const auto by_segments = [&] {
    return each([&](void* dst, const void* src, std::size_t bytes) {
      return theirs == Side::dst ? operation.put(dst, src, bytes) : operation.get(dst, src, bytes);
    });
  };
  const bool together = !paths.job.mapped(rank) && segments.count > 1 && paths.noncontiguous != nullptr;
  RMA_TRY(together
              ? paths.noncontiguous->move(
                    {.direction = direction, .rank = rank, .remote = layout(theirs), .local = layout(ours)},
                    operation, by_segments)
              : by_segments());
  return operation.end(ending);
}

}  // namespace librma
