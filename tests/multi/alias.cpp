// One rank of a job whose ranks reach each other's static variables by aliases (rma_alias), through the
// interface of C++.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "rma/rma.hpp"

namespace {

struct Variables {
  std::array<std::int64_t, 64> data = {};
  std::int64_t counter = 5;
  std::uint64_t flag = 0;
};
Variables variables;
int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "rank %d: %s\n", rma_rank(), what);
}

void run() {
  const rma::Environment environment;
  const int next = (rma_rank() + 1) % rma_size();
  std::vector<Variables*> all(static_cast<std::size_t>(rma_size()));
  Variables* const mine = rma::find_alias(std::span(&variables, 1)).address();
  rma::check(rma_allgather(rma_team_world(), all.data(), &mine, sizeof mine));
  Variables* const there = all[static_cast<std::size_t>(next)];
  const rma::AliasRange range = rma::alias_range();
  const auto offset = reinterpret_cast<std::byte*>(&variables) - range.memory.data();
  expect(offset >= 0 && static_cast<std::size_t>(offset) + sizeof variables <= range.memory.size(),
         "the memory of the alias");
  expect(range.in_heap + offset == reinterpret_cast<std::byte*>(mine), "the alias in the heap");

  expect(rma_same_host(next) == 0 || rma_direct_address(there, sizeof *there, next) != nullptr,
         "a mapped alias");
  std::array<std::int64_t, 64> sent = {};
  sent.fill(1000 + rma_rank());
  rma::check(rma_put_notify(there->data.data(), sent.data(), sizeof sent, &there->flag, 1, next));
  rma::check(rma_wait_until(&variables.flag, RMA_EQ, 1, nullptr));
  const int previous = (rma_rank() + rma_size() - 1) % rma_size();
  expect(variables.data[63] == 1000 + previous, "what the rank before has put");
  rma::check(rma_barrier(rma_team_world()));
  std::int64_t old = 0;
  rma::check(rma_atomic64(RMA_FETCH_ADD, reinterpret_cast<std::uint64_t*>(&all[0]->counter), 1, 0,
                          reinterpret_cast<std::uint64_t*>(&old), 0));
  expect(old >= 5 && old < 5 + rma_size(), "a ticket");
  rma::check(rma_barrier(rma_team_world()));
  if (rma_rank() == 0) expect(variables.counter == 5 + rma_size(), "the sum of all tickets");
  expect(rma_alias(&variables, sizeof variables) == RMA_SUCCESS, "the same alias again");
}

/// Another thread runs when rma_init is to make the alias: the job goes on without it, and says why.
void refused() {
  std::atomic<bool> over = false;
  std::thread other([&] { over.wait(false); });
  rma::alias_at_init(std::span(&variables, 1));
  {
    const rma::Environment environment;
    void* address = nullptr;
    expect(rma_find_alias(&variables, sizeof variables, &address) == RMA_ERR_ADDRESS, "no alias");
    expect(rma_alias(&variables, sizeof variables) == RMA_ERR_STATE, "the alias is refused");
    expect(std::strstr(rma_last_error(), "threads") != nullptr, rma_last_error());
    const rma::AliasRange range = rma::alias_range();
    expect(range.memory.data() == reinterpret_cast<std::byte*>(&variables), "the memory of the request");
    expect(range.memory.size() == sizeof variables && range.in_heap == nullptr, "no memory of the heap");
    expect(rma_find_alias(&variables, sizeof variables, &address) == RMA_ERR_ADDRESS, "no alias, later");
    expect(std::strstr(rma_last_error(), "threads") != nullptr, rma_last_error());
    expect(rma_register(&variables, sizeof variables) == RMA_SUCCESS, "the registration");
  }
  over = true;
  over.notify_one();
  other.join();
}

}  // namespace

/// usage: rma-multi-alias [at-init | refused]
int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "refused") {
    refused();
  } else if (how == "at-init") {
    rma::alias_at_init(std::span(&variables, 1));
    int other = 0;
    expect(rma_alias_at_init(&other, sizeof other) == RMA_ERR_STATE, "a second request");
  } else {
    rma::alias(std::span(&variables, 1));
  }
  // The second job finds the alias of the first.
  for (int job = 0; job < 2 && how != "refused"; ++job) {
    variables.counter = 5;
    variables.flag = 0;
    run();
  }
  if (failures == 0) std::puts("right");
  return failures == 0 ? 0 : 1;
}
