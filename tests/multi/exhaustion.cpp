// Lets memory run out in every call of the interface, at each of its allocations: `rma-multi-exhaustion`,
// alone or under rmarun. The operator new of this program, which the library uses too, fails on demand, so
// that every run is the same. A call that fails must return RMA_ERR_NO_MEMORY, leave neither allocations nor
// bytes of the heap behind, and succeed when there is memory again. For a collective call, one member after
// the other has no memory, and all members must fail.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/runtime/runtime.hpp"
#include "core/one_sided/remote_access.hpp"
#include "failing_new.hpp"
#include "messages/messages.hpp"
#include "rma/rma.h"

namespace {

int failures = 0;

void expect(bool good, std::string_view call, const char* what, std::int64_t detail = 0) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "rank %d: %.*s: %s (%lld); last error: %s\n", rma_rank(),
               static_cast<int>(call.size()), call.data(), what, static_cast<long long>(detail),
               rma_last_error());
}

/// The blocks and bytes of the heap that are in use.
struct Held {
  std::size_t bytes = librma::current_runtime.load()->job->memory().allocator().bytes_in_use();
  std::size_t blocks = librma::current_runtime.load()->job->memory().allocator().blocks_in_use();
};

struct Call {
  const char* name;
  std::function<rma_status_t()> make;
  std::function<rma_status_t()> unmake = [] { return RMA_SUCCESS; };
  rma_status_t expected = RMA_SUCCESS;  ///< the result if there is enough memory
};

/// Arguments that the calls share. Their memory is allocated before.
struct World {
  rma_team_t team = rma_team_world();
  int rank = rma_rank();
  int size = rma_size();
  int other = (rank + 1) % size;
  std::vector<void*> heap = std::vector<void*>(static_cast<std::size_t>(size));
  std::vector<void*> foreign = std::vector<void*>(static_cast<std::size_t>(size));
  alignas(64) std::array<std::byte, 4096> registered = {};
  alignas(64) std::array<std::byte, 4096> buffer = {};
  std::vector<int> everyone;
  std::vector<std::uint64_t> gathered = std::vector<std::uint64_t>(static_cast<std::size_t>(size));

  World() {
    for (int i = 0; i < size; ++i) everyone.push_back(i);
    expect(rma_malloc(team, 4096, 0, heap.data(), nullptr) == RMA_SUCCESS, "World", "malloc");
    void* const mine = registered.data();
    expect(rma_register(mine, registered.size()) == RMA_SUCCESS, "World", "register");
    expect(rma_allgather(team, foreign.data(), &mine, sizeof mine) == RMA_SUCCESS, "World", "allgather");
  }
  ~World() {
    rma_barrier(team);
    rma_unregister(registered.data());
    rma_free(team, heap[static_cast<std::size_t>(rank)]);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  [[nodiscard]] void* far() const { return heap[static_cast<std::size_t>(other)]; }
  [[nodiscard]] void* outside() const { return foreign[static_cast<std::size_t>(other)]; }
};

/// Makes the call while its allocation number `n` (from 0) fails, and perhaps all later ones. Returns whether
/// an allocation failed.
bool without_memory(const Call& call, std::int64_t n, bool all_following, rma_status_t& status) {
  let_fail(n, all_following);
  status = call.make();
  const char* const text = rma_last_error();
  const bool ran_out = end_failing();
  expect(status == RMA_SUCCESS || std::string_view(text).starts_with("rma_"), call.name,
         "the text names the call");
  return ran_out;
}

/// Runs a sweep until everything that grows only once has grown, and then some more times. One of these must
/// leave no more allocations than it found. (One failure alone may give the heap's tables a free range more
/// or less. A message that came before its receive is kept in memory of its own, so another run may find or
/// leave one.)
void settle(const char* name, const std::function<void()>& sweep) {
  sweep();
  sweep();
  std::int64_t least = INT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t before = live_allocations();
    sweep();
    least = std::min(least, live_allocations() - before);
  }
  expect(least <= 0, name, "allocations left", least);
}

