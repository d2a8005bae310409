// How images learn that one of them has ended. An image that stops, or executes fail image, tells all others.
// One that dies in another way is found by those that miss it: librma reports a lost rank, or a wait takes
// long.

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "coarrays/entry_points.hpp"
#include "coarrays/images.hpp"
#include "rma/direct.h"

namespace librma::coarrays {
namespace {

/// Ends the job if a call failed for another reason than that the rank is lost.
void require_unless_lost(rma_status_t status) {
  if (status != RMA_ERR_PEER_LOST) require(status);
}

}  // namespace

void announce_end(std::uint64_t end) {
  const int me = rma_rank();
  const std::uint64_t place = end == kFailed ? progress.statements + 1 : progress.rounds + 1;
  for (int rank = 0; rank < rma_size(); ++rank) {
    Partner* const entry = meetings.partner(rank, me);
    require_unless_lost(rma_atomic64(RMA_SET, &entry->end_place, place, 0, nullptr, rank));
    require_unless_lost(rma_atomic64(RMA_SET, &entry->end, end, 0, nullptr, rank));
    require_unless_lost(rma_atomic64(RMA_FETCH_ADD, &meetings.of(rank)->ended, 1, 0, nullptr, rank));
  }
}

bool process_has_ended(int rank) {
  const auto place = static_cast<std::size_t>(rank);
  if (rma_direct.peers[place].bytes == 0) return false;
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, meetings.processes[place], 0));
  if (process < 0) return errno == ESRCH;
  pollfd ended = {.fd = process, .events = POLLIN, .revents = 0};
  const bool has_ended = ::poll(&ended, 1, 0) == 1;
  ::close(process);
  return has_ended;
}

void find_failed_images() {
  Partner* const partners = meetings.partners();
  for (int rank = 0; rank < rma_size(); ++rank) {
    if (load(partners[rank].end) != 0) continue;
    std::uint64_t run = 0;
    // A rank that is not mapped is asked.
    if (!process_has_ended(rank) &&
        rma_get(&run, &meetings.of(rank)->run, sizeof run, rank) != RMA_ERR_PEER_LOST)
      continue;
    __atomic_store_n(&partners[rank].end, kFailed, __ATOMIC_RELEASE);
    __atomic_fetch_add(&meetings.mine->ended, 1, __ATOMIC_RELEASE);
  }
}

// The launcher ends the job, unless it was told to go on without a process that a signal has ended (rmarun
// --survive).
void caf_fail_image() {
  announce_end(kFailed);
  static_cast<void>(rma_fence_all());
  static_cast<void>(std::raise(SIGKILL));
  std::abort();
}

}  // namespace librma::coarrays
