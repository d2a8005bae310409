// One rank of the jobs that the scripts of this folder run: `rma-cluster-job CASE [ARGUMENT]`. Exits with 0
// when all is as it should be, and says on standard error what is not.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rma/direct.h"

namespace {

int failures = 0;
long argument = 0;
bool may_lose = false;  ///< a rank that is lost ends the case, and is no failure
bool lost = false;

bool expect(bool good, const char* what) {
  if (good) return true;
  if (++failures <= 5)
    std::fprintf(stderr, "rank %d: %s; last error: %s\n", rma_rank(), what, rma_last_error());
  return false;
}
bool expect_ok(rma_status_t status, const char* what) {
  lost = lost || (may_lose && status == RMA_ERR_PEER_LOST);
  return !lost && expect(status == RMA_SUCCESS, what);
}
bool error_names(std::string_view word) {
  return std::string_view(rma_last_error()).find(word) != std::string::npos;
}
void barrier() { expect_ok(rma_barrier(rma_team_world()), "barrier"); }

/// `bytes` bytes at every rank, zeroed.
struct Shared {
  explicit Shared(std::size_t bytes) : addresses(static_cast<std::size_t>(rma_size())) {
    void* memory = nullptr;
    expect_ok(rma_malloc(rma_team_world(), bytes, 0, addresses.data(), &memory), "malloc");
    mine = static_cast<char*>(memory);
    std::memset(mine, 0, bytes);
    barrier();
  }
  ~Shared() { expect_ok(rma_free(rma_team_world(), mine), "free"); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  [[nodiscard]] char* at(int rank) const {
    return static_cast<char*>(addresses[static_cast<std::size_t>(rank)]);
  }

  std::vector<void*> addresses;
  char* mine = nullptr;
};

int first_of_another_host() {
  for (int rank = 0; rank < rma_size(); ++rank) {
    if (rma_same_host(rank) == 0) return rank;
  }
  return rma_rank();
}

/// Random puts and gets of all sizes into slices of every rank, against a model. `argument` rounds.
void traffic() {
  constexpr std::size_t kSlice = std::size_t{3} << 18;
  const Shared shared(kSlice * static_cast<std::size_t>(rma_size()));
  std::vector<std::vector<char>> models(static_cast<std::size_t>(rma_size()), std::vector<char>(kSlice));
  std::mt19937_64 random(20261121U + static_cast<unsigned>(rma_rank()));
  const auto slice = [&](int rank) {
    return shared.at(rank) + kSlice * static_cast<std::size_t>(rma_rank());
  };
  std::vector<char> buffer(kSlice);
  for (int target = 0; target < rma_size(); ++target) {
    expect_ok(rma_put(slice(target), models[0].data(), 1, target), "first put");
  }
  barrier();
  if (rma_rank() == 0) {
    std::printf("running\n");  // what the scripts wait for
    std::fflush(stdout);
  }
  for (long round = 0; round < argument && !lost; ++round) {
    const int target = static_cast<int>(random() % static_cast<unsigned>(rma_size()));
    std::vector<char>& model = models[static_cast<std::size_t>(target)];
    const std::size_t bytes = 1 + random() % (std::size_t{1} << random() % 19);
    const std::size_t at = random() % (kSlice - bytes);
    if (random() % 3 != 0) {
      for (std::size_t i = 0; i < bytes; ++i) buffer[i] = static_cast<char>(random());
      expect_ok(rma_put(slice(target) + at, buffer.data(), bytes, target), "put");
      std::memcpy(model.data() + at, buffer.data(), bytes);
    } else {
      expect_ok(rma_get(buffer.data(), slice(target) + at, bytes, target), "get");
      expect(lost || std::memcmp(buffer.data(), model.data() + at, bytes) == 0,
             "a get sees what was put before it");
    }
  }
  expect_ok(rma_fence_all(), "fence_all");
  for (int target = 0; target < rma_size(); ++target) {
    expect_ok(rma_get(buffer.data(), slice(target), kSlice, target), "get of a whole slice");
    expect(lost || buffer == models[static_cast<std::size_t>(target)], "a slice is as its model");
  }
  barrier();
}

/// The same where so much is lost that ranks may find each other gone: what they were told was done, was
/// done.
void lossy() {
  may_lose = true;
  traffic();
  std::fprintf(stderr, "rank %d: %s\n", rma_rank(), lost ? "a rank was lost" : "complete");
}

/// Every rank adds to one counter of rank 0, its owner and its neighbours included: nothing is lost, and no
/// value is given out twice.
void hammer() {
  const Shared shared(64 + sizeof(std::uint64_t) * static_cast<std::size_t>(argument * rma_size()));
  auto* const counter = reinterpret_cast<std::uint64_t*>(shared.at(0));
  auto* const taken = reinterpret_cast<std::uint64_t*>(shared.at(0) + 64);
  for (long i = 0; i < argument; ++i) {
    std::uint64_t number = 0;
    const rma_status_t added = i % 2 == 0 ? rma_atomic64(RMA_FETCH_ADD, counter, 1, 0, &number, 0)
                                          : rma_fetch_add8(counter, 1, &number, 0);
    if (!expect_ok(added, "fetch-and-add")) return;
    const std::uint64_t one = 1;
    if (!expect(number < static_cast<std::uint64_t>(argument * rma_size()), "a number in range")) return;
    expect_ok(rma_atomic64(RMA_FETCH_ADD, taken + number, one, 0, nullptr, 0), "mark");
  }
  barrier();
  if (rma_rank() != 0) return;
  expect(*counter == static_cast<std::uint64_t>(argument * rma_size()), "no addition is lost");
  expect(std::all_of(taken, taken + argument * rma_size(), [](std::uint64_t marks) { return marks == 1; }),
         "every number was given out once");
  std::uint64_t old = 0;
  expect_ok(rma_atomic64(RMA_SWAP, counter, 7, 0, &old, 0), "swap");
  expect_ok(rma_atomic64(RMA_XOR, counter, 5, 0, &old, 0), "xor");
  expect(old == 7, "swap has stored");
  expect_ok(rma_atomic64(RMA_FETCH, counter, 0, 0, &old, 0), "fetch");
  expect(old == 2, "xor has stored");
}

/// 4-byte operations between hosts are refused, by a text that says so.
void four_bytes() {
  const Shared shared(64);
  const int far = first_of_another_host();
  expect(far != rma_rank(), "this needs two hosts");
  std::uint32_t old = 0;
  expect(rma_atomic32(RMA_FETCH_ADD, reinterpret_cast<std::uint32_t*>(shared.at(far)), 1, 0, &old, far) ==
             RMA_ERR_UNSUPPORTED,
         "refused");
  expect(error_names("rank " + std::to_string(far)) && error_names("4 bytes"),
         "the text says what and whose");
  expect_ok(
      rma_atomic32(RMA_FETCH_ADD, reinterpret_cast<std::uint32_t*>(shared.mine), 1, 0, &old, rma_rank()),
      "on this host");
  barrier();
}

/// From a buffer whose memory is replaced between two transfers, at the same address.
void reuse_address() {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const Shared shared(kBytes);
  const int far = first_of_another_host();
  const auto map = [&](void* where) {
    return mmap(where, kBytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | (where != nullptr ? MAP_FIXED : 0), -1, 0);
  };
  std::vector<char> back(kBytes);
  void* buffer = map(nullptr);
  for (int round = 1; round <= 8; ++round) {
    std::memset(buffer, round, kBytes);
    expect_ok(rma_put(shared.at(far), buffer, kBytes, far), "put");
    expect_ok(rma_fence(far), "fence");
    expect_ok(rma_get(back.data(), shared.at(far), kBytes, far), "get");
    expect(std::all_of(back.begin(), back.end(), [&](char byte) { return byte == round; }),
           "what arrived is the buffer's present content");
    if (round % 2 == 0) munmap(buffer, kBytes);
    expect(map(buffer) == buffer, "mapped at the same address");
  }
  // And into one: a stale registration would write to the old memory.
  for (int round = 1; round <= 4; ++round) {
    std::memset(back.data(), 100 + round, kBytes);
    expect_ok(rma_put(shared.at(far), back.data(), kBytes, far), "put");
    expect_ok(rma_get(buffer, shared.at(far), kBytes, far), "get");
    expect(std::memcmp(buffer, back.data(), kBytes) == 0, "what is got is in the buffer's present memory");
    munmap(buffer, kBytes);
    expect(map(buffer) == buffer, "mapped at the same address");
  }
  munmap(buffer, kBytes);
  barrier();
}

/// More memory than the limit lets a process register: it is given out and usable here; from elsewhere part
/// of it is refused by a text. `argument` MiB.
void memory_limit() {
  const std::size_t bytes = static_cast<std::size_t>(argument) << 20U;
  const Shared shared(bytes);
  std::memset(shared.mine, rma_rank() + 1, bytes);
  barrier();
  const int far = first_of_another_host();
  std::size_t reached = 0;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes; at += std::size_t{1} << 16) {
    char byte = 0;
    const rma_status_t status = rma_get(&byte, shared.at(far) + at, 1, far);
    if (status == RMA_SUCCESS) {
      ++reached;
      expect(byte == far + 1, "the right byte");
    } else {
      ++refused;
      expect(status == RMA_ERR_UNSUPPORTED && error_names("ulimit -l") &&
                 error_names("rank " + std::to_string(far)),
             "refused with what to do about it");
    }
  }
  std::printf("rank %d: of %zu places %zu were reached\n", rma_rank(), reached + refused, reached);
  expect(refused > 0, "the limit was felt");
  std::vector<char> buffer(std::size_t{8} << 20);
  const rma_status_t large = rma_put(shared.at(rma_rank()), buffer.data(), buffer.size() / 8, rma_rank());
  expect_ok(large, "put to oneself");
  barrier();
}

/// Nobody talks to anybody.
void idle() { expect(rma_size() > 1, "several ranks"); }

/// The victim, rank `argument`, ends in its own way; the others find out by operations to it, in time, and go
/// on with each other. They end the job, and say why.
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
  // The lowest survivor ends the job when the others have had time to say what they saw.
  if (rma_rank() != (victim == 0 ? 1 : 0)) std::this_thread::sleep_for(std::chrono::seconds(30));
  std::this_thread::sleep_for(std::chrono::seconds(3));
  rma_abort(failures == 0 ? 9 : 1,
            failures == 0 ? "survivors agree: a rank was lost" : "something was wrong");
}

void killed() {
  survive([] { std::raise(SIGKILL); });
}
/// The script makes the victim's host vanish once this file is there.
void vanished() {
  survive([] {
    std::printf("now\n");
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(600));
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string_view, void (*)()> cases = {{"traffic", traffic},
                                                        {"lossy", lossy},
                                                        {"hammer", hammer},
                                                        {"four_bytes", four_bytes},
                                                        {"reuse_address", reuse_address},
                                                        {"memory_limit", memory_limit},
                                                        {"idle", idle},
                                                        {"killed", killed},
                                                        {"vanished", vanished}};
  const auto found = argc >= 2 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    std::fprintf(stderr, "usage: rma-cluster-job CASE [NUMBER]\n");
    return 2;
  }
  if (argc > 2) argument = std::strtol(argv[2], nullptr, 10);
  if (rma_init() != RMA_SUCCESS) {
    std::fprintf(stderr, "rma_init: %s\n", rma_last_error());
    return 1;
  }
  const int rank = rma_rank();
  found->second();
  expect_ok(rma_finalize(), "finalize");
  if (failures == 0 && rank == 0) std::printf("%s: passed\n", argv[1]);
  return failures == 0 ? 0 : 1;
}
