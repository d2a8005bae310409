// Completion contexts and nonblocking atomics.

#include <array>
#include <thread>

#include "harness.hpp"

namespace multi {
namespace {

/// A context of the library that ends with the scope.
class Context {
 public:
  Context() { EXPECT_TRUE(ok(rma_context_create(&handle))); }
  ~Context() {
    if (handle != RMA_CONTEXT_DEFAULT) EXPECT_TRUE(ok(rma_context_free(&handle)));
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  rma_context_t handle = RMA_CONTEXT_DEFAULT;
};

TEST(Context, AThreadUsesTheOneThatItHasChosen) {
  rma_context_t before = RMA_CONTEXT_DEFAULT;
  {
    const Context first;
    const Context second;
    EXPECT_NE(first.handle, second.handle);
    EXPECT_TRUE(ok(rma_context_use(first.handle, &before)));
    EXPECT_EQ(before, RMA_CONTEXT_DEFAULT);
    EXPECT_TRUE(ok(rma_context_use(second.handle, &before)));
    EXPECT_EQ(before, first.handle);
    std::thread([] {
      rma_context_t used = RMA_CONTEXT_DEFAULT;
      EXPECT_TRUE(ok(rma_context_use(RMA_CONTEXT_DEFAULT, &used)));
      EXPECT_EQ(used, RMA_CONTEXT_DEFAULT) << "each thread begins with the default one";
    }).join();
  }
  EXPECT_TRUE(ok(rma_context_use(RMA_CONTEXT_DEFAULT, &before)));
  EXPECT_EQ(before, RMA_CONTEXT_DEFAULT) << "the one in use was freed";
}

TEST(Context, WrongHandlesAreRefused) {
  EXPECT_TRUE(refused(rma_context_create(nullptr), RMA_ERR_ARGUMENT, {"context"}));
  EXPECT_TRUE(refused(rma_context_free(nullptr), RMA_ERR_ARGUMENT, {"context"}));
  rma_context_t handle = RMA_CONTEXT_DEFAULT;
  EXPECT_TRUE(refused(rma_context_free(&handle), RMA_ERR_ARGUMENT, {"default"}));
  EXPECT_TRUE(ok(rma_context_create(&handle)));
  rma_context_t copy = handle;
  EXPECT_TRUE(ok(rma_context_free(&handle)));
  EXPECT_EQ(handle, RMA_CONTEXT_DEFAULT);
  EXPECT_TRUE(refused(rma_context_use(copy, nullptr), RMA_ERR_ARGUMENT, {text(copy)}));
  EXPECT_TRUE(refused(rma_context_free(&copy), RMA_ERR_ARGUMENT, {text(copy)}));
}

/// Threads with contexts of their own, and two that share one, put to every rank and fence in different ways.
/// What a thread reads after its fence is what it has written.
TEST(Context, EachThreadsFenceCompletesItsOwnPuts) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kBytes = 6000;
  for (const Remote remote : kRemotes) {
    const std::size_t slice = kThreads * kBytes;
    const Memory memory(remote, slice * static_cast<std::size_t>(ranks()));
    const Context shared;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const Context own;
        EXPECT_TRUE(ok(rma_context_use(t < 2 ? own.handle : shared.handle, nullptr)));
        Random random({97, static_cast<std::uint64_t>(me()), t});
        std::vector<std::byte> source(kBytes);
        std::vector<std::byte> seen(kBytes);
        for (int round = 0; round < rounds(60); ++round) {
          const int target = static_cast<int>(random.below(static_cast<std::size_t>(ranks())));
          const std::size_t bytes = 1 + random.below(kBytes);
          std::byte* const to = memory.at(target) + slice * static_cast<std::size_t>(me()) + t * kBytes;
          random.fill(std::span(source).first(bytes));
          const rma_status_t put = random.chance(50) ? rma_put(to, source.data(), bytes, target)
                                                     : rma_put_nbi(to, source.data(), bytes, target);
          EXPECT_TRUE(ok(put));
          EXPECT_TRUE(ok(random.chance(50) ? rma_fence(target) : rma_fence_all()));
          EXPECT_TRUE(ok(rma_get_nbi(seen.data(), to, bytes, target)));
          EXPECT_TRUE(ok(rma_fence_all()));
          EXPECT_TRUE(
              std::equal(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(bytes), source.begin()))
              << bytes << " bytes to rank " << target << ", memory: " << name(remote);
        }
        EXPECT_TRUE(ok(rma_context_use(RMA_CONTEXT_DEFAULT, nullptr)));
      });
    }
    for (std::thread& thread : threads) thread.join();
    barrier();
  }
}

