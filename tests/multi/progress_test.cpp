// Long messages to and from ranks that compute. A computing rank calls nothing of the library. It reads a
// word of its own until another rank stores it.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "messages.hpp"

namespace multi {
namespace {

constexpr std::uint32_t kProgressContext = 37;
constexpr std::byte kUntouched{0x5a};

/// Two words of every rank: its partner says there that it computes, and that the rank need compute no
/// longer.
class Words {
 public:
  Words() : memory_(Remote::window, 2 * sizeof(std::uint64_t)) {
    std::ranges::fill(memory_.mine(), std::byte{0});
    barrier();
  }

  void say_computing(int rank) { say(0, rank); }
  void say_over(int rank) { say(1, rank); }
  void wait_until_partner_computes() { await(0); }
  void compute_until_over() { await(1); }

 private:
  void say(std::size_t word, int rank) {
    const std::uint64_t one = 1;
    EXPECT_TRUE(ok(rma_put(memory_.at(rank) + word * sizeof one, &one, sizeof one, rank)));
  }
  void await(std::size_t word) {
    const std::atomic_ref mine(reinterpret_cast<std::uint64_t*>(memory_.mine().data())[word]);
    double sum = 1;
    // Acquire: pairs with the put of the other process.
    while (mine.load(std::memory_order_acquire) == 0) {
      for (int i = 0; i < 100; ++i) sum = sum * 1.0000001 + 0.5;
      if (sum > 1e30) sum = 1;
    }
    EXPECT_GT(sum, 0);
    mine.store(0, std::memory_order_relaxed);
  }

  Memory memory_;
};

/// The ranks make pairs of one that is even and the next. The last of an odd number of ranks has none.
bool sends() { return me() % 2 == 0; }
int partner() { return sends() ? me() + 1 : me() - 1; }
bool has_partner() { return partner() < ranks(); }

std::vector<std::size_t> long_sizes() { return {40'000, 300'001, (std::size_t{1} << 20U) + 3}; }

/// Calls exchange(bytes, kind of buffer) for every case. All ranks begin a case together.
template <typename Exchange>
void each_case(const Exchange& exchange) {
  for (const Local kind : {Local::plain, Local::window}) {
    for (const std::size_t bytes : long_sizes()) {
      SCOPED_TRACE(testing::Message() << name(kind) << ", " << bytes << " bytes");
      barrier();
      if (has_partner()) exchange(bytes, kind);
    }
  }
  barrier();
}

// The send ends only when its receiver has the data, or has taken most of the fragments out of a ring that is
// shorter than the message.
TEST(Progress, MessagesArriveWhileTheirReceiverComputes) {
  Words words;
  each_case([&](std::size_t bytes, Local kind) {
    const Buffer buffer(kind, bytes);
    const auto data = contents(bytes, bytes, me() - (sends() ? 0 : 1), 0);
    if (sends()) {
      std::memcpy(buffer.data(), data.data(), bytes);
      words.wait_until_partner_computes();
      EXPECT_TRUE(ok(rma_ssend(buffer.data(), bytes, partner(), 1, kProgressContext)));
      words.say_over(partner());
      return;
    }
    rma_request_t request = RMA_REQUEST_NULL;
    EXPECT_TRUE(ok(rma_recv_nb(buffer.data(), bytes, partner(), 1, kProgressContext, nullptr, &request)));
    words.say_computing(partner());
    words.compute_until_over();
    EXPECT_TRUE(ok(rma_wait(&request)));
    EXPECT_EQ(first_difference(data, buffer.bytes()), bytes);
  });
}

TEST(Progress, MessagesLeaveWhileTheirSenderComputes) {
  Words words;
  each_case([&](std::size_t bytes, Local kind) {
    const Buffer buffer(kind, bytes);
    const auto data = contents(bytes, bytes, me() - (sends() ? 0 : 1), 0);
    if (sends()) {
      std::memcpy(buffer.data(), data.data(), bytes);
      rma_request_t request = RMA_REQUEST_NULL;
      EXPECT_TRUE(ok(rma_ssend_nb(buffer.data(), bytes, partner(), 2, kProgressContext, &request)));
      words.say_computing(partner());
      words.compute_until_over();
      EXPECT_TRUE(ok(rma_wait(&request)));
      return;
    }
    words.wait_until_partner_computes();
    EXPECT_TRUE(ok(rma_recv(buffer.data(), bytes, partner(), 2, kProgressContext, nullptr)));
    words.say_over(partner());
    EXPECT_EQ(first_difference(data, buffer.bytes()), bytes);
  });
}

// A rank that waits for one message while others are pending, and then computes again.
TEST(Progress, TheThreadTakesOverWhenAWaitIsOver) {
  Words words;
  const std::size_t bytes = 100'000;
  each_case([&](std::size_t /*bytes*/, Local kind) {
    const Buffer first(kind, bytes);
    const Buffer second(kind, bytes);
    if (sends()) {
      for (int round = 0; round < 4; ++round) {
        EXPECT_TRUE(ok(rma_ssend(first.data(), bytes, partner(), 3, kProgressContext)));
        words.wait_until_partner_computes();
        EXPECT_TRUE(ok(rma_ssend(second.data(), bytes, partner(), 4, kProgressContext)));
        words.say_over(partner());
      }
      return;
    }
    for (int round = 0; round < 4; ++round) {
      rma_request_t one = RMA_REQUEST_NULL;
      rma_request_t other = RMA_REQUEST_NULL;
      EXPECT_TRUE(ok(rma_recv_nb(second.data(), bytes, partner(), 4, kProgressContext, nullptr, &other)));
      EXPECT_TRUE(ok(rma_recv_nb(first.data(), bytes, partner(), 3, kProgressContext, nullptr, &one)));
      EXPECT_TRUE(ok(rma_wait(&one)));
      words.say_computing(partner());
      words.compute_until_over();
      EXPECT_TRUE(ok(rma_wait(&other)));
    }
  });
}

// Without the setting nobody touches the buffer of a rank that calls nothing.
TEST(ProgressCaller, NothingArrivesWhileTheReceiverComputes) {
  constexpr int kTests = 1000;
  Words words;
  each_case([&](std::size_t bytes, Local kind) {
    const Buffer buffer(kind, bytes);
    const auto data = contents(bytes, bytes, me() - (sends() ? 0 : 1), 0);
    rma_request_t request = RMA_REQUEST_NULL;
    if (sends()) {
      std::memcpy(buffer.data(), data.data(), bytes);
      words.wait_until_partner_computes();
      EXPECT_TRUE(ok(rma_ssend_nb(buffer.data(), bytes, partner(), 5, kProgressContext, &request)));
      for (int i = 0; i < kTests; ++i) {
        int done = 0;
        EXPECT_TRUE(ok(rma_test(&request, &done)));
        EXPECT_EQ(done, 0);
      }
      words.say_over(partner());
      EXPECT_TRUE(ok(rma_wait(&request)));
      return;
    }
    std::ranges::fill(buffer.bytes(), kUntouched);
    EXPECT_TRUE(ok(rma_recv_nb(buffer.data(), bytes, partner(), 5, kProgressContext, nullptr, &request)));
    words.say_computing(partner());
    words.compute_until_over();
    const std::vector<std::byte> untouched(bytes, kUntouched);
    EXPECT_EQ(first_difference(untouched, buffer.bytes()), bytes);
    EXPECT_TRUE(ok(rma_wait(&request)));
    EXPECT_EQ(first_difference(data, buffer.bytes()), bytes);
  });
}

}  // namespace
}  // namespace multi
