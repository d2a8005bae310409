// The collective subroutines.

#include "rma/collectives.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "coarrays/entry_points.hpp"
#include "coarrays/images.hpp"
#include "coarrays/reducers.hpp"
#include "coarrays/section.hpp"
#include "coarrays/sync.hpp"

namespace librma::coarrays {
namespace {

/// Returns the distance of two elements. The descriptors that the compiler makes for allocatable components
/// of a broadcast object have no `offset` and `span`: those hold what an earlier descriptor on the stack had.
/// In others, `offset` is the distance from the first element to the one with subscripts 0, and no two
/// elements overlap.
std::ptrdiff_t trusted_span(const Descriptor& data) {
  const auto element_bytes = static_cast<std::ptrdiff_t>(data.element_bytes);
  std::ptrdiff_t offset = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(data.rank); ++d)
    offset -= data.dim[d].lower * data.dim[d].stride;
  if (static_cast<std::ptrdiff_t>(data.offset) != offset) return element_bytes;
  return std::max(span_of(data), element_bytes);
}

/// The elements of an argument, without gaps. They are the argument's own memory if it has no gaps; else a
/// copy, which store() copies back.
class Elements {
 public:
  explicit Elements(const Descriptor& data)
      : section_(data, data.data, trusted_span(data)), count_(section_.count()) {
    if (contiguous()) return;
    copy_ = std::make_unique_for_overwrite<std::byte[]>(bytes());
    std::byte* to = copy_.get();
    for (const std::byte* const element : section_.elements()) {
      std::memcpy(to, element, section_.element_bytes());
      to += section_.element_bytes();
    }
  }
  void store() const {
    if (copy_ == nullptr) return;
    const std::byte* from = copy_.get();
    for (std::byte* const element : section_.elements()) {
      std::memcpy(element, from, section_.element_bytes());
      from += section_.element_bytes();
    }
  }
  [[nodiscard]] std::byte* data() const { return copy_ != nullptr ? copy_.get() : section_.first(); }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * section_.element_bytes(); }

 private:
  [[nodiscard]] bool contiguous() const {
    auto expected = static_cast<std::ptrdiff_t>(section_.element_bytes());
    for (std::size_t d = 0; d < section_.dimensions(); ++d) {
      if (section_.stride(d) != expected) return false;
      expected *= static_cast<std::ptrdiff_t>(section_.extent(d));
    }
    return true;
  }
  Section section_;
  std::size_t count_;
  std::unique_ptr<std::byte[]> copy_;
};

/// Returns whether all images can take part.
bool may_begin(const Outcome& outcome, int image) {
  if (image != 0 && rank_of(image) < 0) {
    refuse_image(outcome, image);
    return false;
  }
  return all_take_part(outcome);
}

void reduce(const Descriptor& data, const rma_reducer_t& reducer, int result_image, const Outcome& outcome) {
  if (!may_begin(outcome, result_image)) return;
  const Elements elements(data);
  if (elements.count() == 0) return outcome.succeed();
  rma_collective_t collective = {};
  collective.kind = result_image == 0 ? RMA_COLLECTIVE_ALLREDUCE : RMA_COLLECTIVE_REDUCE;
  collective.root = result_image == 0 ? 0 : result_image - 1;
  collective.dst = elements.data();
  collective.src = elements.data();
  collective.count = elements.count();
  collective.reducer = reducer;
  if (outcome.report(rma_collective_run(current.team->handle, &collective))) elements.store();
}

}  // namespace

void caf_co_broadcast(Descriptor* data, int source_image, int* stat, char* message, std::size_t length) {
  const Outcome outcome{.stat = stat, .message = message, .length = length};
  if (!may_begin(outcome, source_image)) return;
  const Elements elements(*data);
  if (outcome.report(
          rma_broadcast(current.team->handle, elements.data(), elements.bytes(), source_image - 1)))
    elements.store();
}

void caf_co_sum(Descriptor* data, int result_image, int* stat, char* message, std::size_t length) {
  reduce(*data, sum_of(*data), result_image, {.stat = stat, .message = message, .length = length});
}

void caf_co_min(Descriptor* data, int result_image, int* stat, char* message, int characters,
                std::size_t length) {
  reduce(*data, extremum_of(*data, Extremum::least, characters), result_image,
         {.stat = stat, .message = message, .length = length});
}

void caf_co_max(Descriptor* data, int result_image, int* stat, char* message, int characters,
                std::size_t length) {
  reduce(*data, extremum_of(*data, Extremum::most, characters), result_image,
         {.stat = stat, .message = message, .length = length});
}

void caf_co_reduce(Descriptor* data, void* (*combine)(void*, void*), int flags, int result_image, int* stat,
                   char* message, int characters, std::size_t length) {
  UserFunction function = {.function = reinterpret_cast<void (*)()>(combine),
                           .flags = flags,
                           .element_bytes = data->element_bytes,
                           .characters = static_cast<std::size_t>(characters)};
  reduce(*data, reducer_of(*data, function), result_image,
         {.stat = stat, .message = message, .length = length});
}

}  // namespace librma::coarrays
