// Coindexed objects whose elements a descriptor on each side describes: get, send and sendget.

#include <cstring>

#include "coarrays/entry_points.hpp"
#include "coarrays/memory.hpp"
#include "coarrays/transfers.hpp"

namespace librma::coarrays {
namespace {

std::size_t count_of(const Descriptor& array) {
  std::size_t count = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.rank); ++d) count *= extent_of(array.dim[d]);
  return count;
}

/// A coarray's section as the compiler describes it.
struct Coindexed {
  const Coarray& coarray;
  std::size_t offset;
  int image;
  const Descriptor& array;
  const Subscripts* subscripts;
  int kind;
};

/// Returns where the scalar is mapped if both sides are scalars of one type, else null.
inline std::byte* mapped_scalar(const Coindexed& object, int rank, const Descriptor& local, int local_kind) {
  const bool scalars = object.array.rank == 0 && local.rank == 0 && object.subscripts == nullptr;
  const bool same = object.array.element_bytes == local.element_bytes && object.array.type == local.type &&
                    object.kind == local_kind;
  return scalars && same ? mapped(object.coarray, object.offset, rank) : nullptr;
}

/// Copies a scalar. Those of 4 and 8 bytes are moved as a whole.
inline void copy_scalar(std::byte* dst, const std::byte* src, std::size_t bytes) {
  switch (bytes) {
    case 4:
      std::memcpy(dst, src, 4);
      break;
    case 8:
      std::memcpy(dst, src, 8);
      break;
    default:
      std::memmove(dst, src, bytes);
  }
}

RemoteSide remote_side(const Coindexed& object, int rank) {
  std::byte* const first = owners_address(object.coarray, object.offset, rank);
  return {.section = object.subscripts != nullptr ? Section(object.array, first, object.subscripts)
                                                  : Section(object.array, first),
          .type = type_of(object.array, object.kind),
          .rank = rank};
}

}  // namespace

void caf_send(const Coarray* token, std::size_t offset, int image, const Descriptor* dst,
              const Subscripts* subscripts, const Descriptor* src, int dst_kind, int src_kind,
              bool may_overlap, int* stat, Team** /*team*/) {
  const Outcome outcome{.stat = stat};
  const Coindexed object{*token, offset, image, *dst, subscripts, dst_kind};
  const int rank = rank_of(image);
  if (rank < 0) return refuse_image(outcome, image);
  if (std::byte* const here = mapped_scalar(object, rank, *src, src_kind); here != nullptr) [[likely]] {
    // Nobody sleeps until a coarray's data change: the statements that wait have words of their own.
    copy_scalar(here, src->data, src->element_bytes);
    return outcome.succeed();
  }
  if (count_of(*src) == 0) return outcome.succeed();
  put(remote_side(object, rank), {.section = Section(*src), .type = type_of(*src, src_kind)},
      may_overlap && rank == my_rank(), outcome);
}

void caf_get(const Coarray* token, std::size_t offset, int image, const Descriptor* src,
             const Subscripts* subscripts, Descriptor* dst, int src_kind, int dst_kind, bool may_overlap,
             int* stat) {
  const Outcome outcome{.stat = stat};
  const Coindexed object{*token, offset, image, *src, subscripts, src_kind};
  const int rank = rank_of(image);
  if (rank < 0) return refuse_image(outcome, image);
  if (const std::byte* const here = mapped_scalar(object, rank, *dst, dst_kind); here != nullptr) [[likely]] {
    copy_scalar(dst->data, here, dst->element_bytes);
    return outcome.succeed();
  }
  if (count_of(*dst) == 0) return outcome.succeed();
  get({.section = Section(*dst), .type = type_of(*dst, dst_kind)}, remote_side(object, rank),
      may_overlap && rank == my_rank(), outcome);
}

void caf_sendget(const Coarray* dst_token, std::size_t dst_offset, int dst_image, const Descriptor* dst,
                 const Subscripts* dst_subscripts, const Coarray* src_token, std::size_t src_offset,
                 int src_image, const Descriptor* src, const Subscripts* src_subscripts, int dst_kind,
                 int src_kind, bool /*may_overlap*/, int* stat) {
  const Outcome outcome{.stat = stat};
  const int to = rank_of(dst_image);
  if (to < 0) return refuse_image(outcome, dst_image);
  const int from = rank_of(src_image);
  if (from < 0) return refuse_image(outcome, src_image);
  const RemoteSide target =
      remote_side({*dst_token, dst_offset, dst_image, *dst, dst_subscripts, dst_kind}, to);
  if (target.section.count() == 0) return outcome.succeed();
  copy(target, remote_side({*src_token, src_offset, src_image, *src, src_subscripts, src_kind}, from),
       outcome, outcome);
}

}  // namespace librma::coarrays
