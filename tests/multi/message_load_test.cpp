// Many messages: order, floods that nobody has asked for, and several threads.

#include <atomic>
#include <thread>

#include "../sanitized.hpp"
#include "messages.hpp"

namespace multi {
namespace {

constexpr std::uint32_t kLoad = 6;

TEST(Message, OrderPerSourceAndContext) {
  const std::uint64_t count = ranks() <= 4 ? 400 : 40;
  Random random({71, static_cast<std::uint64_t>(me())});
  std::vector<std::vector<std::byte>> sent;
  std::vector<rma_request_t> requests;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (int to = 0; to < ranks(); ++to) {
      for (std::uint32_t context = kLoad; context < kLoad + 2; ++context) {
        const std::size_t bytes = 8 + (random.chance(10) ? random.below(20000) : random.below(100));
        sent.push_back(contents(bytes, i + context, me(), to));
        std::memcpy(sent.back().data(), &i, sizeof i);
        EXPECT_TRUE(ok(rma_send_nb(sent.back().data(), bytes, to, 5, context, &requests.emplace_back())));
      }
    }
  }
  std::vector<std::byte> sink(20008);
  for (std::uint32_t context = kLoad + 2; context-- > kLoad;) {
    std::vector<std::uint64_t> next(static_cast<std::size_t>(ranks()));
    for (std::uint64_t i = 0; i < count * static_cast<std::uint64_t>(ranks()); ++i) {
      rma_message_info_t info = {};
      EXPECT_TRUE(ok(
          rma_recv(sink.data(), sink.size(), RMA_ANY_SOURCE, i % 2 == 0 ? 5 : RMA_ANY_TAG, context, &info)));
      std::uint64_t number = 0;
      std::memcpy(&number, sink.data(), sizeof number);
      EXPECT_EQ(number, next[static_cast<std::size_t>(info.source)]++) << "from rank " << info.source;
      const auto expected = contents(info.bytes, number + context, info.source, me());
      EXPECT_TRUE(std::equal(expected.begin() + 8, expected.end(), sink.begin() + 8));
    }
  }
  EXPECT_TRUE(ok(rma_wait_all(requests.data(), requests.size())));
  barrier();
}

/// Expects that this process's memory has grown by less than 32 MiB since it was `before`, in KiB. A
/// sanitizer keeps freed memory and shadows for itself, so only a build without one can tell.
void expect_little_memory(long before) {
  if (!kSanitized) EXPECT_LT(peak_memory() - before, 32L << 10U) << "KiB";
}

/// The partner with which a rank floods, or itself.
int partner() {
  const int other = me() ^ 1;
  return other < ranks() ? other : me();
}

/// Takes messages in for a while, without receiving any.
void take_in(int times) {
  int found = 0;
  for (int i = 0; i < times; ++i) EXPECT_TRUE(ok(rma_iprobe(RMA_ANY_SOURCE, 0, kLoad + 9, &found, nullptr)));
}

/// Ranks with odd numbers receive what the ones before them send with blocking calls.
void flood(std::uint64_t count) {
  const long before = peak_memory();
  barrier();
  if (partner() != me() && me() % 2 == 0) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!ok(rma_send(&i, sizeof i, partner(), 1, kLoad))) return ADD_FAILURE() << rma_last_error();
    }
  } else if (partner() != me()) {
    take_in(20000);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t number = 0;
      const rma_status_t status = rma_recv(&number, sizeof number, partner(), 1, kLoad, nullptr);
      if (status != RMA_SUCCESS || number != i)
        return ADD_FAILURE() << number << " " << i << rma_last_error();
    }
  }
  expect_little_memory(before);
  barrier();
}

TEST(Message, AFloodTakesLittleMemory) { flood(fewer_if_sanitized(ranks() <= 2 ? 200'000U : 20'000U)); }

TEST(MessageSlow, ALongFloodTakesLittleMemory) { flood(10'000'000); }

TEST(Message, SendsGoOnWhileTheirRankWaitsForSomethingElse) {
  // The receivers come to the barrier only when they have everything. Until then the senders, which wait
  // there, have to send what found no room.
  constexpr std::size_t kCount = 3000;
  for (const std::size_t bytes : {std::size_t{4000}, std::size_t{2} << 20U}) {
    const std::size_t count = bytes == 4000 ? kCount : 2;
    const std::vector<std::byte> data = contents(bytes, count, me(), partner());
    std::vector<std::byte> sink(bytes);
    std::vector<rma_request_t> requests(count);
    const bool sends = me() % 2 == 0;
    if (partner() != me() && sends) {
      for (rma_request_t& one : requests)
        EXPECT_TRUE(ok(rma_send_nb(data.data(), bytes, partner(), 1, kLoad, &one)));
    } else if (partner() != me()) {
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_TRUE(ok(rma_recv(sink.data(), bytes, partner(), 1, kLoad, nullptr)));
      EXPECT_EQ(sink, contents(bytes, count, partner(), me()));
    }
    barrier();
    EXPECT_TRUE(ok(rma_wait_all(requests.data(), requests.size())));
  }
  barrier();
}

