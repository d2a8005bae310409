// Events. An event is a count of 8 bytes in the coarray. A post adds 1 to it at its owner, which sleeps until
// it is high enough.

#include "coarrays/entry_points.hpp"
#include "coarrays/memory.hpp"
#include "rma/direct.h"

namespace librma::coarrays {
namespace {

std::uint64_t* event_of(const Coarray& events, std::size_t index, int rank) {
  return reinterpret_cast<std::uint64_t*>(owners_address(events, index * sizeof(std::uint64_t), rank));
}

}  // namespace

void caf_event_post(Coarray* token, std::size_t index, int image, int* stat, char* message,
                    std::size_t length) {
  const Outcome outcome{.stat = stat, .message = message, .length = length};
  const int rank = rank_or_self(image);
  if (rank < 0) return refuse_image(outcome, image);
  // The image that waits sees what this one has written.
  if (!outcome.report(rma_fence_all())) return;
  outcome.report(rma_fetch_add8(event_of(*token, index, rank), 1, nullptr, rank));
}

void caf_event_wait(Coarray* token, std::size_t index, int until_count, int* stat, char* message,
                    std::size_t length) {
  const Outcome outcome{.stat = stat, .message = message, .length = length};
  const std::uint64_t threshold = until_count > 1 ? static_cast<std::uint64_t>(until_count) : 1;
  std::uint64_t* const event = event_of(*token, index, my_rank());
  if (load(*event) < threshold && !outcome.report(rma_wait_until(event, RMA_GE, threshold, nullptr))) return;
  outcome.report(rma_fetch_add8(event, -threshold, nullptr, my_rank()));
}

void caf_event_query(Coarray* token, std::size_t index, int image, int* count, int* stat) {
  const Outcome outcome{.stat = stat};
  const int rank = rank_or_self(image);
  if (rank < 0) return refuse_image(outcome, image);
  std::uint64_t posts = 0;
  if (!outcome.report(rma_atomic64(RMA_FETCH, event_of(*token, index, rank), 0, 0, &posts, rank))) return;
  *count = static_cast<int>(posts);
}

}  // namespace librma::coarrays
