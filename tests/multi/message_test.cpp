// Two-sided messages, one at a time: sizes, kinds of memory, ways to send and to receive, truncation.

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "messages.hpp"

namespace multi {
namespace {

constexpr std::uint32_t kContext = 4;

enum class Way { blocking, request, synchronous, synchronous_request };
constexpr std::initializer_list<Way> kWays = {Way::blocking, Way::request, Way::synchronous,
                                              Way::synchronous_request};

/// Sends, and lets `work` happen between the start of the send and its end.
template <typename Work>
void send(Way way, const std::byte* data, std::size_t bytes, int to, int tag, const Work& work) {
  rma_request_t request = 77;
  switch (way) {
    case Way::blocking:
      EXPECT_TRUE(ok(rma_send(data, bytes, to, tag, kContext)));
      return work();
    case Way::synchronous:
      EXPECT_TRUE(ok(rma_ssend(data, bytes, to, tag, kContext)));
      return work();
    case Way::request:
      EXPECT_TRUE(ok(rma_send_nb(data, bytes, to, tag, kContext, &request)));
      break;
    case Way::synchronous_request:
      EXPECT_TRUE(ok(rma_ssend_nb(data, bytes, to, tag, kContext, &request)));
      break;
  }
  work();
  EXPECT_TRUE(ok(rma_wait(&request)));
  EXPECT_EQ(request, RMA_REQUEST_NULL);
}

/// Each rank sends to the next one. The receive is posted before the send or after it has begun.
void pass_on(Way way, bool posted_first, const std::byte* source, std::byte* sink, std::size_t bytes) {
  const int to = neighbour(1);
  const int from = neighbour(ranks() - 1);
  rma_message_info_t info = {};
  rma_request_t receive = 77;
  const auto post = [&] { EXPECT_TRUE(ok(rma_recv_nb(sink, bytes, from, 9, kContext, &info, &receive))); };
  if (posted_first) {
    post();
    send(way, source, bytes, to, 9, [] {});
  } else {
    send(way, source, bytes, to, 9, post);
  }
  EXPECT_TRUE(ok(rma_wait(&receive)));
  expect_info(info, from, 9, bytes);
}

void check_received(std::span<const std::byte> sink, std::size_t bytes, std::uint64_t number) {
  const auto expected = contents(bytes, number, neighbour(ranks() - 1), me());
  EXPECT_EQ(first_difference(expected, sink), bytes);
  EXPECT_EQ(sink[bytes], std::byte{0x5a}) << "the byte behind the buffer";
}

TEST(Message, EverySizeInEveryWay) {
  std::uint64_t number = 0;
  for (const std::size_t bytes : message_sizes()) {
    for (const Way way : kWays) {
      for (const bool posted_first : {true, false}) {
        // A blocking send of a long message waits for its receive.
        if (!posted_first && (way == Way::synchronous || way == Way::blocking)) continue;
        SCOPED_TRACE(testing::Message() << bytes << " bytes, way " << static_cast<int>(way)
                                        << ", posted first " << posted_first);
        const auto source = contents(bytes, ++number, me(), neighbour(1));
        std::vector<std::byte> sink(bytes + 1, std::byte{0x5a});
        pass_on(way, posted_first, source.data(), sink.data(), bytes);
        check_received(sink, bytes, number);
      }
    }
  }
}

TEST(Message, EveryKindOfMemory) {
  std::uint64_t number = 1000;
  for (const std::size_t bytes : message_sizes()) {
    for (const Local from : kLocals) {
      for (const Local to : kLocals) {
        for (const std::size_t shift : {std::size_t{0}, std::size_t{3}}) {
          SCOPED_TRACE(testing::Message() << bytes << " bytes, " << name(from) << " to " << name(to));
          const Buffer source(from, bytes + 8);
          const Buffer sink(to, bytes + 8);
          const auto data = contents(bytes, ++number, me(), neighbour(1));
          std::copy(data.begin(), data.end(), source.data() + shift);
          std::fill(sink.bytes().begin(), sink.bytes().end(), std::byte{0x5a});
          pass_on(Way::request, number % 2 == 0, source.data() + shift, sink.data() + 1, bytes);
          check_received(sink.bytes().subspan(1), bytes, number);
        }
      }
    }
  }
}

TEST(Message, ReadOnlyMemoryCanBeSent) {
  for (const std::size_t bytes : message_sizes()) {
    const std::size_t mapped = (bytes / 4096 + 1) * 4096;
    void* const memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    const auto data = contents(bytes, bytes, me(), neighbour(1));
    std::copy(data.begin(), data.end(), static_cast<std::byte*>(memory));
    EXPECT_EQ(mprotect(memory, mapped, PROT_READ), 0);
    std::vector<std::byte> sink(bytes + 1, std::byte{0x5a});
    pass_on(Way::request, bytes % 2 == 0, static_cast<const std::byte*>(memory), sink.data(), bytes);
    check_received(sink, bytes, bytes);
    EXPECT_EQ(munmap(memory, mapped), 0);
  }
}

TEST(Message, BlockingCallsToItself) {
  // Long ones would wait for ever, as they may.
  for (const std::size_t bytes : {0U, 1U, 48U, 49U, 500U}) {
    const auto source = contents(bytes, 1, me(), me());
    std::vector<std::byte> sink(bytes);
    rma_request_t request = RMA_REQUEST_NULL;
    EXPECT_TRUE(ok(rma_send_nb(source.data(), bytes, me(), 3, kContext, &request)));
    rma_message_info_t info = {};
    EXPECT_TRUE(ok(rma_recv(sink.data(), bytes, RMA_ANY_SOURCE, 3, kContext, &info)));
    expect_info(info, me(), 3, bytes);
    EXPECT_EQ(sink, source);
    EXPECT_TRUE(ok(rma_wait(&request)));
  }
}

TEST(Message, LongOnesToItselfInBothOrders) {
  for (const bool posted_first : {true, false}) {
    const std::size_t bytes = 3 << 20U;
    const auto source = contents(bytes, 1, me(), me());
    std::vector<std::byte> sink(bytes);
    std::array<rma_request_t, 2> requests = {};
    const auto post = [&] {
      EXPECT_TRUE(ok(rma_recv_nb(sink.data(), bytes, me(), RMA_ANY_TAG, kContext, nullptr, requests.data())));
    };
    if (posted_first) post();
    EXPECT_TRUE(ok(rma_ssend_nb(source.data(), bytes, me(), 3, kContext, &requests[1])));
    if (!posted_first) post();
    EXPECT_TRUE(ok(rma_wait_all(requests.data(), requests.size())));
    EXPECT_EQ(sink, source);
  }
}

TEST(Message, ALongerMessageFillsTheBufferAndSaysSo) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{49}, std::size_t{9000}, std::size_t{100'000}}) {
    for (const std::size_t room : {std::size_t{0}, bytes / 2, bytes - 1}) {
      for (const int how : {0, 1, 2}) {
        SCOPED_TRACE(testing::Message() << bytes << " bytes into " << room << ", way " << how);
        const auto source = contents(bytes, room, me(), neighbour(1));
        const int from = neighbour(ranks() - 1);
        std::vector<std::byte> sink(bytes, std::byte{0x5a});
        rma_message_info_t info = {};
        rma_request_t sent = RMA_REQUEST_NULL;
        rma_request_t received = RMA_REQUEST_NULL;
        if (how == 1) EXPECT_TRUE(ok(rma_recv_nb(sink.data(), room, from, 1, kContext, &info, &received)));
        barrier();
        EXPECT_TRUE(ok(rma_send_nb(source.data(), bytes, neighbour(1), 1, kContext, &sent)));
        const std::string rank = "rank " + std::to_string(from);
        if (how == 0) {
          EXPECT_TRUE(
              refused(rma_recv(sink.data(), room, from, 1, kContext, &info), RMA_ERR_TRUNCATED, {rank}));
        } else if (how == 1) {
          EXPECT_TRUE(refused(rma_wait(&received), RMA_ERR_TRUNCATED, {rank}));
        } else {
          rma_message_t message = nullptr;
          EXPECT_TRUE(ok(rma_mprobe(from, 1, kContext, &message, nullptr)));
          EXPECT_TRUE(refused(rma_mrecv(sink.data(), room, &message, &info), RMA_ERR_TRUNCATED, {rank}));
          EXPECT_EQ(message, nullptr);
        }
        expect_info(info, from, 1, bytes);
        const auto expected = contents(bytes, room, from, me());
        EXPECT_TRUE(
            std::equal(sink.begin(), sink.begin() + static_cast<std::ptrdiff_t>(room), expected.begin()));
        EXPECT_EQ(std::count(sink.begin() + static_cast<std::ptrdiff_t>(room), sink.end(), std::byte{0x5a}),
                  static_cast<std::ptrdiff_t>(bytes - room));
        EXPECT_TRUE(ok(rma_wait(&sent))) << "the sender has done nothing wrong";
      }
    }
  }
}

TEST(Message, BothSendLongOnesAtOnce) {
  const std::size_t bytes = ranks() <= 4 ? 5 << 20U : 300'000;
  for (int round = 0; round < 5; ++round) {
    const auto source = contents(bytes, static_cast<std::uint64_t>(round), me(), neighbour(1));
    const int from = neighbour(ranks() - 1);
    std::vector<std::byte> sink(bytes);
    rma_request_t request = RMA_REQUEST_NULL;
    if (round % 2 == 0) {
      EXPECT_TRUE(ok(rma_recv_nb(sink.data(), bytes, from, 0, kContext, nullptr, &request)));
      EXPECT_TRUE(ok(rma_send(source.data(), bytes, neighbour(1), 0, kContext)));
    } else {
      EXPECT_TRUE(ok(rma_send_nb(source.data(), bytes, neighbour(1), 0, kContext, &request)));
      EXPECT_TRUE(ok(rma_recv(sink.data(), bytes, from, 0, kContext, nullptr)));
    }
    EXPECT_TRUE(ok(rma_wait(&request)));
    EXPECT_EQ(sink, contents(bytes, static_cast<std::uint64_t>(round), from, me()));
  }
}

// The next two fail if a call that does not wait copies what another rank has announced.

TEST(MessageDeferred, ANonblockingReceiveOfAKeptMessageDoesNotCopyIt) {
  const std::size_t bytes = std::size_t{1} << 20U;
  const int from = neighbour(ranks() - 1);
  const auto source = contents(bytes, 1, me(), neighbour(1));
  std::vector<std::byte> sink(bytes);
  std::array<rma_request_t, 2> requests = {};
  EXPECT_TRUE(ok(rma_send_nb(source.data(), bytes, neighbour(1), 1, kContext, &requests[0])));
  EXPECT_TRUE(ok(rma_probe(from, 1, kContext, nullptr)));
  rma_message_info_t info = {};
  EXPECT_TRUE(ok(rma_recv_nb(sink.data(), bytes, from, 1, kContext, &info, &requests[1])));
  EXPECT_EQ(sink, std::vector<std::byte>(bytes)) << "the call has copied the data";
  for (rma_request_t& request : requests) EXPECT_TRUE(ok(rma_wait(&request)));
  EXPECT_EQ(sink, contents(bytes, 1, from, me()));
  expect_info(info, from, 1, bytes);
}

TEST(MessageDeferred, ANonblockingReceiveDoesNotCopyTheMessageOfAnotherOne) {
  const std::size_t bytes = std::size_t{1} << 20U;
  const int partner = me() ^ 1;
  std::vector<void*> flags(static_cast<std::size_t>(ranks()));
  void* own = nullptr;
  ASSERT_TRUE(ok(rma_malloc(rma_team_world(), sizeof(std::uint64_t), 0, flags.data(), &own)));
  const std::atomic_ref<std::uint64_t> flag(*static_cast<std::uint64_t*>(own));
  flag = 0;
  EXPECT_TRUE(ok(rma_barrier(rma_team_world())));
  const auto signal = [&] {
    const std::uint64_t one = 1;
    EXPECT_TRUE(ok(rma_put(flags[static_cast<std::size_t>(partner)], &one, sizeof one, partner)));
  };
  // Without a call of the library, which would take messages in.
  const auto await_signal = [&] {
    while (flag.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  };
  std::array<rma_request_t, 2> requests = {};
  std::byte other = {};
  if (me() % 2 == 0) {
    std::vector<std::byte> sink(bytes);
    EXPECT_TRUE(ok(rma_recv_nb(sink.data(), bytes, partner, 2, kContext, nullptr, &requests[0])));
    signal();
    await_signal();  // the announcement is there
    EXPECT_TRUE(ok(rma_recv_nb(&other, 1, partner, 3, kContext, nullptr, &requests[1])));
    EXPECT_EQ(sink, std::vector<std::byte>(bytes)) << "the call has copied the data";
    for (rma_request_t& request : requests) EXPECT_TRUE(ok(rma_wait(&request)));
    EXPECT_EQ(sink, contents(bytes, 2, partner, me()));
  } else {
    const auto source = contents(bytes, 2, me(), partner);
    await_signal();
    EXPECT_TRUE(ok(rma_send_nb(source.data(), bytes, partner, 2, kContext, &requests[0])));
    signal();
    EXPECT_TRUE(ok(rma_send(&other, 1, partner, 3, kContext)));
    EXPECT_TRUE(ok(rma_wait(&requests[0])));
  }
  EXPECT_TRUE(ok(rma_free(rma_team_world(), own)));
}

TEST(Message, ASynchronousSendEndsOnlyWhenItIsReceived) {
  const auto source = contents(10, 1, me(), neighbour(1));
  std::vector<std::byte> sink(10);
  rma_request_t request = RMA_REQUEST_NULL;
  EXPECT_TRUE(ok(rma_ssend_nb(source.data(), 10, neighbour(1), 0, kContext, &request)));
  int done = 1;
  EXPECT_TRUE(ok(rma_test(&request, &done)));
  EXPECT_EQ(done, 0);
  barrier();  // nobody has received yet
  EXPECT_TRUE(ok(rma_test(&request, &done)));
  EXPECT_EQ(done, 0);
  barrier();
  EXPECT_TRUE(ok(rma_recv(sink.data(), 10, neighbour(ranks() - 1), 0, kContext, nullptr)));
  EXPECT_TRUE(ok(rma_wait(&request)));
}

// A receive that finds its message in the ring takes it without being posted. These two keep the order all
// the same.

TEST(Message, AReceiveThatWasPostedBeforeComesFirst) {
  const int from = neighbour(ranks() - 1);
  for (const auto& [source, tag] : {std::pair(from, 3), {RMA_ANY_SOURCE, 3}, {from, RMA_ANY_TAG}}) {
    int first = 0;
    int second = 0;
    int third = 0;
    rma_request_t posted = RMA_REQUEST_NULL;
    rma_request_t late = RMA_REQUEST_NULL;
    EXPECT_TRUE(ok(rma_recv_nb(&first, sizeof first, source, tag, kContext, nullptr, &posted)));
    barrier();
    const std::array<int, 3> values = {1, 2, 3};
    std::array<rma_request_t, 3> sends = {};
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(ok(rma_send_nb(&values[i], sizeof(int), neighbour(1), 3, kContext, &sends[i])));
    barrier();  // all three are in the ring
    EXPECT_TRUE(ok(rma_recv(&second, sizeof second, from, 3, kContext, nullptr)));
    EXPECT_TRUE(ok(rma_recv_nb(&third, sizeof third, from, 3, kContext, nullptr, &late)));
    EXPECT_TRUE(ok(rma_wait(&late)));
    EXPECT_TRUE(ok(rma_wait(&posted)));
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 2);
    EXPECT_EQ(third, 3);
    EXPECT_TRUE(ok(rma_wait_all(sends.data(), sends.size())));
  }
}

TEST(Message, AMessageThatWasKeptBeforeComesFirst) {
  const int from = neighbour(ranks() - 1);
  for (const int source : {from, RMA_ANY_SOURCE}) {
    const std::array<int, 2> values = {1, 2};
    std::array<rma_request_t, 2> sends = {};
    EXPECT_TRUE(ok(rma_send_nb(&values[0], sizeof(int), neighbour(1), 3, kContext, &sends[0])));
    int found = 0;
    while (found == 0) EXPECT_TRUE(ok(rma_iprobe(from, 3, kContext, &found, nullptr)));  // keeps the message
    barrier();
    EXPECT_TRUE(ok(rma_send_nb(&values[1], sizeof(int), neighbour(1), 3, kContext, &sends[1])));
    barrier();
    for (const int expected : values) {
      int value = 0;
      rma_message_info_t info = {};
      EXPECT_TRUE(ok(rma_recv(&value, sizeof value, source, RMA_ANY_TAG, kContext, &info)));
      EXPECT_EQ(value, expected);
      expect_info(info, from, 3, sizeof value);
    }
    EXPECT_TRUE(ok(rma_wait_all(sends.data(), sends.size())));
  }
  barrier();
}

TEST(Message, ALongMessageInTheRingIsCutByAShortReceive) {
  const int from = neighbour(ranks() - 1);
  const std::array<char, 9> data = {"12345678"};
  for (const bool blocking : {true, false}) {
    rma_request_t send = RMA_REQUEST_NULL;
    EXPECT_TRUE(ok(rma_send_nb(data.data(), 8, neighbour(1), 3, kContext, &send)));
    barrier();
    std::array<char, 9> sink = {"........"};
    rma_message_info_t info = {};
    rma_request_t request = RMA_REQUEST_NULL;
    if (blocking) {
      EXPECT_EQ(rma_recv(sink.data(), 5, from, 3, kContext, &info), RMA_ERR_TRUNCATED);
    } else {
      EXPECT_TRUE(ok(rma_recv_nb(sink.data(), 5, from, 3, kContext, &info, &request)));
      EXPECT_EQ(rma_wait(&request), RMA_ERR_TRUNCATED);
    }
    EXPECT_STREQ(sink.data(), "12345...");
    expect_info(info, from, 3, 8);
    EXPECT_TRUE(ok(rma_wait(&send)));
    barrier();
  }
}

}  // namespace
}  // namespace multi
