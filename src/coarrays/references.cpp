// Coindexed objects that a list of references describes, because an allocatable component or a pointer is on
// the way to them: get_by_ref, send_by_ref, sendget_by_ref and is_present. Descriptors and pointers on the
// way are read from the image that has them.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "coarrays/entry_points.hpp"
#include "coarrays/memory.hpp"
#include "coarrays/transfers.hpp"

namespace librma::coarrays {
namespace {

/// What a list of references leads to on one image.
struct Found {
  RemoteSide side;
  bool present = true;          ///< false: a component on the way is not allocated, or is null
  std::byte* absent = nullptr;  ///< that component's descriptor, or pointer to a scalar, if it is the last
  std::byte* absent_token = nullptr;  ///< where its token is
  rma_status_t status = RMA_SUCCESS;  ///< of reading what is on the way
};

/// Follows a list of references on one image.
class Walk {
 public:
  Walk(const Coarray& coarray, int rank, Type type)
      : found_{.side = {.section = Section(owners_address(coarray, 0, rank), coarray.bytes),
                        .type = type,
                        .rank = rank}} {
    if (coarray.shape == nullptr) return;
    std::memcpy(&shape_, coarray.shape, offsetof(Descriptor, dim));
    std::copy_n(coarray.shape->dim.begin(), shape_.rank, shape_.dim.begin());
  }

  Found follow(const Reference* reference) && {
    for (; reference != nullptr && found_.present && found_.status == RMA_SUCCESS;
         reference = reference->next) {
      if (reference->type == Reference::kComponent) {
        component(*reference);
      } else {
        array(*reference);
      }
      found_.side.section.set_element_bytes(reference->item_bytes);
    }
    found_.side.type.bytes = found_.side.section.element_bytes();
    return std::move(found_);
  }

 private:
  /// Reads memory of the image. This image may read what others may not: the targets of its own pointers.
  void read(void* into, const std::byte* from, std::size_t bytes) {
    if (found_.status != RMA_SUCCESS) return;
    if (found_.side.rank == rma_rank()) {
      std::memcpy(into, from, bytes);
    } else {
      found_.status = rma_get(into, from, bytes, found_.side.rank);
    }
  }

  /// Goes to a component, and if that is allocatable or a pointer, to what it refers to.
  void component(const Reference& reference) {
    Section& section = found_.side.section;
    std::byte* const object = section.first();
    section.shift(reference.component.offset);
    if (reference.component.token_offset == 0) return;
    // Fortran allows no array in front of such a component, so there is one, at the section's first element.
    std::byte* const at = section.first();
    std::byte* target = nullptr;
    const bool is_array = reference.next != nullptr && reference.next->type == Reference::kArray;
    if (is_array) {
      read(&shape_, at, offsetof(Descriptor, dim));
      const auto rank = static_cast<std::size_t>(shape_.rank);
      if (found_.status == RMA_SUCCESS && rank <= kMaxDimensions)
        read(shape_.dim.data(), at + offsetof(Descriptor, dim), rank * sizeof(Dimension));
      target = shape_.data;
    } else {
      read(&target, at, sizeof target);
    }
    found_.present = found_.status == RMA_SUCCESS && target != nullptr;
    if (!found_.present && (is_array ? reference.next->next : reference.next) == nullptr) {
      found_.absent = at;
      found_.absent_token = object + reference.component.token_offset;
    }
    if (found_.present) section.shift(target - at);
  }

  void array(const Reference& reference) {
    for (std::size_t d = 0; d < kMaxDimensions && reference.array.mode[d] != Reference::kEnd; ++d) {
      if (reference.type == Reference::kArray) {
        subscript_described(reference, d);
      } else {
        subscript_static(reference, d);
      }
    }
  }

  /// The bounds that are given are distances in elements already.
  void subscript_static(const Reference& reference, std::size_t d) {
    const auto& given = reference.array.dim[d];
    const auto item = static_cast<std::ptrdiff_t>(reference.item_bytes);
    Triplet range = given.range;
    switch (reference.array.mode[d]) {
      case Reference::kVector:
        return section().add(distances(given.vector.values, given.vector.count, given.vector.kind, 0, item));
      case Reference::kSingle:
        return section().shift(range.first * item);
      case Reference::kFull:
        range.first = 0;
        break;
      default:
        break;
    }
    section().shift(range.first * item);
    section().add(extent_of(range), range.step * item);
  }

  void subscript_described(const Reference& reference, std::size_t d) {
    const auto& given = reference.array.dim[d];
    const Dimension& bounds = shape_.dim[d];
    const std::ptrdiff_t stride = bounds.stride * static_cast<std::ptrdiff_t>(reference.item_bytes);
    if (reference.array.mode[d] == Reference::kVector) {
      return section().add(
          distances(given.vector.values, given.vector.count, given.vector.kind, bounds.lower, stride));
    }
    if (reference.array.mode[d] == Reference::kSingle)
      return section().shift((given.range.first - bounds.lower) * stride);
    const Triplet range = range_of(given.range, reference.array.mode[d], bounds);
    section().shift((range.first - bounds.lower) * stride);
    section().add(extent_of(range), range.step * stride);
  }

  /// Puts the array's bounds in place of those that the reference leaves open.
  static Triplet range_of(Triplet range, unsigned char mode, const Dimension& bounds) {
    const bool backwards = range.step < 0;
    if (mode == Reference::kFull || mode == Reference::kOpenStart)
      range.first = backwards ? bounds.upper : bounds.lower;
    if (mode == Reference::kFull || mode == Reference::kOpenEnd)
      range.last = backwards ? bounds.lower : bounds.upper;
    return range;
  }

  Section& section() { return found_.side.section; }

