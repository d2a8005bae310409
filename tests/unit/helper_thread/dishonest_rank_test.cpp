#include <random>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "helper_world.hpp"

namespace librma {
namespace {

/// The test itself chooses the messages of rank 1 to rank 0. Rank 2 is honest.
class DishonestRank : public HelperWorld {
 protected:
  void SetUp() override { fresh(); }
  void fresh() {
    for (auto& rank : ranks) rank->helper.reset();
    ranks.clear();
    later.clear();
    open(3);
    for (int rank = 0; rank < 3; ++rank) {
      server(rank).serve(RequestKind::put, [](const Served& request) { return echo(request); });
      server(rank).serve(RequestKind::atomic, [this](const Served& request) -> std::optional<Answer> {
        later.push_back(request.asker);
        return std::nullopt;
      });
    }
    start();
    // Everybody is connected, and has heard of everybody.
    for (const auto& [one, other] : {std::pair{0, 1}, {1, 0}, {0, 2}, {2, 0}}) {
      ask(one, other, RequestKind::put, {}, 0);
    }
    ASSERT_TRUE(settle());
  }
  void say(std::uint16_t kind, const Bytes& body) { channel(1).send(0, 0, kind, body, {}); }
  /// Returns a valid request of rank 1, with room for bodies and answers in its memory.
  [[nodiscard]] RequestHeader request(std::size_t body) {
    if (memory.empty()) memory.resize(8192);
    const Registered registered = at(1).rails->add(memory.data(), memory.size()).value();
    return {.token = 77,
            .reply_address = reinterpret_cast<std::uintptr_t>(memory.data()),
            .reply_key = registered.remote[0],
            .body_bytes = static_cast<std::uint32_t>(body),
            .kind = RequestKind::put};
  }

  /// Returns whether rank 0 has given rank 1 up. Checks that it still serves rank 2.
  [[nodiscard]] bool given_up() {
    EXPECT_TRUE(settle());
    const Bytes body = random_bytes(5, 3000);
    const auto honest = ask(2, 0, RequestKind::put, body, 3000);
    const auto other = ask(0, 2, RequestKind::put, body, 3000);
    EXPECT_TRUE(settle());
    EXPECT_EQ(honest->body, body);
    EXPECT_EQ(other->body, body);
    Status status;
    ask(0, 1, RequestKind::put, {}, 0, &status);
    EXPECT_TRUE(settle());
    return status.code() == RMA_ERR_PEER_LOST;
  }

