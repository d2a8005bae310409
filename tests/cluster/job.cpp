// One rank of the jobs that the scripts of this folder run: `rma-cluster-job CASE [ARGUMENT]`. Exits with 0
// when all is as it should be, and says on standard error what is not.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

/// `bytes` bytes at every rank, zeroed: of the heap, or registered.
struct Shared {
  enum class Kind { heap, registered };

  explicit Shared(std::size_t bytes, Kind memory = Kind::heap)
      : kind(memory), addresses(static_cast<std::size_t>(rma_size())) {
    if (kind == Kind::heap) {
      void* address = nullptr;
      expect_ok(rma_malloc(rma_team_world(), bytes, 0, addresses.data(), &address), "malloc");
      mine = static_cast<char*>(address);
      std::memset(mine, 0, bytes);
    } else {
      own.resize(bytes);
      mine = own.data();
      expect_ok(rma_register(mine, bytes), "register");
      expect_ok(rma_allgather(rma_team_world(), addresses.data(), &mine, sizeof mine), "allgather");
    }
    barrier();
  }
  ~Shared() {
    if (kind == Kind::heap) {
      expect_ok(rma_free(rma_team_world(), mine), "free");
    } else {
      barrier();
      expect_ok(rma_unregister(mine), "unregister");
    }
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  [[nodiscard]] char* at(int rank) const {
    return static_cast<char*>(addresses[static_cast<std::size_t>(rank)]);
  }

  Kind kind;
  std::vector<void*> addresses;
  std::vector<char> own;
  char* mine = nullptr;
};

int first_of_another_host() {
  for (int rank = 0; rank < rma_size(); ++rank) {
    if (rma_same_host(rank) == 0) return rank;
  }
  return rma_rank();
}

/// What this rank's slices of all ranks' memory should hold, by rank.
using Models = std::vector<std::vector<char>>;

std::size_t ranks() { return static_cast<std::size_t>(rma_size()); }
char* slice(const Shared& shared, int rank, std::size_t bytes) {
  return shared.at(rank) + bytes * static_cast<std::size_t>(rma_rank());
}

/// Random puts and gets of all sizes with slices of every rank, from and into one of `buffers` of a slice's
/// size.
void exchange(const Shared& shared, Models& models, const std::vector<char*>& buffers, long rounds) {
  const std::size_t bytes_of_slice = models[0].size();
  std::mt19937_64 random(20261121U + static_cast<unsigned>(rma_rank()));
  for (long round = 0; round < rounds && !lost; ++round) {
    const int target = static_cast<int>(random() % static_cast<unsigned>(rma_size()));
    std::vector<char>& model = models[static_cast<std::size_t>(target)];
    const std::size_t bytes = 1 + random() % (std::size_t{1} << random() % 19);
    const std::size_t at = random() % (bytes_of_slice - bytes);
    char* const buffer = buffers[random() % buffers.size()];
    char* const there = slice(shared, target, bytes_of_slice) + at;
    if (random() % 3 != 0) {
      for (std::size_t i = 0; i < bytes; ++i) buffer[i] = static_cast<char>(random());
      expect_ok(rma_put(there, buffer, bytes, target), "put");
      std::memcpy(model.data() + at, buffer, bytes);
    } else {
      expect_ok(rma_get(buffer, there, bytes, target), "get");
      expect(lost || std::memcmp(buffer, model.data() + at, bytes) == 0, "a get sees what was put before it");
    }
  }
  expect_ok(rma_fence_all(), "fence_all");
  for (int target = 0; target < rma_size(); ++target) {
    const std::vector<char>& model = models[static_cast<std::size_t>(target)];
    for (char* const buffer : buffers) {
      expect_ok(rma_get(buffer, slice(shared, target, bytes_of_slice), bytes_of_slice, target),
                "get of a whole slice");
      expect(lost || std::memcmp(buffer, model.data(), bytes_of_slice) == 0, "a slice is as its model");
    }
  }
  barrier();
}

/// Traffic with every rank. `argument` rounds.
void traffic() {
  constexpr std::size_t kSlice = std::size_t{3} << 18;
  const Shared shared(kSlice * ranks());
  Models models(ranks(), std::vector<char>(kSlice));
  for (int target = 0; target < rma_size(); ++target) {
    expect_ok(rma_put(slice(shared, target, kSlice), models[0].data(), 1, target), "first put");
  }
  barrier();
  if (rma_rank() == 0) {
    std::printf("running\n");  // what the scripts wait for
    std::fflush(stdout);
  }
  std::vector<char> buffer(kSlice);
  exchange(shared, models, {buffer.data()}, argument);
}

/// The same where so much is lost that ranks may find each other gone: what they were told was done, was
/// done.
void lossy() {
  may_lose = true;
  traffic();
  std::fprintf(stderr, "rank %d: %s\n", rma_rank(), lost ? "a rank was lost" : "complete");
}

rma_status_t add_one(std::uint64_t* word, std::uint64_t* old, bool inlined, int rank) {
  return inlined ? rma_fetch_add8(word, 1, old, rank) : rma_atomic64(RMA_FETCH_ADD, word, 1, 0, old, rank);
}
rma_status_t add_one(std::uint32_t* word, std::uint32_t* old, bool /*inlined*/, int rank) {
  return rma_atomic32(RMA_FETCH_ADD, word, 1, 0, old, rank);
}

/// Every rank adds to one counter of rank 0, its owner and its neighbours included: nothing is lost, and no
/// value is given out twice.
template <typename Word>
void hammer() {
  const auto total = static_cast<std::size_t>(argument) * ranks();
  const Shared shared(64 + sizeof(Word) * total);
  auto* const counter = reinterpret_cast<Word*>(shared.at(0));
  auto* const taken = reinterpret_cast<Word*>(shared.at(0) + 64);
  for (long i = 0; i < argument; ++i) {
    Word number = 0;
    if (!expect_ok(add_one(counter, &number, i % 2 == 0, 0), "fetch-and-add")) return;
    if (!expect(number < total, "a number in range")) return;
    expect_ok(add_one(taken + number, nullptr, false, 0), "mark");
  }
  barrier();
  if (rma_rank() == 0) {
    expect(*counter == total, "no addition is lost");
    expect(std::all_of(taken, taken + total, [](Word marks) { return marks == 1; }),
           "every number was given out once");
  }
  barrier();
}

rma_status_t atomic(rma_atomic_op_t op, std::uint64_t* word, std::uint64_t operand, std::uint64_t compare,
                    std::uint64_t* old, int rank) {
  return rma_atomic64(op, word, operand, compare, old, rank);
}
rma_status_t atomic(rma_atomic_op_t op, std::uint32_t* word, std::uint32_t operand, std::uint32_t compare,
                    std::uint32_t* old, int rank) {
  return rma_atomic32(op, word, operand, compare, old, rank);
}

/// Every operation on a word of `rank`, which holds 7: what it returns, and what it leaves. The word behind
/// it stays.
template <typename Word>
void operations_on(char* there, int rank) {
  struct Step {
    rma_atomic_op_t op;
    Word operand;
    Word compare;
    Word after;
  };
  const Word ones = ~Word{0};
  const std::vector<Step> steps = {{RMA_FETCH_ADD, 5, 0, 12},
                                   {RMA_FETCH_ADD, ones, 0, 11},
                                   {RMA_SWAP, 100, 0, 100},
                                   {RMA_COMPARE_SWAP, 1, 99, 100},
                                   {RMA_COMPARE_SWAP, 6, 100, 6},
                                   {RMA_AND, 3, 0, 2},
                                   {RMA_OR, 9, 0, 11},
                                   {RMA_XOR, ones, 0, static_cast<Word>(ones - 11)},
                                   {RMA_SET, 42, 0, 42},
                                   {RMA_FETCH, 5, 5, 42}};
  auto* const word = reinterpret_cast<Word*>(there);
  const std::vector<Word> first = {7, ones};
  expect_ok(rma_put(there, first.data(), 2 * sizeof(Word), rank), "put");
  Word before = 7;
  for (const Step& step : steps) {
    Word old = before;
    expect_ok(atomic(step.op, word, step.operand, step.compare, &old, rank), "atomic");
    expect(step.op == RMA_SET || old == before, "the value before");
    std::vector<Word> now(2);
    expect_ok(rma_get(now.data(), there, 2 * sizeof(Word), rank), "get");
    expect(now[0] == step.after, "the value after");
    expect(now[1] == ones, "the word behind it");
    before = step.after;
  }
}

/// Every atomic operation on words of every rank.
template <typename Word>
void operations() {
  const Shared shared(2 * sizeof(Word) * ranks());
  for (int rank = 0; rank < rma_size(); ++rank) {
    operations_on<Word>(slice(shared, rank, 2 * sizeof(Word)), rank);
  }
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

/// Words of 4 and 8 bytes and elements to accumulate on, spread over all of a rank's memory, which all ranks
/// update at once.
void count_together(const Shared& shared, std::size_t bytes) {
  constexpr std::size_t kDistance = std::size_t{1} << 17;
  constexpr std::size_t kElements = 1000;
  struct Place {
    std::uint64_t eight;
    std::uint32_t four;
    std::uint32_t untouched;
    std::array<long, kElements> sums;
  };
  std::memset(shared.mine, 0, bytes);
  barrier();
  std::array<long, kElements> ones = {};
  ones.fill(1);
  const long two = 2;
  for (int rank = 0; rank < rma_size(); ++rank) {
    for (std::size_t at = 0; at < bytes; at += kDistance) {
      auto* const place = reinterpret_cast<Place*>(shared.at(rank) + at);
      expect_ok(rma_atomic64(RMA_FETCH_ADD, &place->eight, 1, 0, nullptr, rank), "8-byte fetch-and-add");
      expect_ok(rma_atomic32(RMA_FETCH_ADD, &place->four, 1, 0, nullptr, rank), "4-byte fetch-and-add");
      expect_ok(rma_acc(place->sums.data(), ones.data(), kElements, RMA_LONG, &two, rank), "accumulate");
    }
  }
  barrier();
  for (std::size_t at = 0; at < bytes; at += kDistance) {
    const auto* const place = reinterpret_cast<const Place*>(shared.mine + at);
    expect(place->eight == ranks(), "8-byte words");
    expect(place->four == ranks() && place->untouched == 0, "4-byte words");
    expect(
        std::all_of(place->sums.begin(), place->sums.end(), [](long sum) { return sum == 2L * rma_size(); }),
        "sums");
  }
  barrier();
}

/// All of a rank's memory, by transfers with buffers of these, and by updates of all ranks at once.
void use_all(const Shared& shared, std::size_t bytes, const std::vector<char*>& buffers) {
  Models models(ranks(), std::vector<char>(bytes / ranks()));
  for (int rank = 0; rank < rma_size(); ++rank) {
    std::vector<char>& model = models[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < model.size(); ++i) model[i] = static_cast<char>(i ^ (i >> 8U));
    expect_ok(rma_put(slice(shared, rank, model.size()), model.data(), model.size(), rank),
              "put of a whole slice");
  }
  exchange(shared, models, buffers, 60);
  count_together(shared, bytes);
}

/// More memory than the limit lets a process register, of the heap and of the user's: all of it is as good as
/// any other, at either side of a transfer. `argument` MiB.
void memory_limit() {
  const std::size_t bytes = static_cast<std::size_t>(argument) << 20U;
  void* early = nullptr;  // can be registered, as it is the first
  expect_ok(rma_malloc_local(bytes / ranks(), 0, &early), "malloc_local");
  const Shared heap(bytes);
  void* late = nullptr;
  expect_ok(rma_malloc_local(bytes / ranks(), 0, &late), "malloc_local");
  std::vector<char> plain(bytes / ranks());
  const std::vector<char*> buffers = {static_cast<char*>(early), static_cast<char*>(late), plain.data()};
  use_all(heap, bytes, buffers);
  {
    const Shared users(bytes, Shared::Kind::registered);  // when nothing of the limit is left
    use_all(users, bytes, buffers);
    for (int rank = 0; rank < rma_size(); ++rank) {
      operations_on<std::uint32_t>(users.at(rank) + std::size_t{64} * static_cast<unsigned>(rma_rank()),
                                   rank);
      operations_on<std::uint64_t>(users.at(rank) + std::size_t{64} * static_cast<unsigned>(rma_rank()),
                                   rank);
    }
  }
  expect_ok(rma_free_local(late), "free_local");
  expect_ok(rma_free_local(early), "free_local");
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
                                                        {"hammer_4", hammer<std::uint32_t>},
                                                        {"hammer_8", hammer<std::uint64_t>},
                                                        {"operations_4", operations<std::uint32_t>},
                                                        {"operations_8", operations<std::uint64_t>},
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
