// Ranks that do not communicate, and ranks that are lost.

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "job.hpp"

namespace cluster_job {

/// No rank communicates.
void idle() { expect(rma_size() > 1, "several ranks"); }

namespace {

/// The lowest survivor ends the job when the others have had time to say what they saw.
void end_job(int victim) {
  if (rma_rank() != (victim == 0 ? 1 : 0)) std::this_thread::sleep_for(std::chrono::seconds(30));
  std::this_thread::sleep_for(std::chrono::seconds(3));
  rma_abort(failures == 0 ? 9 : 1,
            failures == 0 ? "survivors agree: a rank was lost" : "something was wrong");
}

/// The victim, rank `argument`, ends in its own way. The others notice in time, by operations to it, and go
/// on without it. They end the job with a text that says why.
void survive(const std::function<void()>& end) {
  const int victim = static_cast<int>(argument);
  const Shared* const shared = new Shared(std::size_t{1} << 16);  // freed with the process
  const int beyond = (victim + 1) % rma_size();
  std::vector<char> data(std::size_t{1} << 16, 1);
  for (int rank = 0; rank < rma_size(); ++rank) {
    expect_ok(rma_put(shared->at(rank), data.data(), 100, rank), "put before");
  }
  barrier();
  if (rma_rank() == victim) end();
  const auto began = std::chrono::steady_clock::now();
  rma_status_t status = RMA_SUCCESS;
  while (status == RMA_SUCCESS) {
    status = rma_put(shared->at(victim), data.data(), data.size(), victim);
    if (status == RMA_SUCCESS) status = rma_fence(victim);
    if (std::chrono::steady_clock::now() - began > std::chrono::seconds(60)) break;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  expect(status == RMA_ERR_PEER_LOST && error_names("rank " + std::to_string(victim)),
         "the victim is lost, by name");
  std::fprintf(stderr, "rank %d: rank %d was lost after %.1f s\n", rma_rank(), victim, seconds);
  std::uint64_t word = 0;
  expect(rma_get(&word, shared->at(victim), 8, victim) == RMA_ERR_PEER_LOST, "and stays lost");
  expect(rma_atomic64(RMA_FETCH_ADD, reinterpret_cast<std::uint64_t*>(shared->at(victim)), 1, 0, &word,
                      victim) == RMA_ERR_PEER_LOST,
         "for atomics too");
  if (beyond != rma_rank() && beyond != victim) {
    expect_ok(rma_put(shared->at(beyond), data.data(), data.size(), beyond), "put to another");
    expect_ok(rma_fence(beyond), "fence of another");
  }
  expect(rma_barrier(rma_team_world()) == RMA_ERR_PEER_LOST, "a barrier with the victim ends");
  end_job(victim);
}

}  // namespace

void killed() {
  survive([] { std::raise(SIGKILL); });
}
/// The victim, rank `argument`, ends between two collectives of a team with several ranks on a host: a leader, which
/// speaks for its host, or another rank. No survivor waits for ever, and the team stays unusable.
void collectives_lost() {
  const int victim = static_cast<int>(argument);
  constexpr int kBefore = 25;
  std::int64_t sum = 0;
  std::array<char, 100> data = {};
  const auto once = [&](int step) {
    const std::int64_t one = 1;
    if (step % 3 == 0) return rma_barrier(rma_team_world());
    if (step % 3 == 1) return rma_broadcast(rma_team_world(), data.data(), data.size(), step % rma_size());
    return rma_allreduce(rma_team_world(), &sum, &one, 1, RMA_LONG, RMA_SUM);
  };
  for (int step = 0; step < kBefore; ++step) expect_ok(once(step), "a collective before");
  expect(sum == rma_size(), "the sum of all ranks");
  if (rma_rank() == victim) std::raise(SIGKILL);
  rma_status_t status = RMA_SUCCESS;
  for (int step = 0; status == RMA_SUCCESS && step < 1'000'000; ++step) status = once(step);
  expect(status == RMA_ERR_PEER_LOST, "the collectives end");
  for (int step = 0; step < 3; ++step) {
    expect(once(step) == RMA_ERR_PEER_LOST, "the team is of no more use");
  }
  end_job(victim);
}
/// The script makes the victim's host vanish once this file is there.
void vanished() {
  survive([] {
    std::printf("now\n");
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(600));
  });
}

}  // namespace cluster_job