/// Calls of one member.
void sweep(const Call& call) {
  // Afterwards everything that grows once and stays exists.
  for (int i = 0; i < 2; ++i) {
    expect(call.make() == call.expected, call.name, "with memory");
    expect(call.expected != RMA_SUCCESS || call.unmake() == RMA_SUCCESS, call.name,
           "taken back, with memory");
  }
  for (const bool all_following : {false, true}) {
    bool ran_out = true;
    for (std::int64_t n = 0; ran_out; ++n) {
      const Held before;
      rma_status_t status = RMA_SUCCESS;
      ran_out = without_memory(call, n, all_following, status);
      if (!ran_out) expect(status == call.expected, call.name, "with memory enough", n);
      if (ran_out && status != call.expected)
        expect(status == RMA_ERR_NO_MEMORY, call.name, "the code", status);
      if (status == RMA_SUCCESS) expect(call.unmake() == RMA_SUCCESS, call.name, "taken back", n);
      const Held after;
      expect(after.bytes == before.bytes && after.blocks == before.blocks, call.name,
             "bytes of the heap left", n);
      if (n > 500) {
        expect(false, call.name, "no end of allocations");
        return;
      }
    }
  }
}

/// Makes the calls of all members, of which `poor` has no memory.
void sweep_collective(const Call& call, int poor, const World& world) {
  for (int i = 0; i < 2; ++i) {
    expect(call.make() == RMA_SUCCESS, call.name, "with memory");
    expect(call.unmake() == RMA_SUCCESS, call.name, "taken back, with memory");
  }
  std::int64_t going_on = 1;
  for (std::int64_t n = 0; going_on != 0; ++n) {
    const Held before;
    rma_status_t status = RMA_SUCCESS;
    bool ran_out = false;
    if (world.rank == poor) {
      ran_out = without_memory(call, n, n % 2 == 1, status);
    } else {
      status = call.make();
    }
    std::int64_t worst = 0;
    std::int64_t mine = status;
    expect(rma_allreduce(world.team, &worst, &mine, 1, RMA_LONG, RMA_MAX) == RMA_SUCCESS, call.name,
           "allreduce");
    expect(worst == mine, call.name, "all fail alike, or none does", mine);
    expect(status == RMA_SUCCESS || status == RMA_ERR_NO_MEMORY, call.name, "the code", status);
    if (status == RMA_SUCCESS) expect(call.unmake() == RMA_SUCCESS, call.name, "taken back", n);
    const Held after;
    expect(after.bytes == before.bytes && after.blocks == before.blocks, call.name, "bytes of the heap left",
           n);
    mine = ran_out ? 1 : 0;
    expect(rma_allreduce(world.team, &going_on, &mine, 1, RMA_LONG, RMA_MAX) == RMA_SUCCESS, call.name,
           "allreduce");
    if (n > 500) {
      expect(false, call.name, "no end of allocations");
      return;
    }
  }
}

