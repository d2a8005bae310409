// The members of a file agree once on locks and on collective calls, so that they ask each other less in each
// access.

#include "twosided_compat/files/sharing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/two_phase.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// What a member tells the others. For all of them counts the greatest value.
enum Fact : std::uint8_t {
  // Each of these may hold for a member. It holds for the file if it holds for some member.
  kHasGaps,         ///< its view is not contiguous
  kHasNoLocks,      ///< it would write in such a view, and its file system has no locks
  kHasSmallParts,   ///< parts of its view are small
  kSieves,          ///< it may write gaps
  kReadsTogether,   ///< its hints want aggregators for reads
  kWritesTogether,  ///< its hints want aggregators for writes
  // These hints are those of rank 0. The others tell 0.
  kAggregators,
  kBufferBytes,
  kUnit,
  kFactCount,
};
using Facts = std::array<std::int64_t, kFactCount>;

bool has_locks(const Storage& storage) {
  constexpr MPI_Offset kFirstByte = 1;
  return RangeLock(storage, RangeLock::Mode::kExclusive, 0, kFirstByte).code() == MPI_SUCCESS;
}

Facts facts_of(File& file, const FileView& view) {
  constexpr MPI_Count kLarge = std::max(kMostWithGap, kLargePartOnOneHost);
  const FileHints& hints = file.hints;
  const bool has_gaps = !view.is_contiguous();
  const bool has_small_parts = has_gaps && view.shortest_part() < kLarge;
  const bool sieves = has_gaps && hints.romio_ds_write != Switch::kDisable &&
                      (has_small_parts || hints.romio_ds_write == Switch::kEnable);
  Facts facts = {};
  facts[kHasGaps] = has_gaps ? 1 : 0;
  facts[kHasNoLocks] = has_gaps && file.storage().can_write() && !has_locks(file.storage()) ? 1 : 0;
  facts[kHasSmallParts] = has_small_parts ? 1 : 0;
  facts[kSieves] = sieves ? 1 : 0;
  facts[kReadsTogether] = hints.romio_cb_read == Switch::kEnable ? 1 : 0;
  facts[kWritesTogether] = hints.romio_cb_write == Switch::kEnable ? 1 : 0;
  if (file.comm().rank() != 0) return facts;
  facts[kAggregators] = hints.cb_nodes;
  facts[kBufferBytes] = static_cast<std::int64_t>(hints.cb_buffer_size);
  facts[kUnit] = static_cast<std::int64_t>(hints.striping_unit);
  return facts;
}

}  // namespace

int agree_on_sharing(File& file, const FileView& view) {
  const Facts mine = facts_of(file, view);
  Facts any = {};
  RMA_TRY(allreduce(mine.data(), any.data(), kFactCount, MPI_INT64_T, MPI_MAX, file.comm_handle()));
  file.hints.cb_nodes = static_cast<int>(any[kAggregators]);
  file.hints.cb_buffer_size = static_cast<std::size_t>(any[kBufferBytes]);
  file.hints.striping_unit = static_cast<std::size_t>(any[kUnit]);
  const bool on_one_host = file.is_on_one_host();
  const bool needs_locks = any[kSieves] != 0 || (any[kHasGaps] != 0 && !on_one_host);
  const bool exchanges_nothing = on_one_host && any[kHasSmallParts] == 0;
  const bool is_single = file.comm().size() == 1;
  constexpr auto kOrder = std::memory_order_relaxed;
  file.sharing.writes_lock.store(needs_locks && any[kHasNoLocks] == 0, kOrder);
  file.sharing.reads_alone.store(is_single || (exchanges_nothing && any[kReadsTogether] == 0), kOrder);
  file.sharing.writes_alone.store(is_single || (exchanges_nothing && any[kWritesTogether] == 0), kOrder);
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