/// A barrier completes what was issued in every context.
TEST(Context, ABarrierCompletesTheOperationsOfAll) {
  for (const Remote remote : kRemotes) {
    const Memory memory(remote, 8 * sizeof(std::uint64_t));
    const Context context;
    std::array<std::uint64_t, 8> source = {};
    source.fill(static_cast<std::uint64_t>(me()) + 1);
    EXPECT_TRUE(ok(rma_context_use(context.handle, nullptr)));
    EXPECT_TRUE(ok(rma_put_nbi(memory.at(neighbour(1)), source.data(), sizeof source, neighbour(1))));
    EXPECT_TRUE(ok(rma_context_use(RMA_CONTEXT_DEFAULT, nullptr)));
    barrier();
    std::array<std::uint64_t, 8> mine = {};
    std::memcpy(mine.data(), memory.mine().data(), sizeof mine);
    const auto writer = static_cast<std::uint64_t>(neighbour(ranks() - 1));
    for (const std::uint64_t word : mine) EXPECT_EQ(word, writer + 1);
    barrier();
  }
}

rma_status_t start(std::uint64_t* word, std::uint64_t operand, std::uint64_t* old, int rank,
                   rma_request_t* request) {
  return request != nullptr ? rma_atomic64_nb(RMA_FETCH_ADD, word, operand, 0, old, rank, request)
                            : rma_atomic64_nbi(RMA_FETCH_ADD, word, operand, 0, old, rank);
}
rma_status_t start(std::uint32_t* word, std::uint32_t operand, std::uint32_t* old, int rank,
                   rma_request_t* request) {
  return request != nullptr ? rma_atomic32_nb(RMA_FETCH_ADD, word, operand, 0, old, rank, request)
                            : rma_atomic32_nbi(RMA_FETCH_ADD, word, operand, 0, old, rank);
}

/// All ranks add to a counter of each rank, many additions at a time. No value is returned twice.
template <typename Word>
void count_together(Remote remote, bool requests) {
  const Memory memory(remote, sizeof(Word));
  std::memset(memory.mine().data(), 0, sizeof(Word));
  barrier();
  const auto many = static_cast<std::size_t>(rounds(200));
  std::vector<Word> numbers(many * static_cast<std::size_t>(ranks()), ~Word{0});
  std::vector<rma_request_t> pending(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int target = static_cast<int>(i % static_cast<std::size_t>(ranks()));
    auto* const word = reinterpret_cast<Word*>(memory.at(target));
    EXPECT_TRUE(ok(start(word, Word{1}, &numbers[i], target, requests ? &pending[i] : nullptr)));
  }
  // An addition without an interest in the value before.
  EXPECT_TRUE(ok(start(reinterpret_cast<Word*>(memory.at(me())), Word{0}, nullptr, me(), nullptr)));
  if (requests) EXPECT_TRUE(ok(rma_wait_all(pending.data(), pending.size())));
  EXPECT_TRUE(ok(rma_fence_all()));
  for (int target = 0; target < ranks(); ++target) {
    std::vector<Word> mine;
    for (auto i = static_cast<std::size_t>(target); i < numbers.size();
         i += static_cast<std::size_t>(ranks())) {
      mine.push_back(numbers[i]);
    }
    std::sort(mine.begin(), mine.end());
    EXPECT_EQ(std::adjacent_find(mine.begin(), mine.end()), mine.end()) << "a value came twice";
    EXPECT_LT(mine.back(), static_cast<Word>(many * static_cast<std::size_t>(ranks())));
  }
  barrier();
  Word total = 0;
  std::memcpy(&total, memory.mine().data(), sizeof total);
  EXPECT_EQ(total, static_cast<Word>(many * static_cast<std::size_t>(ranks())));
  barrier();
}

TEST(Context, NonblockingAtomicsLoseNoUpdate) {
  for (const Remote remote : kRemotes) {
    for (const bool requests : {false, true}) {
      count_together<std::uint64_t>(remote, requests);
      count_together<std::uint32_t>(remote, requests);
    }
  }
}

TEST(Context, NonblockingAtomicsCheckTheirArguments) {
  const Memory memory(Remote::window, 16);
  auto* const word = reinterpret_cast<std::uint64_t*>(memory.at(neighbour(1)));
  rma_request_t request = RMA_REQUEST_NULL;
  EXPECT_TRUE(refused(rma_atomic64_nb(RMA_SET, word, 1, 0, nullptr, neighbour(1), nullptr), RMA_ERR_ARGUMENT,
                      {"request"}));
  EXPECT_TRUE(refused(rma_atomic64_nb(static_cast<rma_atomic_op_t>(99), word, 1, 0, nullptr, 0, &request),
                      RMA_ERR_ARGUMENT, {"99"}));
  EXPECT_TRUE(refused(rma_atomic64_nbi(RMA_SET, word, 1, 0, nullptr, ranks()), RMA_ERR_RANK));
  auto* const crooked = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(word) + 4);
  EXPECT_TRUE(refused(rma_atomic64_nbi(RMA_SET, crooked, 1, 0, nullptr, neighbour(1)), RMA_ERR_ALIGNMENT));
  EXPECT_EQ(request, RMA_REQUEST_NULL);
  barrier();
}

}  // namespace
}  // namespace multi
