// One rank of the jobs of job_cases.py: `rma-multi-job CASE`. Prints the expected text, or the reason of a
// failure.

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "rank %d: %s; last error: %s\n", rma_rank(), what, rma_last_error());
}

void expect_ok(rma_status_t status, const char* what) { expect(status == RMA_SUCCESS, what); }

bool error_names(std::string_view word) {
  return std::string_view(rma_last_error()).find(word) != std::string::npos;
}

void barrier() { expect_ok(rma_barrier(rma_team_world()), "barrier"); }

void some_traffic() {
  std::vector<void*> addresses(static_cast<std::size_t>(rma_size()));
  void* mine = nullptr;
  expect_ok(rma_malloc(rma_team_world(), 1000, 0, addresses.data(), &mine), "malloc");
  const int next = (rma_rank() + 1) % rma_size();
  const std::vector<char> data(1000, static_cast<char>(rma_rank() + 1));
  expect_ok(rma_put(addresses[static_cast<std::size_t>(next)], data.data(), 1000, next), "put");
  barrier();
  const int before = (rma_rank() + rma_size() - 1) % rma_size();
  expect(static_cast<char*>(mine)[999] == static_cast<char>(before + 1), "what the rank before has put");
  std::vector<char> back(1000);
  expect_ok(rma_get(back.data(), addresses[static_cast<std::size_t>(next)], 1000, next), "get");
  expect(back == data, "what was put is got back");
  expect_ok(rma_free(rma_team_world(), mine), "free");
}

namespace {

/// RMA_HEAP_SIZE=16M: rank 1 asks for four times that.
void no_memory() {
  const bool greedy = rma_rank() == 1;
  void* mine = nullptr;
  const rma_status_t status = rma_malloc(rma_team_world(), greedy ? 64U << 20 : 1000, 0, nullptr, &mine);
  expect(status == RMA_ERR_NO_MEMORY, "one rank has no memory, so all fail");
  expect(error_names("rma_malloc") && error_names("rank 1"), "the text names call and rank");
  if (greedy)
    expect(error_names("67108864") && error_names("16777216") && error_names("RMA_HEAP_SIZE"),
           "the text names what was asked for, the limit and the setting");
  // The heap is intact: small blocks can fill it, be freed, and fill it again.
  std::size_t first = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> blocks;
    void* block = nullptr;
    while (rma_malloc_local(256U << 10, 0, &block) == RMA_SUCCESS) {
      std::memset(block, round, 256U << 10);
      blocks.push_back(block);
    }
    expect(error_names("rma_malloc_local") && error_names("262144") && error_names("RMA_HEAP_SIZE"),
           "the text of the heap's end");
    if (round == 0) first = blocks.size();
    expect(blocks.size() >= 48 && blocks.size() == first, "as many blocks as before");
    for (void* const old : blocks) expect_ok(rma_free_local(old), "free");
  }
  some_traffic();
}

/// With RMA_CMA=off no rank may access another rank's memory outside the heap, so the owner's helper copies.
void cma_off() {
  std::vector<char> block(1000, 'a');
  expect_ok(rma_register(block.data(), block.size()), "register");
  std::vector<char*> blocks(static_cast<std::size_t>(rma_size()));
  char* const address = block.data();
  expect_ok(rma_allgather(rma_team_world(), blocks.data(), &address, sizeof address), "allgather");
  const int next = (rma_rank() + 1) % rma_size();
  char* const there = blocks[static_cast<std::size_t>(next)];
  const std::vector<char> data(100, 'b');
  expect_ok(rma_put(there, data.data(), 100, next), "put");
  rma_request_t request = RMA_REQUEST_NULL;
  expect_ok(rma_put_nb(there + 100, data.data(), 100, next, &request), "nonblocking put");
  expect_ok(rma_wait(&request), "wait");
  expect_ok(rma_put_nbi(there + 200, data.data(), 100, next), "implicit put");
  expect_ok(rma_fence(next), "fence");
  std::vector<char> back(300);
  expect_ok(rma_get(back.data(), there, 300, next), "get");
  expect(back == std::vector<char>(300, 'b'), "the get reads what was put");
  barrier();
  std::vector<char> expected(1000, 'a');
  std::fill_n(expected.begin(), 300, 'b');
  expect(block == expected, "the helper has written");
  expect(rma_put(blocks[static_cast<std::size_t>(next)] + 950, data.data(), 100, next) == RMA_ERR_ADDRESS,
         "memory beyond the region is refused");
  barrier();
  expect_ok(rma_unregister(block.data()), "unregister");
  some_traffic();
}

/// Joins and leaves repeatedly, and nested.
void again() {
  const int rank = rma_rank();
  const int size = rma_size();
  for (int cycle = 0; cycle < 8; ++cycle) {
    some_traffic();
    expect_ok(rma_init(), "nested init");
    expect_ok(rma_finalize(), "nested finalize");
    expect(rma_initialized() == 1, "still initialized");
    expect_ok(rma_finalize(), "finalize");
    expect(rma_initialized() == 0 && rma_rank() == -1 && rma_size() == -1, "left");
    expect_ok(rma_init(), "init again");
    expect(rma_rank() == rank && rma_size() == size, "the same place as before");
  }
}

