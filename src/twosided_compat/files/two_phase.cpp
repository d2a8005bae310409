// Collective accesses: whether the members access the file together, and how they divide it.
//
// Together they do it in two phases. Some members, the aggregators, have a range of the file each. In one
// phase the members and the aggregators exchange data, in the other the aggregators access the file.

#include "twosided_compat/files/two_phase.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/exchange.hpp"
#include "twosided_compat/files/file.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

AccessExtent extent_of(const File& file, const FileAccess& access) {
  const FileView& view = access.view();
  const bool writes = access.direction() == FileDirection::kWrite;
  AccessExtent extent;
  extent.wish = static_cast<std::int32_t>(writes ? file.hints.romio_cb_write : file.hints.romio_cb_read);
  const PiecePolicy policy = file.policy(access.direction());
  if (policy.sieve != Switch::kDisable) extent.sieved = static_cast<std::int32_t>(policy.most_with_gap);
  if (access.bytes() == 0 || !view.has_data()) return extent;
  extent.begin = view.offset_of(access.position);
  extent.end = view.offset_of(access.end() - 1) + 1;
  extent.bytes = access.bytes();
  extent.parts = view.parts_of(access.bytes());
  extent.ascending = view.is_ascending() ? 1 : 0;
  return extent;
}

/// Returns whether ranges overlap. Sorts them.
bool interleave(std::span<AccessExtent> all) {
  std::ranges::sort(all, {}, &AccessExtent::begin);
  MPI_Offset end = 0;
  for (const AccessExtent& extent : all) {
    if (extent.bytes == 0) continue;
    if (extent.begin < end) return true;
    end = extent.end;
  }
  return false;
}

/// Returns whether each member of one host reads its parts faster together with the gaps between them, which
/// others read again, than it gets them from an aggregator. The system copies a gap from its cache in the
/// time in which an aggregator takes a part of a list in and sends its data.
bool reads_gaps_faster(std::span<const AccessExtent> all) {
  // Measured with 2 to 8 members on 2 processors: gaps of 1 KiB took less time than the exchange, or as much,
  // and gaps of 3 KiB took 1.6 times as much.
  constexpr MPI_Count kMostGap = 1024;
  const auto sieved = std::ranges::min(all, {}, &AccessExtent::sieved).sieved;
  return std::ranges::all_of(all, [&](const AccessExtent& extent) {
    const MPI_Offset range = extent.end - extent.begin;
    return extent.bytes == 0 ||
           (range / extent.parts <= sieved && (range - extent.bytes) / extent.parts <= kMostGap);
  });
}

/// Returns whether the members access the file together. All decide the same. It allocates nothing, here and
/// in divide(), because a member that could not decide would leave the others alone.
bool is_together(const File& file, FileDirection direction, std::span<AccessExtent> all) {
  MPI_Count bytes = 0;
  MPI_Count parts = 0;
  bool all_wish = true;
  for (const AccessExtent& extent : all) {
    if (extent.ascending == 0 || extent.wish == static_cast<std::int32_t>(Switch::kDisable)) return false;
    all_wish = all_wish && extent.wish == static_cast<std::int32_t>(Switch::kEnable);
    bytes += extent.bytes;
    parts += extent.parts;
  }
  if (bytes == 0) return false;
  if (all_wish) return true;
  const bool on_one_host = file.is_on_one_host();
  if (on_one_host && direction == FileDirection::kRead && reads_gaps_faster(all)) return false;
  return bytes / parts < (on_one_host ? kLargePartOnOneHost : kLargePart) && interleave(all);
}

MPI_Offset rounded_up(MPI_Offset value, MPI_Offset unit) { return (value + unit - 1) / unit * unit; }

/// Divides the range of all accesses among the aggregators. Returns false if the accesses are too sparse
/// for it.
bool divide(const File& file, std::span<const AccessExtent> all, Division& division) {
  constexpr MPI_Offset kPage = 4096;
  MPI_Offset begin = 0;
  bool is_first = true;
  MPI_Count bytes = 0;
  for (const AccessExtent& extent : all) {
    if (extent.bytes == 0) continue;
    begin = is_first ? extent.begin : std::min(begin, extent.begin);
    division.end = std::max(division.end, extent.end);
    bytes += extent.bytes;
    is_first = false;
  }
  const auto count = static_cast<MPI_Offset>(file.aggregator_count());
  const auto unit = std::max(kPage, static_cast<MPI_Offset>(file.hints.striping_unit));
  division.begin = begin / unit * unit;
  division.part = rounded_up((division.end - division.begin - 1) / count + 1, unit);
  division.window = static_cast<MPI_Offset>(file.hints.cb_buffer_size);
  division.rounds = (division.part - 1) / division.window + 1;
  // The rounds that data without gaps would need. Far apart from each other, data need no exchange.
  constexpr MPI_Offset kSparse = 64;
  return division.rounds <= kSparse * (bytes / (count * division.window) + 1);
}

/// Makes the exchange, or fails on all members: those that have no memory for it take part in none.
int make_exchange(File& file, const FileAccess& access, Division& division,
                  std::optional<FileExchange>& made) {
  return agree(file.comm(), code_of([&] {
                 division.aggregators = file.aggregators();
                 made.emplace(file, access, division);
                 return MPI_SUCCESS;
               }));
}

/// Moves the data when all members have told their extents.
Outcome transfer_by_extents(File& file, const FileAccess& access) {
  Division division;
  if (!is_together(file, access.direction(), file.extents) || !divide(file, file.extents, division))
    return transfer(file, access);
  std::optional<FileExchange> exchange;
  if (const int made = make_exchange(file, access, division, exchange); made != MPI_SUCCESS)
    return {.code = made};
  const Outcome outcome = exchange->run();
  // A member that has no place for its data fails alone.
  return outcome.code == MPI_SUCCESS && !access.view().has_data() ? transfer(file, access) : outcome;
}

}  // namespace

int share_extents(File& file, AccessExtent mine, int failed) {
  // Memory may be there for the next try, which takes all members. Any other failure is one of this member's
  // own arguments or data, and the others have theirs.
  if (failed == MPI_ERR_NO_MEM) mine.code = failed;
  std::span<AccessExtent> all = file.extents;
  RMA_TRY(allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, file.comm_handle()));
  const auto first =
      std::ranges::find_if(all, [](const AccessExtent& extent) { return extent.code != MPI_SUCCESS; });
  if (first == all.end()) return MPI_SUCCESS;
  return failure_of_rank(file.comm(), static_cast<int>(first - all.begin()), first->code);
}

Outcome transfer_together(File& file, const FileAccess& access, int failed) {
  const bool alone = file.moves_alone(access.direction()) || file.atomic.load(std::memory_order_relaxed);
  if (!alone) {
    if (const int shared = share_extents(file, extent_of(file, access), failed); shared != MPI_SUCCESS)
      return {.code = shared};
  }
  const Outcome outcome = alone ? transfer(file, access) : transfer_by_extents(file, access);
  return failed == MPI_SUCCESS ? outcome : Outcome{.code = failed};
}

}  // namespace librma::mpi
