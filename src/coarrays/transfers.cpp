// Assignments between this image's memory and that of others. A section that strides describe travels by one
// strided transfer, one with a vector subscript by one I/O vector.

#include "coarrays/transfers.hpp"

#include <array>
#include <memory>

#include "rma/rma.h"

namespace librma::coarrays {
namespace {

/// A strided layout as librma takes it, of two sections of one shape.
struct Layout {
  std::array<std::size_t, kMaxDimensions + 1> counts;
  std::array<std::ptrdiff_t, kMaxDimensions> near;
  std::array<std::ptrdiff_t, kMaxDimensions> far;

  Layout(const Section& local, const Section& remote) {
    counts[0] = remote.element_bytes();
    for (std::size_t d = 0; d < remote.dimensions(); ++d) {
      counts[d + 1] = remote.extent(d);
      near[d] = local.stride(d);
      far[d] = remote.stride(d);
    }
  }
};

/// Sections with elements of equal size and number. Copies them as they are.
rma_status_t put_raw(const Section& dst, int rank, const Section& src) {
  if (dst.strided() && src.strided() && dst.dimensions() == src.dimensions()) {
    const Layout layout(src, dst);
    return rma_put_strided(dst.first(), layout.far.data(), src.first(), layout.near.data(),
                           layout.counts.data(), static_cast<int>(dst.dimensions()), rank);
  }
  const auto to = dst.elements();
  const auto from = src.elements();
  const rma_iov_t iov = {.dst = reinterpret_cast<void* const*>(to.data()),
                         .src = reinterpret_cast<const void* const*>(from.data()),
                         .segments = to.size(),
                         .bytes = dst.element_bytes()};
  return rma_put_vector(&iov, 1, rank);
}

rma_status_t get_raw(const Section& dst, const Section& src, int rank) {
  if (dst.strided() && src.strided() && dst.dimensions() == src.dimensions()) {
    const Layout layout(dst, src);
    return rma_get_strided(dst.first(), layout.near.data(), src.first(), layout.far.data(),
                           layout.counts.data(), static_cast<int>(src.dimensions()), rank);
  }
  const auto to = dst.elements();
  const auto from = src.elements();
  const rma_iov_t iov = {.dst = reinterpret_cast<void* const*>(to.data()),
                         .src = reinterpret_cast<const void* const*>(from.data()),
                         .segments = to.size(),
                         .bytes = src.element_bytes()};
  return rma_get_vector(&iov, 1, rank);
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
