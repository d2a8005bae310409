// Receives whose end is told in the caller's memory (rma/unchecked.h).

#include "rma/unchecked.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "messages.hpp"

namespace multi {
namespace {

constexpr std::uint32_t kPosted = 11;

int previous() { return neighbour(ranks() - 1); }

void send_number(std::uint64_t number, int tag) {
  if (rma_try_send(&number, sizeof number, neighbour(1), tag, kPosted) != 0) return;
  EXPECT_TRUE(ok(rma_send(&number, sizeof number, neighbour(1), tag, kPosted)));
}

TEST(Message, PostedReceivesEndInTheirOrder) {
  constexpr std::size_t kReceives = 100;
  std::array<rma_posted_recv_t, kReceives> receives = {};
  std::array<std::uint64_t, kReceives> numbers = {};
  for (std::size_t i = 0; i < kReceives; ++i)
    EXPECT_TRUE(ok(rma_post_recv(&numbers[i], 8, previous(), RMA_ANY_TAG, kPosted, &receives[i])));
  barrier();
  for (std::size_t i = 0; i < kReceives; ++i) send_number(i, static_cast<int>(i));
  for (std::size_t i = 0; i < kReceives; ++i) {
    EXPECT_TRUE(ok(rma_posted_wait(&receives[i])));
    EXPECT_NE(rma_posted_ended(&receives[i]), 0);
    EXPECT_EQ(numbers[i], i);
    EXPECT_EQ(receives[i].info.source, previous());
    EXPECT_EQ(receives[i].info.tag, static_cast<int>(i));
    EXPECT_EQ(receives[i].info.bytes, 8U);
  }
  barrier();
}

/// Posts a receive of a number in a context that is known.
void post_in(rma_posted_recv_t& receive, std::uint64_t& number, int tag) {
  rma_receive_context_t* const context = rma_find_receive_context(kPosted);
  if (context == nullptr) {  // calls are traced
    EXPECT_TRUE(ok(rma_post_recv(&number, sizeof number, previous(), tag, kPosted, &receive)));
    return;
  }
  receive.address = &number;
  receive.bytes = sizeof number;
  EXPECT_EQ(rma_post_recv_in(&receive, previous(), tag, context), RMA_SUCCESS);
}

TEST(Message, ReceivesInAKnownContextEndInTheirOrder) {
  constexpr std::size_t kReceives = 100;
  std::array<rma_posted_recv_t, kReceives> receives = {};
  std::array<std::uint64_t, kReceives> numbers = {};
  const auto tag = [](std::size_t i) { return 20 + static_cast<int>(i % 3); };
  for (std::size_t i = 0; i < kReceives; ++i) post_in(receives[i], numbers[i], tag(i));
  barrier();
  for (std::size_t i = 0; i < kReceives; ++i) send_number(i, tag(i));
  for (std::size_t i = 0; i < kReceives; ++i) {
    EXPECT_TRUE(ok(rma_posted_wait(&receives[i])));
    EXPECT_EQ(numbers[i], i);
    EXPECT_EQ(receives[i].info.source, previous());
    EXPECT_EQ(receives[i].info.tag, tag(i));
    EXPECT_EQ(receives[i].info.bytes, 8U);
  }
  barrier();
}

TEST(Message, AReceiveInAKnownContextComesAfterEarlierOnesAndTakesEarlierMessages) {
  rma_posted_recv_t wildcard = {};
  rma_posted_recv_t receive = {};
  rma_posted_recv_t kept = {};
  std::array<std::uint64_t, 3> numbers = {};
  EXPECT_TRUE(ok(rma_post_recv(numbers.data(), 8, RMA_ANY_SOURCE, RMA_ANY_TAG, kPosted, &wildcard)));
  post_in(receive, numbers[1], 30);
  barrier();
  send_number(40, 30);
  send_number(41, 30);
  // No receive is posted for the third one yet, so a blocking send of it waits with RMA_EAGER=0.
  const std::uint64_t third = 42;
  rma_request_t send = RMA_REQUEST_NULL;
  EXPECT_TRUE(ok(rma_send_nb(&third, sizeof third, neighbour(1), 30, kPosted, &send)));
  EXPECT_TRUE(ok(rma_posted_wait(&wildcard)));
  EXPECT_TRUE(ok(rma_posted_wait(&receive)));
  int found = 0;
  while (found == 0) EXPECT_TRUE(ok(rma_iprobe(previous(), 30, kPosted, &found, nullptr)));
  post_in(kept, numbers[2], 30);
  EXPECT_TRUE(ok(rma_posted_wait(&kept)));
  EXPECT_TRUE(ok(rma_wait(&send)));
  EXPECT_EQ(numbers, (std::array<std::uint64_t, 3>{40, 41, 42}));
  barrier();
}

TEST(Message, AReceiveInAKnownContextIsCancelledOrCutOff) {
  rma_posted_recv_t receive = {};
  std::uint64_t number = 0;
  post_in(receive, number, 31);
  rma_posted_cancel(&receive);
  EXPECT_EQ(rma_posted_wait(&receive), RMA_ERR_CANCELED);
  post_in(receive, number, 32);
  barrier();
  const std::array<std::uint64_t, 2> longer = {5, 6};
  EXPECT_TRUE(ok(rma_send(longer.data(), sizeof longer, neighbour(1), 32, kPosted)));
  EXPECT_EQ(rma_posted_wait(&receive), RMA_ERR_TRUNCATED);
  EXPECT_EQ(number, 5U);
  EXPECT_EQ(receive.info.bytes, 16U);
  barrier();
}

TEST(Message, APostedReceiveTakesAMessageThatCameBefore) {
  rma_posted_recv_t receive = {};
  std::uint64_t number = 0;
  // Not a blocking send: no receive is posted yet, and RMA_EAGER=0 makes such a send wait for one.
  const std::uint64_t sent = 7;
  rma_request_t send = RMA_REQUEST_NULL;
  EXPECT_TRUE(ok(rma_send_nb(&sent, sizeof sent, neighbour(1), 1, kPosted, &send)));
  int found = 0;
  while (found == 0) EXPECT_TRUE(ok(rma_iprobe(previous(), 1, kPosted, &found, nullptr)));
  EXPECT_TRUE(ok(rma_post_recv(&number, 8, previous(), 1, kPosted, &receive)));
  EXPECT_TRUE(ok(rma_posted_wait(&receive)));
  EXPECT_EQ(number, 7U);
  EXPECT_TRUE(ok(rma_wait(&send)));
  barrier();
}

TEST(Message, ATestOfAPostedReceiveMakesProgress) {
  rma_posted_recv_t receive = {};
  std::uint64_t number = 0;
  EXPECT_TRUE(ok(rma_post_recv(&number, 8, previous(), 2, kPosted, &receive)));
  if (ranks() > 1) EXPECT_EQ(rma_posted_test(&receive), 0);
  barrier();
  send_number(9, 2);
  while (rma_posted_test(&receive) == 0) {
  }
  EXPECT_TRUE(ok(rma_posted_wait(&receive)));
  EXPECT_EQ(number, 9U);
  barrier();
}

TEST(Message, AMessageTooLongForAPostedReceiveIsCutOff) {
  rma_posted_recv_t receive = {};
  std::uint32_t number = 0;
  EXPECT_TRUE(ok(rma_post_recv(&number, 4, previous(), 3, kPosted, &receive)));
  barrier();
  send_number(0x100000005, 3);
  EXPECT_EQ(rma_posted_wait(&receive), RMA_ERR_TRUNCATED);
  EXPECT_NE(std::string_view(rma_last_error()).find("more than the buffer holds"), std::string_view::npos);
  EXPECT_EQ(number, 5U);
  EXPECT_EQ(receive.info.bytes, 8U);
  barrier();
}

TEST(Message, APostedReceiveIsCancelled) {
  rma_posted_recv_t receive = {};
  std::uint64_t number = 0;
  EXPECT_TRUE(ok(rma_post_recv(&number, 8, previous(), 4, kPosted, &receive)));
  rma_posted_cancel(&receive);
  EXPECT_EQ(rma_posted_wait(&receive), RMA_ERR_CANCELED);
  barrier();
}

TEST(Message, APostedReceiveGetsARequest) {
  rma_posted_recv_t receive = {};
  std::uint64_t number = 0;
  rma_request_t request = RMA_REQUEST_NULL;
  EXPECT_TRUE(ok(rma_post_recv(&number, 8, previous(), 5, kPosted, &receive)));
  EXPECT_TRUE(ok(rma_posted_request(&receive, &request)));
  EXPECT_NE(request, RMA_REQUEST_NULL);
  barrier();
  send_number(11, 5);
  std::size_t index = 1;
  EXPECT_TRUE(ok(rma_wait_any(&request, 1, &index)));
  EXPECT_EQ(index, 0U);
  EXPECT_EQ(number, 11U);
  EXPECT_EQ(receive.info.tag, 5);
  EXPECT_EQ(rma_posted_ended(&receive), 0) << "the request has ended instead";

  EXPECT_TRUE(ok(rma_post_recv(&number, 8, previous(), 6, kPosted, &receive)));
  send_number(12, 6);
  EXPECT_TRUE(ok(rma_posted_wait(&receive)));
  EXPECT_TRUE(ok(rma_posted_request(&receive, &request)));
  EXPECT_EQ(request, RMA_REQUEST_NULL) << "the receive has ended";
  barrier();
}

}  // namespace
}  // namespace multi
