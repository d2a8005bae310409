// The life of an image.

#include "coarrays/images.hpp"

#include <unistd.h>

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
void (*last_act)() = nullptr;

/// Returns whether every image had begun to stop, or had failed, before the barrier of this round. All images
/// that take part in the barrier get the same answer.
bool all_ended(std::uint64_t round) {
  const Partner* const partners = meetings.partners();
  return std::all_of(partners, partners + rma_size(), [round](const Partner& partner) {
    const std::uint64_t end = load(partner.end);
    return end == kFailed || (end != 0 && partner.end_place <= round);
  });
}

/// Waits until every image has ended, where the images have no barrier any more because one was lost.
void wait_for_ends(rma_status_t why) {
  if (why != RMA_ERR_PEER_LOST) die(rma_last_error());
  find_failed_images();
  wait_until([] {
    const Partner* const partners = meetings.partners();
    return std::all_of(partners, partners + rma_size(),
                       [](const Partner& partner) { return load(partner.end) != 0; });
  });
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
  const pid_t process = getpid();
  meetings.processes.resize(images);
  require(rma_allgather(rma_team_world(), meetings.processes.data(), &process, sizeof process));
  draw_run_number();
  if (on_exit(leave_at_exit, nullptr) != 0) die("the C library has no room for an exit handler");
}

void before_leaving(void (*function)()) { last_act = function; }

void leave() {
  if (current.team == nullptr) return;
  announce_end(progress.statements + 1);
  // Images that have stopped take part in the barriers of those that still run, so that sync all returns
  // there.
  rma_status_t met = RMA_SUCCESS;
  do {
    met = rma_barrier(rma_team_world());
  } while (met == RMA_SUCCESS && !all_ended(++progress.rounds));
  if (met != RMA_SUCCESS) wait_for_ends(met);
  if (last_act != nullptr) last_act();
  current = {};
  // Both report an image that was lost.
  static_cast<void>(rma_free(rma_team_world(), meetings.mine));
  static_cast<void>(rma_finalize());
}

void refuse_image(const Outcome& outcome, int image, std::size_t images) {
  outcome.fail(kFailure, fmt::format("there is no image {}; the team has images 1 to {}", image, images));
}

void caf_init(int* /*argc*/, char*** /*argv*/) {
  start();
  share_static_coarrays();
}

void caf_finalize() { leave(); }

// The compiler passes distance 0 only.
int caf_this_image(int /*distance*/) { return current.team->me + 1; }

}  // namespace librma::coarrays
