// sync all, sync memory and sync images.
//
// sync images needs no barrier. Each image counts, for each other one, how often it has executed sync images
// with it, stores that number into the partner's memory, and waits until the partner's number is as high.

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "coarrays/entry_points.hpp"
#include "coarrays/images.hpp"
#include "coarrays/looks.hpp"
#include "coarrays/sync.hpp"
#include "rma/direct.h"

namespace librma::coarrays {
namespace {

/// How often this image has executed sync images with each rank.
std::vector<std::uint64_t> syncs_with;  // NOLINT(cert-err58-cpp)

/// STAT_DUP_SYNC_IMAGES of other implementations; the standard has no name for it.
constexpr int kDuplicateImages = 3;

/// Returns where the sync statements report how they end. The compilers known so far pass them the address of
/// a pointer to the text, unlike all other statements. The bytes of a text are no address of a program: those
/// have zeros in front.
Outcome outcome_of_sync(int* stat, char* message, std::size_t length) {
  constexpr std::uintptr_t kBehindAddresses = std::uintptr_t{1} << 47U;
  std::uintptr_t pointer = 0;
  if (message != nullptr) std::memcpy(&pointer, message, sizeof pointer);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (pointer != 0 && pointer < kBehindAddresses) message = reinterpret_cast<char*>(pointer);
  return {.stat = stat, .message = message, .length = length};
}

/// Waits until `rank` has executed sync images with this image as often, or has ended. Returns 0, or why it
/// has ended.
int wait_for(int rank, std::uint64_t times) {
  Partner& partner = meetings.partners()[rank];
  Looks looks;
  wait_until([&] {
    return load(partner.syncs) >= times || load(partner.end) != 0 || (looks.due() && process_has_ended(rank));
  });
  if (load(partner.syncs) >= times) return 0;
  if (load(partner.end) == 0) find_failed_images();
  return load(partner.end) == kFailed ? kFailedImage : kStoppedImage;
}

/// Executes sync images with the given ranks. Returns 0, or the status of those that have ended:
/// kStoppedImage if one of them has stopped.
int meet(const std::vector<int>& ranks) {
  syncs_with.resize(static_cast<std::size_t>(rma_size()));
  for (const int rank : ranks) {
    const std::uint64_t times = ++syncs_with[static_cast<std::size_t>(rank)];
    const rma_status_t status = rma_put8(&meetings.partner(rank, rma_rank())->syncs, times, rank);
    if (status != RMA_ERR_PEER_LOST) require(status);
  }
  int ended = 0;
  for (const int rank : ranks) {
    const int why = wait_for(rank, syncs_with[static_cast<std::size_t>(rank)]);
    if (ended != kStoppedImage && why != 0) ended = why;
  }
  return ended;
}

}  // namespace

bool all_take_part(const Outcome& outcome) {
  if (current.team->parent != nullptr) return true;
  ++progress.statements;
  if (load(meetings.mine->ended) == 0) [[likely]]
    return true;
  int stat = 0;
  for (const int rank : current.team->ranks) {
    const Partner& partner = meetings.partners()[rank];
    const std::uint64_t end = load(partner.end);
    if (end == kFailed && partner.end_place <= progress.statements && stat == 0) stat = kFailedImage;
    if (end != 0 && end <= progress.statements) stat = kStoppedImage;
  }
  if (stat == 0) return true;
  outcome.fail(
      stat, stat == kStoppedImage ? "an image of the team has stopped" : "an image of the team has failed");
  return false;
}

bool meet_all(const Outcome& outcome) {
  if (current.team->parent == nullptr) ++progress.rounds;
  // Images that have stopped take part in the barrier. A team that has lost an image has no barrier any more,
  // so the images that live meet in pairs.
  const rma_status_t status = rma_barrier(current.team->handle);
  if (status == RMA_ERR_PEER_LOST) {
    find_failed_images();
    meet(current.team->ranks);
  }
  return all_take_part(outcome) && outcome.report(status);
}

void caf_sync_all(int* stat, char* message, std::size_t length) {
  meet_all(outcome_of_sync(stat, message, length));
}

void caf_sync_memory(int* stat, char* message, std::size_t length) {
  const Outcome outcome = outcome_of_sync(stat, message, length);
  outcome.report(rma_fence_all());
}

void caf_sync_images(int count, const int* images, int* stat, char* message, std::size_t length) {
  const Outcome outcome = outcome_of_sync(stat, message, length);
  std::vector<int> ranks;
  if (count < 0) {
    ranks = current.team->ranks;
  } else {
    for (const int image : std::span(images, static_cast<std::size_t>(count))) {
      ranks.push_back(rank_of(image));
      if (ranks.back() < 0) return refuse_image(outcome, image);
    }
    std::ranges::sort(ranks);
    if (std::ranges::adjacent_find(ranks) != ranks.end())
      return outcome.fail(kDuplicateImages, "sync images names an image twice");
  }
  if (!outcome.report(rma_fence_all())) return;
  const int ended = meet(ranks);
  if (ended == 0) return outcome.succeed();
  outcome.fail(ended, ended == kStoppedImage ? "an image that sync images names has stopped"
                                             : "an image that sync images names has failed");
}

}  // namespace librma::coarrays
