#pragma once

#include "core/job/job.hpp"
#include "core/one_sided/operation.hpp"
#include "core/one_sided/remote_access.hpp"
#include "strided/noncontiguous.hpp"
#include "strided/shape.hpp"

namespace rma {

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
