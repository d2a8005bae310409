#include "twosided_compat/window_waiting.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "rma/messages.h"
#include "twosided_compat/completion.hpp"
#include "twosided_compat/library_failure.hpp"

namespace rma::mpi {
namespace {

/// After so many pauses a wait naps: whoever it waits for has had the processor that often and needs longer.
constexpr int kYields = 1000;
constexpr std::chrono::microseconds kFirstNap{20};
/// A wait looks for members that have ended at every nap, and never sleeps longer at once.
constexpr std::chrono::microseconds kLongestNap{1000};
/// No message has this context.
constexpr std::uint32_t kNoContext = UINT32_MAX;

}  // namespace

void WindowWait::watch_other_hosts() {
  for (const int rank : members_.world_ranks()) {
    if (rma_same_host(rank) != 0) continue;
    rma_request_t watch = RMA_REQUEST_NULL;
    // A failure is seen by find_lost(), or this member is not watched for lack of memory.
    static_cast<void>(rma_recv_nb(nullptr, 0, rank, RMA_ANY_TAG, kNoContext, nullptr, &watch));
    if (watch != RMA_REQUEST_NULL) watches_.push_back(watch);
  }
}

WindowWait::~WindowWait() {
  for (rma_request_t& watch : watches_) {
    static_cast<void>(rma_cancel(watch));
    static_cast<void>(rma_wait(&watch));
  }
}

int WindowWait::pause() {
  if (pauses_ < kYields) {
    ++pauses_;
    make_progress();
    return MPI_SUCCESS;
  }
  if (watches_.empty()) watch_other_hosts();
  if (const int code = find_lost(members_); code != MPI_SUCCESS) return code;
  make_progress();
  const auto nap = kFirstNap * (1 + (pauses_ - kYields) / 8);  // the nap grows with the time waited
  std::this_thread::sleep_for(std::min(nap, kLongestNap));
  if (nap < kLongestNap) ++pauses_;
  return MPI_SUCCESS;
}

int find_lost(const Members& members) {
  for (const int rank : members.world_ranks()) {
    if (rank == rma_rank()) continue;
    int found = 0;
    // The probe fails if the rank has ended.
    const rma_status_t status = rma_iprobe(rank, RMA_ANY_TAG, kNoContext, &found, nullptr);
    if (status == RMA_ERR_PEER_LOST) return library_failure(status);
  }
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
