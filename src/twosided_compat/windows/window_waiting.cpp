#include "twosided_compat/windows/window_waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <new>
#include <thread>

#include "twosided_compat/messages/completion.hpp"
#include "twosided_compat/objects/polled_wait.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// After so many pauses a wait naps: whoever it waits for has had the processor that often and needs longer.
constexpr int kYields = 1000;
/// It also naps after so many nanoseconds. They are what the pauses take if nobody else wants the processor.
/// A pause yields it, and others may keep it for milliseconds each time.
constexpr std::int64_t kYielding = 2'000'000;
/// A wait looks at the clock once in so many pauses.
constexpr int kLookEvery = 8;
constexpr std::chrono::microseconds kFirstNap{20};
/// A wait looks for members that have ended at every nap, and never sleeps longer at once.
constexpr std::chrono::microseconds kLongestNap{1000};
/// A wait that is shown is shown again after so many nanoseconds.
constexpr std::int64_t kShowAgain = 1'000'000'000;
/// In a window with more members nobody looks who holds a lock.
constexpr int kMostAsked = 1024;
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
  if (shown_ != nullptr) rma_wait_hide(shown_);
  for (rma_request_t& watch : watches_) {
    static_cast<void>(rma_cancel(watch));
    static_cast<void>(rma_wait(&watch));
  }
}

std::vector<int> WindowWait::find_holders() const {
  std::vector<int> holders;
  const int size = win_.size();
  if (size > kMostAsked) return holders;
  std::vector<Held> held(static_cast<std::size_t>(size) + 1);
  for (int member = 0; member < size; ++member) {
    const WindowPart& part = win_.part(member);
    const void* const theirs =
        reinterpret_cast<const std::byte*>(part.control) + Window::held_offset(size);  // NOLINT: theirs
    if (member == win_.rank() || rma_get(held.data(), theirs, held.size(), part.rank) != RMA_SUCCESS)
      continue;
    bool holds = false;
    if (what_ == For::kLock) holds = held[static_cast<std::size_t>(member_)] != Held::kNothing;
    if (what_ == For::kLockAll) holds = held.back() != Held::kNothing;
    if (what_ == For::kLocks) holds = std::ranges::count(held, Held::kExclusive) != 0;
    if (holds) holders.push_back(part.rank);
  }
  return holders;
}

std::vector<int> WindowWait::find_awaited(std::string& about) const {
  const std::string window = win_.name.empty() ? fmt::format("a window of {} ranks", win_.size())
                                               : fmt::format("window '{}'", win_.name);
  const int rank = win_.part(member_).rank;
  if (what_ == For::kPost || what_ == For::kComplete) {
    about = fmt::format("{} by rank {}, {}",
                        what_ == For::kPost ? "for MPI_Win_post" : "for MPI_Win_complete", rank, window);
    return {rank};
  }
  if (what_ == For::kUpdate) {
    about = fmt::format("for an accumulate of another rank at rank {}, {}", rank, window);
    return {};
  }
  std::vector<int> holders = find_holders();
  about = what_ == For::kLock ? fmt::format("at rank {}, {}", rank, window) : "of " + window;
  if (!holders.empty())
    about += fmt::format(", held by {} {}", holders.size() == 1 ? "rank" : "ranks", fmt::join(holders, ","));
  return holders;
}

void WindowWait::show() {
  const std::int64_t now = monotonic_nanoseconds();
  if (since_ == 0) since_ = now;
  if (now - since_ < kLongWait || now - shown_at_ < kShowAgain) return;
  shown_at_ = now;
  try {
    std::string about;
    const std::vector<int> awaited = find_awaited(about);
    rma_wait_hide(shown_);
    shown_ = rma_wait_show(since_, about.c_str(), awaited.data(), awaited.size(), 0);
  } catch (const std::bad_alloc&) {  // without memory the wait is not shown
  }
}

void WindowWait::look_at_clock() {
  const std::int64_t now = monotonic_nanoseconds();
  if (began_ == 0) began_ = now;
  if (now - began_ >= kYielding) pauses_ = kYields;
}

// This is no wait of util/waiting/wait.hpp. Those sleep at a doorbell, and the rank that changes the word
// here rings none.
int WindowWait::pause() {
  if (pauses_ < kYields) {
    ++pauses_;
    make_progress();
    if (pauses_ % kLookEvery == 0) look_at_clock();
    return MPI_SUCCESS;
  }
  if (watches_.empty()) watch_other_hosts();
  RMA_TRY(find_lost(members_));
  make_progress();
  show();
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

}  // namespace librma::mpi
