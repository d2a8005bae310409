// Announced messages at the sizes at which a protocol changes what it does, with every kind of buffer. The
// settings of the job choose the protocol.

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "messages.hpp"
#include "rma/variables.h"

namespace multi {
namespace {

constexpr std::uint32_t kRendezvousContext = 31;

enum class Kind { misaligned, fresh, reused, read_only };

/// Pages that were never used before.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : bytes_(bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    data_ = static_cast<std::byte*>(at);
  }
  ~Pages() { munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  void protect() const { EXPECT_EQ(mprotect(data_, bytes_, PROT_READ), 0); }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

struct Exchange {
  std::unique_ptr<Pages> own_source;
  std::unique_ptr<Pages> own_sink;
  std::size_t bytes = 0;
  std::byte* source = nullptr;
  std::byte* sink = nullptr;
};

/// Every rank sends one message of each size and of these kinds to the next, all at the same time.
void exchange_all(std::initializer_list<Kind> kinds, Pages& out, Pages& in, std::uint64_t round) {
  const std::vector<std::size_t> sizes = {1, 999, 1001, 16384, 16385, 40000, 70001, 150000};
  const int to = neighbour(1);
  const int from = neighbour(ranks() - 1);
  std::vector<Exchange> all;
  std::size_t reused = 0;
  for (const Kind kind : kinds) {
    for (const std::size_t bytes : sizes) {
      Exchange& one = all.emplace_back();
      one.bytes = bytes;
      if (kind == Kind::reused || kind == Kind::misaligned) {
        one.source = out.data() + reused + (kind == Kind::misaligned ? 1 : 0);
        one.sink = in.data() + reused + (kind == Kind::misaligned ? 3 : 0);
        reused += (bytes + 127) / 64 * 64;
      } else {
        one.own_source = std::make_unique<Pages>(bytes);
        one.own_sink = std::make_unique<Pages>(bytes);
        one.source = one.own_source->data();
        one.sink = one.own_sink->data();
      }
      const auto data = contents(bytes, round * 1000 + all.size(), me(), to);
      std::memcpy(one.source, data.data(), bytes);
      if (kind == Kind::read_only) one.own_source->protect();
    }
  }
  std::vector<rma_request_t> requests(2 * all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Every other receive is posted when its message has most likely been announced.
    const auto post = [&] {
      EXPECT_TRUE(ok(rma_recv_nb(all[i].sink, all[i].bytes, from, static_cast<int>(i), kRendezvousContext,
                                 nullptr, &requests[2 * i])));
    };
    if (i % 2 == 0) post();
    EXPECT_TRUE(ok(rma_ssend_nb(all[i].source, all[i].bytes, to, static_cast<int>(i), kRendezvousContext,
                                &requests[2 * i + 1])));
    if (i % 2 != 0) post();
  }
  EXPECT_TRUE(ok(rma_wait_all(requests.data(), requests.size())));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto expected = contents(all[i].bytes, round * 1000 + i + 1, from, me());
    EXPECT_EQ(first_difference(expected, {all[i].sink, all[i].bytes}), all[i].bytes) << "message " << i;
  }
  barrier();
}

TEST(Rendezvous, EverySizeClassAndKindOfBuffer) {
  Pages out(std::size_t{1} << 20U);
  Pages in(std::size_t{1} << 20U);
  for (std::uint64_t round = 0; round < 2; ++round) {
    exchange_all({Kind::misaligned, Kind::fresh, Kind::reused}, out, in, round);
  }
}

// The devices of another host cannot have such memory registered, so its data go in fragments.
TEST(RendezvousReadOnly, EverySizeClass) {
  Pages out(1);
  Pages in(1);
  exchange_all({Kind::read_only}, out, in, 0);
}

/// Returns how many messages this rank has copied together with their senders.
long shared_receives() {
  for (std::size_t counter = 0; counter < rma_counter_count(); ++counter) {
    if (std::string_view(rma_counter_name(counter)) == "receive_shared")
      return static_cast<long>(rma_counter_value(counter));
  }
  ADD_FAILURE() << "there is no such counter";
  return 0;
}

/// Returns whether each of two ranks has copied a message together with its sender. Collective.
bool both_shared() {
  long least = shared_receives();
  EXPECT_TRUE(ok(rma_allreduce(rma_team_world(), &least, &least, 1, RMA_LONG, RMA_MIN)));
  return least != 0;
}

// Sender and receiver wait at the same time, so they copy together. Both copy the last, shorter piece at some
// time.
TEST(RendezvousShared, LongMessagesBetweenRanksThatWait) {
  constexpr std::size_t kMost = (std::size_t{1} << 20U) + 4097;
  constexpr int kRounds = 40;
  // If the machine has other work, a sender may not have a processor while its message is copied. Two ranks
  // go on until each has copied a message together with its sender; multi.rendezvous-shared.n2 fails if that
  // never was.
  constexpr int kMostRounds = 1000;
  const bool first = me() % 2 == 0;
  const int partner = first ? me() + 1 : me() - 1;
  barrier();
  for (int round = 0; partner < ranks() && round < kMostRounds; ++round) {
    if (round >= kRounds && (ranks() != 2 || both_shared())) break;
    for (const std::size_t bytes : {std::size_t{65536}, std::size_t{65537}, std::size_t{300'001}, kMost}) {
      const auto source = contents(bytes, static_cast<std::uint64_t>(round), me(), partner);
      // The buffer is shorter than the message in some rounds.
      const std::size_t room = round % 4 == 3 ? bytes - 5000 : bytes;
      std::vector<std::byte> sink(bytes, std::byte{0x5a});
      const auto send = [&] {
        EXPECT_TRUE(ok(rma_ssend(source.data(), bytes, partner, round, kRendezvousContext)));
      };
      if (first) send();
      EXPECT_EQ(rma_recv(sink.data(), room, partner, round, kRendezvousContext, nullptr),
                room == bytes ? RMA_SUCCESS : RMA_ERR_TRUNCATED);
      if (!first) send();
      const auto expected = contents(bytes, static_cast<std::uint64_t>(round), partner, me());
      EXPECT_EQ(first_difference(std::span(expected).first(room), std::span(sink).first(room)), room);
      EXPECT_TRUE(std::all_of(sink.begin() + static_cast<std::ptrdiff_t>(room), sink.end(),
                              [](std::byte each) { return each == std::byte{0x5a}; }));
    }
  }
  barrier();
}

// A send of each rank to its neighbour is under way until the end, so nobody asks for help with what it
// receives.
TEST(RendezvousBothWays, EachRankCopiesWhatItReceives) {
  constexpr std::size_t kBytes = std::size_t{1} << 20U;
  constexpr int kRounds = 40;
  const bool first = me() % 2 == 0;
  const int partner = first ? me() + 1 : me() - 1;
  barrier();
  const long before = shared_receives();
  if (partner < ranks()) {
    const auto source = contents(kBytes, 0, me(), partner);
    const auto expected = contents(kBytes, 0, partner, me());
    std::vector<std::byte> sink(kBytes);
    rma_request_t pending = RMA_REQUEST_NULL;
    EXPECT_TRUE(ok(rma_ssend_nb(source.data(), kBytes, partner, kRounds, kRendezvousContext, &pending)));
    for (int round = 0; round < kRounds; ++round) {
      if (first) EXPECT_TRUE(ok(rma_ssend(source.data(), kBytes, partner, round, kRendezvousContext)));
      std::fill(sink.begin(), sink.end(), std::byte{0});
      EXPECT_TRUE(ok(rma_recv(sink.data(), kBytes, partner, round, kRendezvousContext, nullptr)));
      EXPECT_EQ(first_difference(expected, sink), kBytes) << round;
      if (!first) EXPECT_TRUE(ok(rma_ssend(source.data(), kBytes, partner, round, kRendezvousContext)));
    }
    EXPECT_EQ(shared_receives(), before);
    EXPECT_TRUE(ok(rma_recv(sink.data(), kBytes, partner, kRounds, kRendezvousContext, nullptr)));
    EXPECT_TRUE(ok(rma_wait(&pending)));
  }
  barrier();
}

TEST(Rendezvous, TruncatedMessages) {
  const int to = neighbour(1);
  const int from = neighbour(ranks() - 1);
  for (const std::size_t room : {0U, 1U, 500U, 1001U, 50000U}) {
    const auto source = contents(100000, room, me(), to);
    std::vector<std::byte> sink(room + 1, std::byte{0x5a});
    rma_request_t receive = RMA_REQUEST_NULL;
    rma_request_t send = RMA_REQUEST_NULL;
    rma_message_info_t info = {};
    EXPECT_TRUE(ok(rma_recv_nb(sink.data(), room, from, 1, kRendezvousContext, &info, &receive)));
    EXPECT_TRUE(ok(rma_send_nb(source.data(), source.size(), to, 1, kRendezvousContext, &send)));
    EXPECT_EQ(rma_wait(&receive), RMA_ERR_TRUNCATED);
    EXPECT_TRUE(ok(rma_wait(&send)));
    expect_info(info, from, 1, source.size());
    const auto expected = contents(100000, room, from, me());
    EXPECT_EQ(first_difference(std::span(expected).first(room), std::span(sink).first(room)), room);
    EXPECT_EQ(sink[room], std::byte{0x5a}) << "the byte behind the buffer";
  }
}

}  // namespace
}  // namespace multi