  std::vector<Asker> later;
  std::vector<std::byte> memory;
};

TEST_F(DishonestRank, AnswersToNoQuestion) {
  for (const std::uint64_t token :
       {std::uint64_t{0}, std::uint64_t{1} << 32U, std::uint64_t{2} << 32U, std::uint64_t{5} << 32U | 1U,
        std::uint64_t{1} << 32U | 1000U, ~std::uint64_t{0}}) {
    fresh();
    say(kReplyMessage, bytes_of_wire(ReplyHeader{.token = token}));
    EXPECT_TRUE(given_up()) << token;
  }
}

TEST_F(DishonestRank, AnswersToAnothersQuestion) {
  const auto outcome = ask(0, 2, RequestKind::atomic, {}, 8);
  ASSERT_TRUE(settle());
  ASSERT_EQ(later.size(), 1U);
  say(kReplyMessage, bytes_of_wire(ReplyHeader{.token = later[0].token}));
  ASSERT_TRUE(settle());
  EXPECT_EQ(outcome->answers, 0);
  EXPECT_TRUE(given_up());
  server(2).answer(later[0], RMA_SUCCESS);
  ASSERT_TRUE(settle());
  EXPECT_EQ(outcome->status, RMA_SUCCESS);
}

TEST_F(DishonestRank, AnswersTwice) {
  const auto outcome = ask(0, 1, RequestKind::atomic, {}, 8);
  ASSERT_TRUE(settle());
  ASSERT_EQ(later.size(), 1U);
  say(kReplyMessage, bytes_of_wire(ReplyHeader{.token = later[0].token}));
  say(kReplyMessage, bytes_of_wire(ReplyHeader{.token = later[0].token}));
  EXPECT_TRUE(given_up());
  EXPECT_EQ(outcome->answers, 1);
  EXPECT_EQ(outcome->status, RMA_SUCCESS);
}

TEST_F(DishonestRank, AnswersThatLie) {
  const std::vector<std::pair<ReplyHeader, std::size_t>> lies = {
      {{.bytes = 1}, 0},  // a size that is not the message's
      {{.bytes = 0}, 1},
      {{.bytes = 0xffffffff}, 4},
      {{.bytes = 9}, 9},  // more than the room for it
      {{.bytes = 100}, 100},
      {{.status = -1}, 0},  // no status
      {{.status = 1000}, 0},
      {{.bytes = 8, .written = 1}, 0},  // written to a buffer that was not offered
      {{.bytes = 8, .written = 7}, 8},
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    fresh();
    const auto outcome = ask(0, 1, RequestKind::atomic, {}, 8);
    const auto second = ask(0, 1, RequestKind::atomic, {}, 8);
    ASSERT_TRUE(settle());
    ReplyHeader header = lies[i].first;
    header.token = later.at(0).token;
    say(kReplyMessage, bytes_of_wire(header) + Bytes(lies[i].second));
    EXPECT_TRUE(given_up()) << "lie " << i;
    EXPECT_EQ(outcome->answers, 1);
    EXPECT_EQ(outcome->status, RMA_ERR_PEER_LOST);
    EXPECT_EQ(second->answers, 1);
    EXPECT_EQ(second->status, RMA_ERR_PEER_LOST);
  }
}

TEST_F(DishonestRank, SaysThatMoreIsDoneThanWasAsked) {
  const Bytes token(sizeof(std::uint64_t));
  for (const Bytes& tokens : {Bytes{}, token, token + token, Bytes(7), Bytes(12)}) {
    fresh();
    say(kDoneMessage, tokens);
    EXPECT_TRUE(given_up()) << tokens.size() << " bytes";
  }
}

TEST_F(DishonestRank, SaysOfARequestThatIsWaitedForThatItIsDone) {
  PendingOperations& pending = *at(0).pending;
  const rma_request_t operation = pending.open(1);
  ASSERT_TRUE(
      client(0).ask({.rank = 1, .kind = RequestKind::atomic, .reply_room = 8, .operation = operation}).ok());
  ASSERT_TRUE(settle());
  say(kDoneMessage, bytes_of_wire(later.at(0).token));
  EXPECT_TRUE(given_up());
  EXPECT_EQ(pending.finish(operation).code(), RMA_ERR_PEER_LOST);
}

TEST_F(DishonestRank, MoreThanABufferIsWritten) {
  const auto outcome = ask(0, 1, RequestKind::atomic, {}, 4096);
  ASSERT_TRUE(settle());
  say(kReplyMessage, bytes_of_wire(ReplyHeader{.token = later.at(0).token, .bytes = 4097, .written = 1}));
  EXPECT_TRUE(given_up());
  EXPECT_EQ(outcome->status, RMA_ERR_PEER_LOST);
}

TEST_F(DishonestRank, MessagesThatAreNone) {
  for (std::uint16_t kind = kReplyMessage; kind != 0; kind = static_cast<std::uint16_t>(kind * 7)) {
    fresh();
    say(kind, Bytes(kind == kReplyMessage ? sizeof(ReplyHeader) - 1 : 100));
    EXPECT_TRUE(given_up()) << "kind " << kind;
    if (kind > 10000) break;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, sizeof(RequestHeader) - 1}) {
    fresh();
    say(kRequestMessage, Bytes(size));
    EXPECT_TRUE(given_up()) << size;
  }
}

TEST_F(DishonestRank, RequestsOfNoKind) {
  for (const unsigned kind : {static_cast<unsigned>(RequestKind::accumulate),  // not served here
                              static_cast<unsigned>(RequestKind::count_), 0x8000U, 0xffffU}) {
    fresh();
    RequestHeader header = request(0);
    header.kind = static_cast<RequestKind>(kind);
    say(kRequestMessage, bytes_of_wire(header));
    EXPECT_TRUE(given_up()) << kind;
  }
}

TEST_F(DishonestRank, BodiesOfAnotherLength) {
  for (const std::uint32_t claimed : {0U, 9U, 11U, 0xffffffffU}) {
    fresh();
    RequestHeader header = request(claimed);
    say(kRequestMessage, bytes_of_wire(header) + Bytes(10));
    EXPECT_TRUE(given_up()) << claimed;
  }
  fresh();
  RequestHeader header = request(10);
  header.body_address = header.reply_address;
  header.body_key = header.reply_key;
  say(kRequestMessage, bytes_of_wire(header) + Bytes(10));
  EXPECT_TRUE(given_up()) << "here and there";
}

TEST_F(DishonestRank, BodiesAndRoomThatAreNotThere) {
  for (const bool body : {false, true}) {
    for (const std::uint64_t address : {std::uint64_t{1}, std::uint64_t{4096}, ~std::uint64_t{0}}) {
      for (const std::uint32_t key : {0U, 1U, 0xffffffffU}) {
        fresh();
        RequestHeader header = request(4000);
        header.reply_room = 4000;
        header.body_address = header.reply_address;
        header.body_key = header.reply_key;
        (body ? header.body_address : header.reply_address) = address;
        (body ? header.body_key : header.reply_key) = key;
        say(kRequestMessage, bytes_of_wire(header));
        EXPECT_TRUE(given_up()) << body << " " << address << " " << key;
      }
    }
  }
}

TEST_F(DishonestRank, TooMuchIsRefusedAndNothingElse) {
  for (const bool body : {false, true}) {
    for (const std::uint32_t size : {4097U, 0x7fffffffU, 0xffffffffU}) {
      fresh();
      RequestHeader header = request(body ? size : 0);
      if (body) {
        header.body_address = header.reply_address;
        header.body_key = header.reply_key;
      } else {
        header.reply_room = size;
      }
      // The answer goes to a rank that sent no such request, so that rank gives rank 0 up.
      say(kRequestMessage, bytes_of_wire(header));
      ASSERT_TRUE(settle());
      Status status;
      ask(1, 0, RequestKind::put, {}, 0, &status);
      EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST) << "it was answered";
    }
  }
}