void all_calls(World& world) {
  void* block = nullptr;
  int number = 0;
  std::uint64_t word = 0;
  std::size_t index = 0;
  rma_request_t request = RMA_REQUEST_NULL;
  rma_team_t team = nullptr;
  rma_mutexes_t mutexes = nullptr;
  rma_mutexes_t lockable = nullptr;
  expect(rma_mutexes_create(world.team, 2, &lockable) == RMA_SUCCESS, "World", "mutexes");
  auto* const near = world.buffer.data();
  auto* const far_word = static_cast<std::uint64_t*>(world.far());
  const std::array<std::size_t, 2> counts = {8, 4};
  const std::array<std::ptrdiff_t, 1> strides = {64};
  const std::array<void*, 3> there = {world.far(), static_cast<std::byte*>(world.far()) + 64,
                                      world.outside()};
  const std::array<const void*, 3> here = {near, near + 64, near + 128};
  const std::array<void*, 3> to_here = {near, near + 64, near + 128};
  const std::array<const void*, 3> from_there = {there[0], there[1], there[2]};
  const rma_iov_t out = {there.data(), here.data(), 3, 8};
  const rma_iov_t in = {to_here.data(), from_there.data(), 3, 8};
  const auto wait = [&] { return rma_wait(&request); };
  const auto* const s = strides.data();
  const auto* const c = counts.data();
  const std::vector<Call> calls = {
      {"rma_malloc_local", [&] { return rma_malloc_local(100, 0, &block); },
       [&] { return rma_free_local(block); }},
      {"rma_malloc_local, large", [&] { return rma_malloc_local(1U << 20U, 1U << 16U, &block); },
       [&] { return rma_free_local(block); }},
      {"rma_malloc_local, too large",
       [&] { return rma_malloc_local(std::size_t{1} << 50U, 0, &block); },
       {},
       RMA_ERR_NO_MEMORY},
      {"rma_free_local",
       [&] {
         const rma_status_t got = rma_malloc_local(1U << 20U, 0, &block);
         return got != RMA_SUCCESS ? got : rma_free_local(block);
       }},
      {"rma_free_local, of nothing", [&] { return rma_free_local(near); }, {}, RMA_ERR_ADDRESS},
      {"rma_register", [&] { return rma_register(near, 64); }, [&] { return rma_unregister(near); }},
      {"rma_register, again", [&] { return rma_register(world.registered.data(), world.registered.size()); },
       [&] { return rma_unregister(world.registered.data()); }},
      {"rma_unregister, of nothing", [&] { return rma_unregister(near + 1); }, {}, RMA_ERR_ADDRESS},
      {"rma_map", [&] { return rma_map(world.far(), 8, world.other, &block); }},
      {"rma_map, of nothing", [&] { return rma_map(near, 8, world.other, &block); }, {}, RMA_ERR_ADDRESS},
      {"rma_put", [&] { return rma_put(world.far(), near, 64, world.other); }},
      {"rma_put, no such rank", [&] { return rma_put(world.far(), near, 64, 77777); }, {}, RMA_ERR_RANK},
      {"rma_put, foreign", [&] { return rma_put(world.outside(), near, 64, world.other); }},
      {"rma_put_nb, foreign", [&] { return rma_put_nb(world.outside(), near, 64, world.other, &request); },
       wait},
      {"rma_put_nbi, foreign", [&] { return rma_put_nbi(world.outside(), near, 64, world.other); },
       [&] { return rma_fence(world.other); }},
      {"rma_put, to nowhere", [&] { return rma_put(near + 1, near, 64, world.other); }, {}, RMA_ERR_ADDRESS},
      {"rma_get, foreign", [&] { return rma_get(near, world.outside(), 64, world.other); }},
      {"rma_get_nb, foreign", [&] { return rma_get_nb(near, world.outside(), 64, world.other, &request); },
       wait},
      {"rma_get_nbi, foreign", [&] { return rma_get_nbi(near, world.outside(), 64, world.other); },
       [&] { return rma_fence_all(); }},
      {"rma_acc", [&] { return rma_acc(world.far(), near, 8, RMA_LONG, nullptr, world.other); }},
      {"rma_acc, foreign", [&] { return rma_acc(world.outside(), near, 8, RMA_LONG, nullptr, world.other); }},
      {"rma_acc_nb, foreign",
       [&] { return rma_acc_nb(world.outside(), near, 8, RMA_DOUBLE, nullptr, world.other, &request); },
       wait},
      {"rma_put_strided", [&] { return rma_put_strided(world.far(), s, near, s, c, 1, world.other); }},
      {"rma_put_strided, foreign",
       [&] { return rma_put_strided(world.outside(), s, near, s, c, 1, world.other); }},
      {"rma_put_strided_nb, foreign",
       [&] { return rma_put_strided_nb(world.outside(), s, near, s, c, 1, world.other, &request); }, wait},
      {"rma_get_strided, foreign",
       [&] { return rma_get_strided(near, s, world.outside(), s, c, 1, world.other); }},
      {"rma_get_strided_nbi, foreign",
       [&] { return rma_get_strided_nbi(near, s, world.outside(), s, c, 1, world.other); },
       [&] { return rma_fence_all(); }},
      {"rma_acc_strided, foreign",
       [&] { return rma_acc_strided(world.outside(), s, near, s, c, 1, RMA_LONG, nullptr, world.other); }},
      {"rma_put_vector", [&] { return rma_put_vector(&out, 1, world.other); }},
      {"rma_put_vector_nb", [&] { return rma_put_vector_nb(&out, 1, world.other, &request); }, wait},
      {"rma_get_vector", [&] { return rma_get_vector(&in, 1, world.other); }},
      {"rma_acc_vector", [&] { return rma_acc_vector(&out, 1, RMA_LONG, nullptr, world.other); }},
      {"rma_wait, for nothing",
       [&] {
         request = 0x500000001;
         return rma_wait(&request);
       },
       {},
       RMA_ERR_ARGUMENT},
      {"rma_recv_nb", [&] { return rma_recv_nb(near, 64, world.rank, 1, 0, nullptr, &request); },
       [&] {
         const rma_status_t cancelled = rma_cancel(request);
         const rma_status_t waited = rma_wait(&request);
         return cancelled == RMA_SUCCESS && waited == RMA_ERR_CANCELED ? RMA_SUCCESS : RMA_ERR_STATE;
       }},
      {"rma_send_nb, and its receive", [&] { return rma_send_nb(near, 64, world.rank, 1, 0, &request); },
       [&] {
         const rma_status_t received = rma_recv(near + 64, 64, world.rank, 1, 0, nullptr);
         const rma_status_t sent = rma_wait(&request);
         return received != RMA_SUCCESS ? received : sent;
       }},
      {"rma_test",
       [&] {
         request = RMA_REQUEST_COMPLETE;
         return rma_test(&request, &number);
       }},
      {"rma_wait_any",
       [&] {
         request = RMA_REQUEST_COMPLETE;
         return rma_wait_any(&request, 1, &index);
       }},
      {"rma_wait_all",
       [&] {
         request = RMA_REQUEST_COMPLETE;
         return rma_wait_all(&request, 1);
       }},
      {"rma_fence", [&] { return rma_fence(world.other); }},
      {"rma_fence_all", [&] { return rma_fence_all(); }},
      {"rma_atomic64", [&] { return rma_atomic64(RMA_FETCH_ADD, far_word, 1, 0, &word, world.other); }},
      {"rma_atomic64, foreign",
       [&] {
         return rma_atomic64(RMA_FETCH_ADD, static_cast<std::uint64_t*>(world.outside()), 1, 0, &word,
                             world.other);
       }},
      {"rma_atomic32",
       [&] {
         return rma_atomic32(RMA_SET, reinterpret_cast<std::uint32_t*>(far_word), 1, 0, nullptr, world.other);
       }},
      {"rma_put_notify", [&] { return rma_put_notify(world.outside(), near, 64, far_word, 1, world.other); }},
      {"rma_put_strided_notify",
       [&] { return rma_put_strided_notify(world.outside(), s, near, s, c, 1, far_word, 1, world.other); }},
      {"rma_wait_until", [&] { return rma_wait_until(&word, RMA_GE, 0, nullptr); }},
      {"rma_test_until", [&] { return rma_test_until(&word, RMA_GE, 0, &number); }},
      {"rma_lock", [&] { return rma_lock(lockable, static_cast<std::size_t>(world.rank % 2), world.rank); },
       [&] { return rma_unlock(lockable, static_cast<std::size_t>(world.rank % 2), world.rank); }},
      {"rma_unlock, not held", [&] { return rma_unlock(lockable, 1, world.rank); }, {}, RMA_ERR_STATE},
      {"rma_team_create", [&] { return rma_team_create(&world.rank, 1, &team); },
       [&] { return rma_team_free(&team); }},
      {"rma_team_create, twice",
       [&] {
         const std::array<int, 2> twice = {world.rank, world.rank};
         return rma_team_create(twice.data(), 2, &team);
       },
       {},
       RMA_ERR_ARGUMENT},
      {"rma_team_info", [&] { return rma_team_info(world.team, &number, &number); }},
      {"rma_team_world_rank", [&] { return rma_team_world_rank(world.team, 77, &number); }, {}, RMA_ERR_RANK},
      {"rma_init", [] { return rma_init(); }, [] { return rma_finalize(); }},
      {"rma_init_with", [] { return rma_init_with(nullptr); }, {}, RMA_ERR_ARGUMENT},
  };
  for (const Call& call : calls) settle(call.name, [&] { sweep(call); });
  rma_barrier(world.team);

  const std::vector<Call> collectives = {
      {"rma_malloc", [&] { return rma_malloc(world.team, 5000, 0, nullptr, &block); },
       [&] { return rma_free(world.team, block); }},
      {"rma_malloc, large", [&] { return rma_malloc(world.team, 1U << 20U, 0, nullptr, &block); },
       [&] { return rma_free(world.team, block); }},
      {"rma_mutexes_create", [&] { return rma_mutexes_create(world.team, 3, &mutexes); },
       [&] { return rma_mutexes_destroy(&mutexes); }},
      {"rma_team_create", [&] { return rma_team_create(world.everyone.data(), world.size, &team); },
       [&] { return rma_team_free(&team); }},
      {"rma_team_split", [&] { return rma_team_split(world.team, 0, -world.rank, &team); },
       [&] { return rma_team_free(&team); }},
      {"rma_barrier", [&] { return rma_barrier(world.team); }},
      {"rma_broadcast", [&] { return rma_broadcast(world.team, near, 4096, 0); }},
      {"rma_reduce", [&] { return rma_reduce(world.team, near, near + 2048, 100, RMA_LONG, RMA_SUM, 0); }},
      {"rma_allreduce", [&] { return rma_allreduce(world.team, near, near + 2048, 100, RMA_LONG, RMA_SUM); }},
      {"rma_allgather", [&] { return rma_allgather(world.team, world.gathered.data(), &word, sizeof word); }},
  };
  for (int poor = 0; poor < world.size; ++poor) {
    for (const Call& call : collectives) {
      settle(call.name, [&] { sweep_collective(call, poor, world); });
    }
  }
  expect(rma_mutexes_destroy(&lockable) == RMA_SUCCESS, "World", "mutexes");
}

