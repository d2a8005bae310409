// Assignments between this image's memory and that of others. A section that strides describe travels by one
// strided transfer, one with a vector subscript by one I/O vector.

#include "coarrays/transfers.hpp"

#include <array>
#include <cstring>
#include <memory>

#include "rma/rma.h"

namespace librma::coarrays {
namespace {

/// A strided layout as librma takes it, of a section here and one of another image. They have the same shape,
/// but for dimensions of one element.
struct Layout {
  int levels = 0;
  std::array<std::size_t, kMaxDimensions + 1> counts;
  std::array<std::ptrdiff_t, kMaxDimensions> here;
  std::array<std::ptrdiff_t, kMaxDimensions> there;

  Layout(const Section& local, const Section& remote) {
    counts[0] = remote.element_bytes();
    std::size_t level = 0;
    for (std::size_t d = 0; d < remote.dimensions(); ++d) {
      if (remote.extent(d) == 1) continue;
      there[level] = remote.stride(d);
      counts[++level] = remote.extent(d);
    }
    levels = static_cast<int>(level);
    level = 0;
    for (std::size_t d = 0; d < local.dimensions(); ++d) {
      if (local.extent(d) != 1) here[level++] = local.stride(d);
    }
  }
};

/// The elements of two sections as an I/O vector.
struct Segments {
  std::vector<std::byte*> dst;
  std::vector<std::byte*> src;
  rma_iov_t iov;

  Segments(const Section& to, const Section& from)
      : dst(to.elements()),
        src(from.elements()),
        iov{.dst = reinterpret_cast<void* const*>(dst.data()),
            .src = reinterpret_cast<const void* const*>(src.data()),
            .segments = dst.size(),
            .bytes = to.element_bytes()} {}
};

/// Copies elements within this process.
void copy_here(const Section& dst, const Section& src) {
  const auto to = dst.elements();
  const auto from = src.elements();
  for (std::size_t i = 0; i < to.size(); ++i) std::memmove(to[i], from[i], dst.element_bytes());
}

/// Takes the outcome of a transfer. A pointer component of this image may have a target that is memory of
/// this image alone.
rma_status_t or_copy_here(rma_status_t status, const Section& dst, const Section& src, int rank) {
  if (status != RMA_ERR_ADDRESS || rank != rma_rank()) return status;
  copy_here(dst, src);
  return RMA_SUCCESS;
}

/// These two copy elements as they are. The sections have the same number of elements, of the same size.
rma_status_t put_raw(const Section& dst, int rank, const Section& src) {
  if (!dst.strided()) {
    const Segments segments(dst, src);
    return or_copy_here(rma_put_vector(&segments.iov, 1, rank), dst, src, rank);
  }
  const Layout layout(src, dst);
  return or_copy_here(rma_put_strided(dst.first(), layout.there.data(), src.first(), layout.here.data(),
                                      layout.counts.data(), layout.levels, rank),
                      dst, src, rank);
}
rma_status_t get_raw(const Section& dst, const Section& src, int rank) {
  if (!src.strided()) {
    const Segments segments(dst, src);
    return or_copy_here(rma_get_vector(&segments.iov, 1, rank), dst, src, rank);
  }
  const Layout layout(dst, src);
  return or_copy_here(rma_get_strided(dst.first(), layout.here.data(), src.first(), layout.there.data(),
                                      layout.counts.data(), layout.levels, rank),
                      dst, src, rank);
}

/// Memory for the elements of a section, without gaps.
class Temporary {
 public:
  Temporary(const Section& shape, std::size_t element_bytes)
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(shape.count() * element_bytes)),
        section_(shape, bytes_.get(), element_bytes) {}
  [[nodiscard]] const Section& section() const { return section_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  Section section_;
};

/// Assigns within this process. A source of one element goes to all.
void assign(const Side& dst, const Side& src) {
  const Assign assign_element = assignment(dst.type, src.type);
  const auto to = dst.section.elements();
  const auto from = src.section.elements();
  for (std::size_t i = 0; i < to.size(); ++i)
    assign_element(to[i], dst.type, from[from.size() == 1 ? 0 : i], src.type);
}

bool same_elements(const Type& one, const Type& other) {
  return assignment(one, other) == assignment(one, one) && one.bytes == other.bytes;
}

}  // namespace

void put(const RemoteSide& dst, const Side& src, bool may_overlap, const Outcome& outcome) {
  const std::size_t count = dst.section.count();
  const bool broadcast = src.section.count() == 1 && count != 1;
  if (!broadcast && !may_overlap && same_elements(dst.type, src.type)) {
    outcome.report(put_raw(dst.section, dst.rank, src.section));
    return;
  }
  const Temporary temporary(dst.section, dst.type.bytes);
  assign({.section = temporary.section(), .type = dst.type}, src);
  outcome.report(put_raw(dst.section, dst.rank, temporary.section()));
}

void get(const Side& dst, const RemoteSide& src, bool may_overlap, const Outcome& outcome) {
  const bool broadcast = src.section.count() == 1 && dst.section.count() != 1;
  if (!broadcast && !may_overlap && same_elements(dst.type, src.type)) {
    outcome.report(get_raw(dst.section, src.section, src.rank));
    return;
  }
  const Temporary temporary(src.section, src.type.bytes);
  if (!outcome.report(get_raw(temporary.section(), src.section, src.rank))) return;
  assign(dst, {.section = temporary.section(), .type = src.type});
}

void copy(const RemoteSide& dst, const RemoteSide& src, const Outcome& dst_outcome,
          const Outcome& src_outcome) {
  const Temporary temporary(src.section, src.type.bytes);
  if (!src_outcome.report(get_raw(temporary.section(), src.section, src.rank))) return;
  put(dst, {.section = temporary.section(), .type = src.type}, false, dst_outcome);
}

}  // namespace librma::coarrays