TEST_F(DishonestRank, ManyLongRequestsThatAllWait) {
  for (int i = 0; i < 2000; ++i) {
    RequestHeader header = request(4000);
    header.kind = RequestKind::atomic;
    header.body_address = header.reply_address;
    header.body_key = header.reply_key;
    header.reply_room = 4000;
    say(kRequestMessage, bytes_of_wire(header));
  }
  EXPECT_FALSE(given_up());
  EXPECT_EQ(later.size(), 2000U);
}

TEST_F(DishonestRank, AnyBytes) {
  // A rank without credits sends nothing, and learns only by its own timeout that it was given up.
  settings.peer_receives = 32;
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < fewer_if_sanitized(300); ++round) {
    fresh();
    ask(0, 1, RequestKind::atomic, {}, 8);
    for (int i = 0; i < 8; ++i) {
      Bytes body = random_bytes(random(), random() % 300);
      if (random() % 2 == 0) {
        RequestHeader header = request(body.size());
        header.reply_room = static_cast<std::uint32_t>(random() % 5000);
        if (random() % 2 == 0) header.kind = RequestKind::atomic;
        body = bytes_of_wire(header) + body;
      }
      say(random() % 2 == 0 ? kRequestMessage : kReplyMessage, body);
    }
    static_cast<void>(given_up());
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

}  // namespace
}  // namespace librma