/// Tests rma_init and rma_finalize, in a job of one: other ranks would wait for the one that fails.
void joining() {
  bool ran_out = true;
  for (std::int64_t n = 0; ran_out; ++n) {
    let_fail(n, false);
    const rma_status_t status = rma_init();
    ran_out = end_failing();
    if (status == RMA_SUCCESS) {
      let_fail(n % 20, n % 2 == 0);
      const rma_status_t left = rma_finalize();
      end_failing();
      expect(left == RMA_SUCCESS || left == RMA_ERR_NO_MEMORY, "rma_finalize", "the code", left);
    }
    expect(status == RMA_SUCCESS || (ran_out && status != RMA_ERR_STATE), "rma_init", "the code", status);
    expect(rma_initialized() == 0, "rma_init", "there is nothing", n);
  }
}

/// Receives a message of the library's own with no memory at all, in a context that was never used before:
/// one that has arrived, and one for which the thread waits.
void receive_in_need() {
  librma::Messages& messages = *librma::current_runtime.load()->messages;
  const int me = rma_rank();
  for (const bool later : {false, true}) {
    const std::uint32_t number = librma::kFirstOwnContext + 0x1234 + (later ? 1 : 0);
    librma::MessageContext& own = messages.context(number);
    std::uint64_t word = 0x5eed;
    const auto send = [&] {
      librma::AwaitedSend awaited;
      const auto data = librma::MessageData::of(std::as_bytes(std::span(&word, 1)));
      expect(messages.start_send(data, me, {.context = number, .tag = 7}, own, awaited).ok(), "send", "sent");
      expect(messages.finish_send(awaited).ok(), "send", "finished");
    };
    std::thread sender;
    if (later) {
      constexpr useconds_t kMoment = 20000;  // longer than a thread polls before it posts a receive
      sender = std::thread([&] {
        usleep(kMoment);
        send();
      });
    } else {
      send();
    }
    std::uint64_t got = 0;
    rma_message_info_t info = {};
    let_fail(0, true);
    bool thrown = false;
    try {
      const librma::Status status =
          messages.receive_without_fail({.address = reinterpret_cast<std::byte*>(&got), .bytes = sizeof got},
                                        {.source = me, .tag = 7, .context = number}, &info);
      thrown = !status.ok();
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    end_failing();
    expect(!thrown && got == word && info.tag == 7, "receive", later ? "it comes later" : "it is there");
    if (later) sender.join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "joining") {
    joining();
  } else {
    expect(rma_init() == RMA_SUCCESS, "rma_init", "the job");
    {
      World world;
      receive_in_need();
      all_calls(world);
    }
    expect(rma_finalize() == RMA_SUCCESS, "rma_finalize", "the job");
  }
  std::printf("%s\n", failures == 0 ? "passed" : "failed");
  return failures == 0 ? 0 : 1;
}
