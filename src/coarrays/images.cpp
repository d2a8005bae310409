// The life of an image.

#include "coarrays/images.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "coarrays/entry_points.hpp"
#include "coarrays/memory.hpp"
#include "rma/direct.h"
#include "rma/waits.h"

RMA_WAIT_LIBRARY_SYMBOLS

namespace librma::coarrays {

constinit CurrentTeam current;
constinit Progress progress;
Meetings meetings;

namespace {

Team initial_team;

/// Returns whether every image had begun to stop, or had failed, before the barrier of this round. All images
/// that take part in the barrier get the same answer.
bool all_ended(std::uint64_t round) {
  const Partner* const partners = meetings.partners();
  return std::all_of(partners, partners + rma_size(), [round](const Partner& partner) {
    const std::uint64_t end = load(partner.end);
    return end == kFailed || (end != 0 && partner.end_round <= round);
  });
}

/// Tells each image that this one stops.
void announce_end() {
  const int me = rma_rank();
  for (int rank = 0; rank < rma_size(); ++rank) {
    Partner* const entry = meetings.partner(rank, me);
    require(rma_atomic64(RMA_SET, &entry->end_round, progress.rounds + 1, 0, nullptr, rank));
    require(rma_atomic64(RMA_SET, &entry->end, progress.statements + 1, 0, nullptr, rank));
    require(rma_atomic64(RMA_FETCH_ADD, &meetings.of(rank)->ended, 1, 0, nullptr, rank));
  }
}

/// Leaves the job for a program that ends without the end of its main program, as by exit(). One that fails
/// must not wait for the other images: the launcher ends the job with its code.
void leave_at_exit(int status, void* /*unused*/) {
  constexpr int kSeenByParent = 0xff;
  if ((status & kSeenByParent) == 0) leave();
}

}  // namespace

void enter(const Team& team) {
  current = {.team = &team, .ranks = team.ranks.data(), .images = static_cast<unsigned>(team.ranks.size())};
}

void start() {
  if (current.team != nullptr) return;
  static constexpr rma_wait_library_t kLibrary = {
      .header = __ehdr_start, .dynamic = rma_library_dynamic, .find_place = nullptr, .find_writer = nullptr};
  rma_waits_know(&kLibrary);
  if (rma_init() != RMA_SUCCESS) die(rma_last_error());
  const auto images = static_cast<std::size_t>(rma_size());
  initial_team.handle = rma_team_world();
  initial_team.ranks.resize(images);
  std::iota(initial_team.ranks.begin(), initial_team.ranks.end(), 0);
  initial_team.me = rma_rank();
  enter(initial_team);

  meetings.all.resize(images);
  void* mine = nullptr;
  const std::size_t bytes = sizeof(Meeting) + images * sizeof(Partner);
  require(rma_malloc(rma_team_world(), bytes, 0, meetings.all.data(), &mine));
  std::memset(mine, 0, bytes);
  meetings.mine = static_cast<Meeting*>(mine);
  draw_run_number();
  if (on_exit(leave_at_exit, nullptr) != 0) die("the C library has no room for an exit handler");
}

void leave() {
  if (current.team == nullptr) return;
  announce_end();
  // Images that have stopped take part in the barriers of those that still run, so that sync all returns
  // there.
  do {
    require(rma_barrier(rma_team_world()));
  } while (!all_ended(++progress.rounds));
  current = {};
  require(rma_free(rma_team_world(), meetings.mine));
  require(rma_finalize());
}

void refuse_image(const Outcome& outcome, int image) {
  outcome.fail(kFailure,
               fmt::format("there is no image {}; the team has images 1 to {}", image, current.images));
}

void caf_init(int* /*argc*/, char*** /*argv*/) {
  start();
  share_static_coarrays();
}

void caf_finalize() { leave(); }

// The compiler passes distance 0 only.
int caf_this_image(int /*distance*/) { return current.team->me + 1; }

}  // namespace librma::coarrays