TEST(Message, AFloodOfNonblockingSendsTakesLittleMemory) {
  const std::size_t count = ranks() <= 4 ? 20000 : 4000;
  constexpr std::size_t kBytes = 4000;
  const std::vector<std::byte> data(kBytes, std::byte{7});
  std::vector<std::byte> sink(kBytes);
  std::vector<rma_request_t> requests(count);
  const bool sends = me() % 2 == 0;
  if (partner() != me() && sends) {
    for (rma_request_t& one : requests) {
      EXPECT_TRUE(ok(rma_send_nb(data.data(), kBytes, partner(), 1, kLoad, &one)));
    }
    const std::uint64_t all = 1;
    EXPECT_TRUE(ok(rma_send(&all, sizeof all, partner(), 2, kLoad)));
  }
  if (partner() != me() && !sends) {
    const long before = peak_memory();
    std::uint64_t all = 0;
    EXPECT_TRUE(ok(rma_recv(&all, sizeof all, partner(), 2, kLoad, nullptr)));  // all of them have arrived
    expect_little_memory(before);  // for 80 MB of data, if there are four ranks at most
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(ok(rma_recv(sink.data(), kBytes, partner(), 1, kLoad, nullptr)));
    }
    EXPECT_EQ(sink, data);
  }
  EXPECT_TRUE(ok(rma_wait_all(requests.data(), requests.size())));
  barrier();
}

/// Each thread of a rank passes messages on to the same thread of the next rank, in its own context.
void threads_pass_on(int threads, int rounds_of_each) {
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([thread, rounds_of_each] {
      const std::uint32_t context = kLoad + 20 + static_cast<std::uint32_t>(thread);
      Random random({72, static_cast<std::uint64_t>(thread)});  // the same on every rank
      const int to = neighbour(1);
      const int from = neighbour(ranks() - 1);
      std::vector<std::byte> sink(70000);
      for (int round = 0; round < rounds_of_each; ++round) {
        const std::size_t bytes = random.chance(15) ? random.below(sink.size()) : random.below(200);
        const auto source = contents(bytes, static_cast<std::uint64_t>(round), me(), to);
        rma_request_t request = RMA_REQUEST_NULL;
        rma_message_info_t info = {};
        if (random.chance(50)) {
          EXPECT_TRUE(ok(rma_recv_nb(sink.data(), sink.size(), from, RMA_ANY_TAG, context, &info, &request)));
          EXPECT_TRUE(ok(rma_send(source.data(), bytes, to, round, context)));
        } else {
          EXPECT_TRUE(ok(rma_ssend_nb(source.data(), bytes, to, round, context, &request)));
          EXPECT_TRUE(ok(rma_recv(sink.data(), sink.size(), RMA_ANY_SOURCE, round, context, &info)));
        }
        EXPECT_TRUE(ok(rma_wait(&request)));
        expect_info(info, from, round, bytes);
        const auto expected = contents(bytes, static_cast<std::uint64_t>(round), from, me());
        EXPECT_EQ(first_difference(expected, sink), bytes);
      }
    });
  }
  for (std::thread& one : running) one.join();
  barrier();
}

TEST(Message, TwoThreadsWithContextsOfTheirOwn) { threads_pass_on(2, ranks() <= 4 ? 500 : 50); }

TEST(Message, FourThreadsWithContextsOfTheirOwn) { threads_pass_on(4, ranks() <= 4 ? 300 : 30); }

TEST(Message, ThreadsShareAContext) {
  // Whichever thread receives a message, each message is received once.
  constexpr int kThreads = 3;
  const int each = ranks() <= 4 ? 400 : 40;
  std::atomic<std::uint64_t> sum = 0;
  std::vector<std::thread> running;
  for (int thread = 0; thread < kThreads; ++thread) {
    running.emplace_back([&, thread] {
      for (int i = 0; i < each; ++i) {
        const std::uint64_t number = static_cast<std::uint64_t>(thread * each + i);
        rma_request_t request = RMA_REQUEST_NULL;
        EXPECT_TRUE(ok(rma_send_nb(&number, sizeof number, neighbour(1), i, kLoad, &request)));
        std::uint64_t got = 0;
        if (i % 2 == 0) {
          EXPECT_TRUE(ok(rma_recv(&got, sizeof got, RMA_ANY_SOURCE, RMA_ANY_TAG, kLoad, nullptr)));
        } else {
          rma_message_t message = nullptr;
          EXPECT_TRUE(ok(rma_mprobe(RMA_ANY_SOURCE, RMA_ANY_TAG, kLoad, &message, nullptr)));
          EXPECT_TRUE(ok(rma_mrecv(&got, sizeof got, &message, nullptr)));
        }
        sum += got;
        EXPECT_TRUE(ok(rma_wait(&request)));
      }
    });
  }
  for (std::thread& one : running) one.join();
  barrier();
  const auto all = static_cast<std::uint64_t>(kThreads * each);
  EXPECT_EQ(sum.load(), all * (all - 1) / 2);
  barrier();
}

}  // namespace
}  // namespace multi