/// Handles from before rma_finalize, and of freed objects, are invalid, even if the next object of their kind
/// is made at once.
void stale() {
  rma_team_t world = rma_team_world();
  for (int cycle = 0; cycle < 4; ++cycle) {
    const rma_team_t old_world = world;
    rma_team_t team = nullptr;
    rma_mutexes_t mutexes = nullptr;
    expect_ok(rma_team_split(rma_team_world(), 0, 0, &team), "split");
    expect_ok(rma_mutexes_create(rma_team_world(), 1, &mutexes), "mutexes");
    expect_ok(rma_barrier(team), "barrier");  // the thread remembers the team it used last
    const rma_team_t left = team;
    const rma_mutexes_t left_mutexes = mutexes;
    if (cycle % 2 == 0) {
      expect_ok(rma_finalize(), "finalize");
      expect_ok(rma_init(), "init again");
      world = rma_team_world();
      expect(world != old_world && rma_barrier(old_world) == RMA_ERR_ARGUMENT, "the old world is none");
    } else {
      expect_ok(rma_mutexes_destroy(&mutexes), "destroy");
      expect_ok(rma_team_free(&team), "free");
    }
    int size = 0;
    // The first new object gets the memory of the object that was just freed.
    expect_ok(rma_team_split(rma_team_world(), 0, 0, &team), "split");
    expect_ok(rma_mutexes_create(rma_team_world(), 1, &mutexes), "mutexes");
    expect(rma_barrier(left) == RMA_ERR_ARGUMENT, "barrier of a stale team");
    expect(rma_team_info(left, nullptr, &size) == RMA_ERR_ARGUMENT, "stale team");
    expect(rma_lock(left_mutexes, 0, rma_rank()) == RMA_ERR_ARGUMENT, "stale mutexes");
    expect_ok(rma_mutexes_destroy(&mutexes), "destroy");
    expect_ok(rma_team_free(&team), "free");
  }
}

/// Returns the first request of a put to registered memory of the next rank.
rma_request_t first_request(std::vector<char>& block, void* there) {
  const int next = (rma_rank() + 1) % rma_size();
  rma_request_t request = RMA_REQUEST_NULL;
  expect_ok(rma_put_nb(there, block.data(), block.size(), next, &request), "put_nb");
  return request;
}

/// A request from before rma_finalize is invalid, although the next job's requests begin at the same slot.
void stale_request() {
  static std::vector<char> block(100);
  static std::vector<char> target(100);
  for (int cycle = 0; cycle < 3; ++cycle) {
    expect_ok(rma_register(target.data(), target.size()), "register");
    std::vector<void*> all(static_cast<std::size_t>(rma_size()));
    void* const mine = target.data();
    expect_ok(rma_allgather(rma_team_world(), all.data(), &mine, sizeof mine), "allgather");
    void* const there = all[static_cast<std::size_t>((rma_rank() + 1) % rma_size())];
    rma_request_t old = first_request(block, there);
    expect(old > RMA_REQUEST_COMPLETE, "a request that lives");
    rma_request_t again = old;
    expect_ok(rma_wait(&again), "wait");
    barrier();
    expect_ok(rma_finalize(), "finalize");
    expect_ok(rma_init(), "init again");
    expect_ok(rma_register(target.data(), target.size()), "register");
    barrier();
    rma_request_t fresh = first_request(block, there);
    expect(fresh != old, "another handle");
    expect(rma_wait(&old) == RMA_ERR_ARGUMENT, "the old one is refused");
    expect_ok(rma_wait(&fresh), "wait");
    barrier();
    expect_ok(rma_unregister(target.data()), "unregister");
  }
}

/// 100,000 collective cycles: no leak, which would soon fill a heap of 16 MiB.
void churn() {
  for (int i = 0; i < 100'000; ++i) {
    void* mine = nullptr;
    const rma_status_t status =
        rma_malloc(rma_team_world(), 1000 + static_cast<std::size_t>(i % 50) * 1000, 0, nullptr, &mine);
    expect_ok(status, "malloc");
    if (status != RMA_SUCCESS) return;
    *static_cast<volatile char*>(mine) = 1;
    expect_ok(rma_free(rma_team_world(), mine), "free");
  }
}

const std::map<std::string_view, std::function<void()>> kCases = {
    {"traffic", some_traffic},
    {"no_memory", no_memory},
    {"cma_off", cma_off},
    {"again", again},
    {"stale", stale},
    {"stale_request", stale_request},
    {"forked", forked},
    {"churn", churn},
    {"flood_both_ways", flood_both_ways},
    {"beyond_4_gib", beyond_4_gib},
    {"outside",
     [] {
       expect_ok(rma_finalize(), "finalize");
       refuse_everything();
       expect_ok(rma_init(), "init");
     }},
    // The others wait for rank 1, which never comes.
    {"killed",
     [] {
       barrier();
       if (rma_rank() == 1) std::raise(SIGKILL);
       barrier();
     }},
    {"exits_early",
     [] {
       barrier();
       if (rma_rank() == 1) std::_Exit(3);
       barrier();
     }},
    {"abort",
     [] {
       barrier();
       if (rma_rank() == 2) rma_abort(9, "this job has seen enough");
       barrier();
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  const auto found = kCases.find(name);
  if (found == kCases.end()) {
    std::fprintf(stderr, "no case '%s'\n", argc == 2 ? argv[1] : "");
    return 2;
  }
  if (name == "outside") refuse_everything();
  if (const rma_status_t status = rma_init(); status != RMA_SUCCESS) {
    std::fprintf(stderr, "%s %s\n", rma_strerror(status), rma_last_error());
    return 1;
  }
  found->second();
  const int rank = rma_rank();
  const int size = rma_size();
  expect_ok(rma_finalize(), "finalize");
  if (name == "outside") refuse_everything();
  if (failures == 0) std::printf("rank %d of %d passed\n", rank, size);
  return failures == 0 ? 0 : 1;
}
