// Ranks that do not communicate, and ranks that are lost.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

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

/// The memory of end_together() and of the cases that use it: a byte of each rank for rank 0, and others.
constexpr std::size_t kReportBytes = 1024;
constexpr std::size_t kEndingAt = 512;
constexpr std::size_t kOverAt = 768;

void wait_for_byte(const char* byte) {
  while (*static_cast<const volatile char*>(byte) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// Every survivor tells rank 0, which survives, whether it has seen what it should. Rank 0 says when it has
/// heard of all, and all end. If one still waits for a victim, the job runs into its time limit.
void end_together(const Shared& shared, std::span<const int> victims) {
  const auto survives = [&](int rank) { return std::ranges::find(victims, rank) == victims.end(); };
  const char said = failures == 0 ? 1 : 2;
  expect_ok(rma_put(shared.at(0) + rma_rank(), &said, 1, 0), "the report");
  expect_ok(rma_fence(0), "its fence");
  bool agree = true;
  for (int rank = 0; rma_rank() == 0 && rank < rma_size(); ++rank) {
    if (!survives(rank)) continue;
    wait_for_byte(shared.mine + rank);
    agree = agree && shared.mine[rank] == 1;
  }
  for (int rank = 0; rma_rank() == 0 && rank < rma_size(); ++rank) {
    if (!survives(rank)) continue;
    expect_ok(rma_put(shared.at(rank) + kOverAt, &said, 1, rank), "the end");
    expect_ok(rma_fence(rank), "the fence of the end");
  }
  if (rma_rank() == 0) {
    std::puts(agree && failures == 0 ? "survivors agree: a rank was lost" : "something was wrong");
    std::fflush(nullptr);
  }
  wait_for_byte(shared.mine + kOverAt);
  _exit(0);  // nobody could complete rma_finalize
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
/// The victim, rank `argument`, ends between two collectives of a team with several ranks on a host: a
/// leader, which speaks for its host, or another rank. No survivor waits for ever, and the team stays
/// unusable.
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
/// Two of six ranks on three hosts end while they hold mutexes of rank 2: rank 4 of another host, and rank 3
/// of the same host. The others, which wait for the mutexes on the three hosts, learn who it was, and not
/// before.
void mutexes_lost() {
  constexpr int kHome = 2;
  constexpr std::array kVictims = {4, 3};
  expect(rma_size() == 6 && rma_same_host(rma_rank() ^ 1) != 0, "two ranks on each host");
  const auto* const shared = new Shared(kReportBytes);  // freed with the process
  rma_mutexes_t mutexes = nullptr;
  expect_ok(rma_mutexes_create(rma_team_world(), rma_rank() == kHome ? 3 : 0, &mutexes), "mutexes");
  const auto index =
      static_cast<std::size_t>(std::find(kVictims.begin(), kVictims.end(), rma_rank()) - kVictims.begin());
  const bool victim = index < kVictims.size();
  if (victim) expect_ok(rma_lock(mutexes, index, kHome), "a free mutex");
  barrier();
  if (victim) {
    // The others wait for longer than RMA_PEER_TIMEOUT while the holder lives.
    std::this_thread::sleep_for(std::chrono::seconds(5));
    const char ending = 1;
    for (const int rank : {0, 1, kHome, 5}) {
      expect_ok(rma_put(shared->at(rank) + kEndingAt + index, &ending, 1, rank), "the last words");
    }
    expect_ok(rma_fence_all(), "fence");
    std::raise(SIGKILL);
  }
  for (std::size_t which = 0; which < kVictims.size(); ++which) {
    const std::string name = "rank " + std::to_string(kVictims[which]);
    expect(rma_lock(mutexes, which, kHome) == RMA_ERR_PEER_LOST && error_names(name),
           "the mutex is lost, by name");
    std::fprintf(stderr, "rank %d: %s\n", rma_rank(), rma_last_error());
    const volatile char* const ending = shared->mine + kEndingAt + which;
    expect(*ending == 1, "nobody is taken for lost that lives");
  }
  expect(rma_lock(mutexes, 0, kHome) == RMA_ERR_PEER_LOST, "it stays lost");
  expect_ok(rma_lock(mutexes, 2, kHome), "another mutex");
  expect_ok(rma_unlock(mutexes, 2, kHome), "and its end");
  end_together(*shared, kVictims);
}
/// The victim, rank `argument`, ends in the middle of long allgathers. The others learn its name, and the
/// team stays unusable.
void allgather_lost() {
  const int victim = static_cast<int>(argument);
  // Long enough to go from result to result. Longer blocks would keep the emulated wires busy for seconds.
  constexpr std::size_t kLong = std::size_t{256} << 10U;
  const auto* const shared = new Shared(kReportBytes);  // freed with the process
  const std::vector<char> mine(kLong, static_cast<char>(rma_rank() + 1));
  std::vector<char> all(kLong * ranks());
  const auto once = [&](std::size_t bytes) {
    return rma_allgather(rma_team_world(), all.data(), mine.data(), bytes);
  };
  for (const std::size_t bytes : {kLong, std::size_t{100}, kLong})
    expect_ok(once(bytes), "an allgather before");
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    expect(
        all[rank * kLong] == static_cast<char>(rank + 1) && all[(rank + 1) * kLong - 1] == all[rank * kLong],
        "the blocks");
  }
  barrier();
  std::thread end;
  if (rma_rank() == victim) {
    end = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      std::raise(SIGKILL);
    });
  }
  rma_status_t status = RMA_SUCCESS;
  while (status == RMA_SUCCESS) status = once(kLong);
  const std::string name = "rank " + std::to_string(victim);
  const auto check = [&](const char* what) {
    expect(status == RMA_ERR_PEER_LOST && error_names(name) && !error_names("nonblocking"), what);
  };
  check("the allgather ends, and names the rank");
  std::fprintf(stderr, "rank %d: %s\n", rma_rank(), rma_last_error());
  for (const std::size_t bytes : {kLong, std::size_t{100}}) {
    status = once(bytes);
    check("so does a later one");
  }
  end_together(*shared, std::array{victim});
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
