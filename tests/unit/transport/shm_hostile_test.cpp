// A process of the host that writes arbitrary data into its card and into the segments of others.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "../seed.hpp"
#include "shm_endpoints.hpp"

namespace librma::transport {
namespace {

using Numbers = std::vector<std::uint32_t>;

class ShmHostile : public ShmEndpoints {
 protected:
  /// Returns the result of rank 3's connect() with a changed card of rank 9.
  rma_status_t outcome(const std::function<void(ShmCard&)>& change) {
    ShmCard card = at(9).card();
    change(card);
    return at(3).transport->connect(9, bytes_of(card)).code();
  }
  [[nodiscard]] MappedSegment segment_of(int rank) { return at(rank).own_segment(); }
  /// Checks that rank 3 and rank 5 can still exchange messages.
  void expect_others_go_on() {
    at(3).arrived.clear();
    at(5).arrived.clear();
    ASSERT_EQ(at(3).send(5, 31U), RMA_SUCCESS);
    ASSERT_EQ(at(5).send(3, 32U), RMA_SUCCESS);
    while (at(3).poll() + at(5).poll() != 0) {
    }
    EXPECT_EQ(at(5).numbers(), Numbers{31});
    EXPECT_EQ(at(3).numbers(), Numbers{32});
  }
};

TEST_F(ShmHostile, CardsAreChecked) {
  open();
  EXPECT_EQ(at(3).transport->connect(9, {}).code(), RMA_ERR_LAUNCH);
  EXPECT_EQ(at(3).transport->connect(9, std::vector<std::byte>(sizeof(ShmCard) - 1)).code(), RMA_ERR_LAUNCH);
  EXPECT_EQ(at(3).transport->connect(9, std::vector<std::byte>(sizeof(ShmCard))).code(), RMA_ERR_LAUNCH);
  EXPECT_EQ(at(3).transport->connect(9, at(5).transport->card()).code(), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { ++card.magic; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { ++card.version; }), RMA_ERR_VERSION);
  EXPECT_EQ(outcome([](ShmCard& card) { card.rank = -1; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { card.rank = 5; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { card.seats = 4; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { card.seats = UINT64_MAX; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { card.bytes = 0; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { card.bytes = 64; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { card.bytes -= 4096; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { card.bytes *= 2; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { card.bytes = UINT64_MAX; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { ++card.base; }), RMA_ERR_LAUNCH);
  EXPECT_EQ(outcome([](ShmCard& card) { ++card.token; }), RMA_ERR_LAUNCH);
  ASSERT_TRUE(connect(at(3), at(9), 9).ok()) << "nothing of this is remembered";
}

TEST_F(ShmHostile, MemoryThatItsOwnerCouldCutIsRefused) {
  open();
  const ShmCard card = at(9).card();
  const int file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(card.bytes)), 0);
  at(3).host.find(9)->files[static_cast<std::size_t>(Handed::segment)] =
      Descriptor(fcntl(file, F_DUPFD_CLOEXEC, 0));
  const auto change = [&](ShmCard& forged) {
    EXPECT_EQ(pwrite(file, &forged, sizeof forged, 0), static_cast<ssize_t>(sizeof forged));
  };
  EXPECT_EQ(outcome(change), RMA_ERR_LAUNCH);
  EXPECT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_GROW), 0);
  EXPECT_EQ(outcome(change), RMA_ERR_LAUNCH);
  close(file);
}

TEST_F(ShmHostile, WildAnswersAreRefused) {
  open();
  const MappedSegment segment = segment_of(9);
  Seat& seat = segment.seat(0);
  const auto refused = [&](std::uint64_t queue, QueueShape shape, std::uint32_t buffers) {
    seat.queue = queue;
    seat.shape = shape;
    seat.buffers = buffers;
    seat.admitted = Seat::Answer::admitted;
    const Status status = at(3).transport->connect(9, at(9).transport->card());
    EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
    return status.text().find("refuses") != std::string_view::npos;
  };
  const std::uint64_t end = segment.bytes();
  EXPECT_TRUE(refused(end, {4, 64}, 4));
  EXPECT_TRUE(refused(end - 192, {4, 64}, 4));
  EXPECT_TRUE(refused(UINT64_MAX - 63, {4, 64}, 4));
  EXPECT_TRUE(refused(4097, {4, 64}, 4));
  EXPECT_TRUE(refused(4096, {0, 64}, 4));
  EXPECT_TRUE(refused(4096, {4, 0}, 4));
  EXPECT_TRUE(refused(4096, {4, 65}, 4));
  EXPECT_TRUE(refused(4096, {UINT32_MAX, 64}, 4));
  EXPECT_TRUE(refused(4096, {4, UINT32_MAX - 63}, 4));
  EXPECT_TRUE(refused(4096, {1U << 20U, 1U << 20U}, 4));
  seat.admitted = static_cast<Seat::Answer>(77);
  EXPECT_EQ(at(3).transport->connect(9, at(9).transport->card()).code(), RMA_ERR_PEER_LOST);
}

TEST_F(ShmHostile, WildCallersAreRefusedAndHarmNobodyElse) {
  open();
  ASSERT_TRUE(connect(at(3), at(5), 5).ok());
  const MappedSegment segment = segment_of(5);
  Seat& seat = segment.seat(2);
  std::memset(static_cast<void*>(&seat.caller), 0x77, sizeof seat.caller);
  seat.called = 1;
  segment.head().calls += 1000;
  at(5).poll();
  EXPECT_EQ(seat.admitted.load(), Seat::Answer::refused);
  expect_others_go_on();
}

TEST_F(ShmHostile, ACallerWithTheCardOfAnotherIsRefused) {
  open();
  const MappedSegment segment = segment_of(5);
  Seat& seat = segment.seat(2);
  seat.caller = at(3).card();
  seat.called = 1;
  ++segment.head().calls;
  at(5).poll();
  EXPECT_EQ(seat.admitted.load(), Seat::Answer::refused);
  ASSERT_TRUE(connect(at(3), at(5), 5).ok());
  expect_others_go_on();
}

TEST_F(ShmHostile, WildMessagesCostTheirSenderTheConnection) {
  open_connected();
  const MappedSegment segment = segment_of(5);
  const Seat& seat = segment.seat(2);
  const auto slot = segment.range(seat.queue, 8);
  std::memset(slot->data(), 0xee, 8);
  at(5).poll();
  ASSERT_EQ(at(5).ended.size(), 1U);
  EXPECT_EQ(at(5).ended[0].peer, 9);
  EXPECT_EQ(at(5).ended[0].status, RMA_ERR_PEER_LOST);
  EXPECT_EQ(at(5).send(9, 1U), RMA_ERR_PEER_LOST);
  at(5).poll();
  EXPECT_EQ(at(5).ended.size(), 1U);
  expect_others_go_on();
  EXPECT_TRUE(at(5).messages().arm(transport::MessageEndpoint::Events::all));
}

TEST_F(ShmHostile, AReceiverThatTookWhatItCannotHaveIsLost) {
  open_connected();
  const MappedSegment segment = segment_of(9);
  Seat& seat = segment.seat(1);  // the seat of rank 5, which fills its queue
  for (std::uint32_t i = 0; i < seat.shape.slots; ++i) ASSERT_EQ(at(5).send(9, i), RMA_SUCCESS);
  seat.taken = 1'000'000;
  EXPECT_EQ(at(5).send(9, 1U), RMA_ERR_PEER_LOST);
  expect_others_go_on();
}

TEST_F(ShmHostile, RubbishAllOverTheSegmentIsSurvived) {
  std::mt19937_64 random(test_seed());
  for (int world = 0; world < 20; ++world) {
    ends.clear();
    open_connected();
    const MappedSegment segment = segment_of(5);
    for (int i = 0; i < 300; ++i) {
      const std::size_t at_word = random() % (random() % 2 == 0 ? 128 : 4096);
      std::uint64_t rubbish = random() % 2 == 0 ? random() : random() % 8;
      if (random() % 4 == 0) rubbish <<= 32U;
      std::atomic_ref(reinterpret_cast<std::uint64_t*>(segment.base())[at_word]).store(rubbish);
      const auto number = static_cast<std::uint32_t>(i);
      static_cast<void>(at(3).send(5, number));
      static_cast<void>(at(5).send(3, number));
      static_cast<void>(at(9).send(5, std::vector<std::byte>(random() % ShmEnd::kMessage)));
      for (const int rank : {3, 5, 9}) {
        at(rank).poll();
        static_cast<void>(at(rank).messages().arm(transport::MessageEndpoint::Events::all));
      }
    }
  }
}

}  // namespace
}  // namespace librma::transport