  Found found_;
  Descriptor shape_ = {};  ///< of the array that the next reference subscripts
};

/// Returns whether there is something to transfer; else reports why not.
bool usable(const Found& found, const Outcome& outcome) {
  if (!outcome.report(found.status)) return false;
  if (found.present) return true;
  outcome.fail(kFailure, "a component of the coindexed object is not allocated or not associated");
  return false;
}

/// Gives an allocatable array the extents of a section, and the lower bounds 1.
void set_bounds(Descriptor& array, const Section& shape) {
  std::ptrdiff_t stride = 1;
  array.offset = 0;
  array.span = static_cast<std::ptrdiff_t>(array.element_bytes);
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.rank); ++d) {
    const auto extent = static_cast<std::ptrdiff_t>(shape.extent(d));
    array.dim[d] = {.stride = stride, .lower = 1, .upper = extent};
    array.offset -= static_cast<std::size_t>(stride);
    stride *= extent;
  }
}

/// Reallocates an allocatable variable if its shape differs from that of the section assigned to it.
void reallocate(Descriptor& variable, const Section& shape) {
  bool fits = variable.data != nullptr;
  for (std::size_t d = 0; d < static_cast<std::size_t>(variable.rank); ++d)
    fits = fits && extent_of(variable.dim[d]) == shape.extent(d);
  if (fits) return;
  set_bounds(variable, shape);
  void* const memory =
      std::realloc(variable.data, std::max<std::size_t>(shape.count() * variable.element_bytes, 1));
  if (memory == nullptr) die("no memory for an allocatable variable");
  variable.data = static_cast<std::byte*>(memory);
}

/// Allocates the absent component of this image for a value of that shape.
void allocate_absent(const Found& found, const Descriptor& value, const Reference* last, int type,
                     const Outcome& outcome) {
  while (last->next != nullptr) last = last->next;
  auto* const component = reinterpret_cast<Descriptor*>(found.absent);
  auto* const token = reinterpret_cast<Coarray**>(found.absent_token);
  const Section shape(value);
  caf_register(shape.count() * last->item_bytes, kComponentMemory, token, component, outcome.stat, nullptr,
               0);
  if (last->type != Reference::kArray) return;
  component->element_bytes = last->item_bytes;
  component->version = 0;
  component->rank = value.rank;
  component->type = static_cast<signed char>(type);
  set_bounds(*component, shape);
}

}  // namespace

void caf_get_by_ref(const Coarray* token, int image, Descriptor* dst, const Reference* references,
                    int dst_kind, int src_kind, bool may_overlap, bool dst_reallocatable, int* stat,
                    int src_type) {
  const Outcome outcome{.stat = stat};
  const int rank = rank_of(image);
  if (rank < 0) return refuse_image(outcome, image);
  const Found found = Walk(*token, rank, {.type = src_type, .kind = src_kind, .bytes = 0}).follow(references);
  if (!usable(found, outcome)) return;
  // If the coindexed object is a scalar, get() assigns it to all elements of the variable.
  if (found.side.section.dimensions() == static_cast<std::size_t>(dst->rank) && dst_reallocatable)
    reallocate(*dst, found.side.section);
  get({.section = Section(*dst), .type = type_of(*dst, dst_kind)}, found.side,
      may_overlap && rank == my_rank(), outcome);
}

// Fortran does not reallocate a coindexed object. As GCC's own library does, an image allocates a
// component of its own that is not allocated.
void caf_send_by_ref(const Coarray* token, int image, const Descriptor* src, const Reference* references,
                     int dst_kind, int src_kind, bool may_overlap, bool dst_reallocatable, int* stat,
                     int dst_type) {
  const Outcome outcome{.stat = stat};
  const int rank = rank_of(image);
  if (rank < 0) return refuse_image(outcome, image);
  const auto follow = [&] {
    return Walk(*token, rank, {.type = dst_type, .kind = dst_kind, .bytes = 0}).follow(references);
  };
  Found found = follow();
  if (dst_reallocatable && found.absent != nullptr && rank == rma_rank()) {
    allocate_absent(found, *src, references, dst_type, outcome);
    found = follow();
  }
  if (!usable(found, outcome)) return;
  put(found.side, {.section = Section(*src), .type = type_of(*src, src_kind)},
      may_overlap && rank == my_rank(), outcome);
}

void caf_sendget_by_ref(const Coarray* dst_token, int dst_image, const Reference* dst_references,
                        const Coarray* src_token, int src_image, const Reference* src_references,
                        int dst_kind, int src_kind, bool /*may_overlap*/, int* dst_stat, int* src_stat,
                        int dst_type, int src_type) {
  const Outcome dst_outcome{.stat = dst_stat};
  const Outcome src_outcome{.stat = src_stat};
  const int to = rank_of(dst_image);
  if (to < 0) return refuse_image(dst_outcome, dst_image);
  const int from = rank_of(src_image);
  if (from < 0) return refuse_image(src_outcome, src_image);
  const Found src =
      Walk(*src_token, from, {.type = src_type, .kind = src_kind, .bytes = 0}).follow(src_references);
  if (!usable(src, src_outcome)) return;
  const Found dst =
      Walk(*dst_token, to, {.type = dst_type, .kind = dst_kind, .bytes = 0}).follow(dst_references);
  if (!usable(dst, dst_outcome)) return;
  copy(dst.side, src.side, dst_outcome, src_outcome);
}

int caf_is_present(const Coarray* token, int image, const Reference* references) {
  const int rank = rank_of(image);
  if (rank < 0) refuse_image({}, image);
  const Found found = Walk(*token, rank, {.type = kDerived, .kind = 0, .bytes = 0}).follow(references);
  require(found.status);
  return found.present ? 1 : 0;
}

}  // namespace librma::coarrays
