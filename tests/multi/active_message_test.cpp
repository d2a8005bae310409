// Active messages: every form, of random sizes, against what sender and receiver draw alike; floods; threads;
// ranks that compute; misuse.

#include "rma/active_messages.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "harness.hpp"

namespace multi {
namespace {

constexpr std::size_t kLongest = 40'000;
enum class Form : std::uint8_t { words, medium, lasting, none };

/// The message with a number from one rank to another. Sender and receiver draw the same words and payload.
struct Draw {
  Draw(int source, int target, std::uint64_t number, bool reply, std::size_t medium, std::size_t most_long)
      : random({0xa3, static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(target), number,
                reply ? 1U : 0U}) {
    form = static_cast<Form>(random.below(reply ? 4 : 3));
    words.resize(1 + random.below(RMA_AM_WORDS));
    for (std::uint64_t& word : words) word = random.word();
    words[0] = number;
    const std::size_t most = form == Form::medium ? medium : most_long;
    payload.resize(form == Form::words || form == Form::none
                       ? 0
                       : random.pick(std::array<std::size_t, 4>{0, 1, random.below(most), most}));
    random.fill(payload);
  }
  Random random;
  Form form;
  std::vector<std::uint64_t> words;
  std::vector<std::byte> payload;
};

/// The state that handlers of this rank change. They may run in any thread.
struct Board {
  int request = -1;
  int reply = -1;
  int count = -1;
  int counted = -1;
  std::size_t medium = 0;
  std::size_t long_reply = 0;
  /// At each rank two boxes of kLongest bytes for each source: for its requests, and for its replies.
  /// The order between a test and handlers in other threads goes through other processes, which
  /// ThreadSanitizer does not see: handlers load this first, with acquire order, and end with a release.
  std::atomic<const Memory*> boxes = nullptr;
  std::array<std::atomic<std::uint64_t>, 128> expected = {};  ///< the number of the next request, by source
  std::atomic<std::uint64_t> handled = 0;
  std::atomic<std::uint64_t> replies = 0;
  std::atomic<std::uint64_t> wrong = 0;

  [[nodiscard]] std::byte* box(int at, bool of_reply) const {
    return boxes.load(std::memory_order_acquire)->at(at) +
           (2 * static_cast<std::size_t>(me()) + (of_reply ? 1U : 0U)) * kLongest;
  }
};

bool same(const Draw& draw, const rma_am_message_t& message) {
  const auto* const payload = static_cast<const std::byte*>(message.payload);
  if (draw.form == Form::medium && reinterpret_cast<std::uintptr_t>(payload) % 8 != 0) return false;
  return std::equal(draw.words.begin(), draw.words.end(), message.words,
                    message.words + message.word_count) &&
         std::equal(draw.payload.begin(), draw.payload.end(), payload, payload + message.bytes);
}

template <typename Words, typename Medium, typename Long>
rma_status_t send(const Draw& draw, void* box, Words words, Medium medium, Long lasting) {
  const auto count = static_cast<int>(draw.words.size());
  switch (draw.form) {
    case Form::words:
      return words(draw.words.data(), count);
    case Form::medium:
      return medium(draw.words.data(), count, draw.payload.data(), draw.payload.size());
    case Form::lasting:
      return lasting(draw.words.data(), count, draw.payload.data(), draw.payload.size(), box);
    case Form::none:
      break;
  }
  return RMA_SUCCESS;
}

Draw request_draw(const Board& board, int source, int target, std::uint64_t number) {
  return {source, target, number, false, board.medium, kLongest};
}
Draw reply_draw(const Board& board, int source, int target, std::uint64_t number) {
  return {source, target, number, true, board.medium, std::min(board.long_reply, kLongest)};
}

void take_request(void* context, rma_am_token_t* token, const rma_am_message_t* message) {
  auto& board = *static_cast<Board*>(context);
  static_cast<void>(board.boxes.load(std::memory_order_acquire));
  const std::uint64_t number = message->words[0];
  const auto source = static_cast<std::size_t>(message->source);
  // Requests of one thread come in the order of sending.
  if (number != board.expected[source].fetch_add(1)) ++board.wrong;
  if (!same(request_draw(board, message->source, me(), number), *message)) ++board.wrong;
  const Draw answer = reply_draw(board, me(), message->source, number);
  const rma_status_t sent = send(
      answer, board.box(message->source, true),
      [&](auto... all) { return rma_am_reply(token, board.reply, all...); },
      [&](auto... all) { return rma_am_reply_medium(token, board.reply, all...); },
      [&](auto... all) { return rma_am_reply_long(token, board.reply, all...); });
  if (sent != RMA_SUCCESS) ++board.wrong;
  board.handled.fetch_add(1, std::memory_order_release);
}

void take_reply(void* context, rma_am_token_t* token, const rma_am_message_t* message) {
  auto& board = *static_cast<Board*>(context);
  static_cast<void>(board.boxes.load(std::memory_order_acquire));
  if (token != nullptr) ++board.wrong;
  if (!same(reply_draw(board, message->source, me(), message->words[0]), *message)) ++board.wrong;
  board.replies.fetch_add(1, std::memory_order_release);
}

void count_request(void* context, rma_am_token_t* token, const rma_am_message_t* message) {
  auto& board = *static_cast<Board*>(context);
  board.handled.fetch_add(1, std::memory_order_release);
  if (message->words[0] != 0 && rma_am_reply(token, board.counted, nullptr, 0) != RMA_SUCCESS) ++board.wrong;
}
void count_reply(void* context, rma_am_token_t* /*token*/, const rma_am_message_t* /*message*/) {
  static_cast<Board*>(context)->replies.fetch_add(1, std::memory_order_release);
}

/// The board of this process. Its handlers are registered by the first test.
Board& the_board() {
  static Board board;
  if (board.request >= 0) return board;
  EXPECT_TRUE(ok(rma_am_register(take_request, &board, &board.request)));
  EXPECT_TRUE(ok(rma_am_register(take_reply, &board, &board.reply)));
  EXPECT_TRUE(ok(rma_am_register(count_request, &board, &board.count)));
  EXPECT_TRUE(ok(rma_am_register(count_reply, &board, &board.counted)));
  EXPECT_TRUE(ok(rma_am_limits(&board.medium, &board.long_reply)));
  return board;
}

/// Waits until `value` is at least `goal`.
struct Goal {
  const std::atomic<std::uint64_t>& value;
  std::uint64_t goal;
};
void reach(const std::atomic<std::uint64_t>& value, std::uint64_t goal) {
  Goal waited = {value, goal};
  const auto met = [](void* context) {
    const auto& each = *static_cast<Goal*>(context);
    return each.value.load(std::memory_order_acquire) >= each.goal ? 1 : 0;
  };
  EXPECT_TRUE(ok(rma_am_wait(met, &waited, -1)));
}

class ActiveMessage : public testing::Test {
 protected:
  ActiveMessage() : boxes_(Remote::window, 2 * kLongest * static_cast<std::size_t>(ranks())) {
    for (auto& number : board_.expected) number = 0;
    board_.handled = 0;
    board_.replies = 0;
    board_.wrong = 0;
    board_.boxes.store(&boxes_, std::memory_order_release);
    barrier();
  }
  ~ActiveMessage() override {
    EXPECT_EQ(board_.wrong, 0U);
    barrier();
    // These pair with what each handler does last.
    static_cast<void>(board_.handled.load(std::memory_order_acquire));
    static_cast<void>(board_.replies.load(std::memory_order_acquire));
  }
  /// Returns the sum of a number over all ranks.
  static std::uint64_t sum(std::uint64_t mine) {
    const std::vector<std::uint64_t> all = gather(mine);
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  }

  Board& board_ = the_board();
  Memory boxes_;
};

TEST_F(ActiveMessage, RandomOnesArriveAsTheyWereSent) {
  std::vector<std::uint64_t> next(static_cast<std::size_t>(ranks()));
  Random random({0xa4, static_cast<std::uint64_t>(me())});
  std::uint64_t replies = 0;
  const int count = rounds(3000);
  for (int i = 0; i < count; ++i) {
    const int target = static_cast<int>(random.below(next.size()));
    const std::uint64_t number = next[static_cast<std::size_t>(target)]++;
    const Draw draw = request_draw(board_, me(), target, number);
    EXPECT_TRUE(ok(send(
        draw, board_.box(target, false),
        [&](auto... all) { return rma_am_request(target, board_.request, all...); },
        [&](auto... all) { return rma_am_request_medium(target, board_.request, all...); },
        [&](auto... all) { return rma_am_request_long(target, board_.request, all...); })));
    const Form answer = reply_draw(board_, target, me(), number).form;
    if (answer != Form::none) ++replies;
    // The next long message may go to the same box, so the handler must have seen this one. A rank that gets
    // no reply does not know that: it asks by a request that gets one.
    if (draw.form != Form::lasting && answer != Form::lasting) continue;
    if (answer == Form::none) {
      const std::uint64_t one = 1;
      EXPECT_TRUE(ok(rma_am_request(target, board_.count, &one, 1)));
      ++replies;
    }
    reach(board_.replies, replies);
  }
  // No request without a reply is left for the next test.
  for (int rank = 0; rank < ranks(); ++rank) {
    const std::uint64_t one = 1;
    EXPECT_TRUE(ok(rma_am_request(rank, board_.count, &one, 1)));
    ++replies;
  }
  reach(board_.replies, replies);
  EXPECT_EQ(board_.replies, replies);
}

TEST_F(ActiveMessage, FloodsOfRequestsAndReplies) {
  const auto each = static_cast<std::uint64_t>(rounds(20'000));
  std::uint64_t replies = 0;
  for (std::uint64_t i = 0; i < each; ++i) {
    for (int rank = 0; rank < ranks(); ++rank) {
      const std::uint64_t wanted = i % 3 == 0 ? 1 : 0;
      replies += wanted;
      EXPECT_TRUE(ok(rma_am_request(rank, board_.count, &wanted, 1)));
    }
  }
  reach(board_.replies, replies);
  reach(board_.handled, each * static_cast<std::uint64_t>(ranks()));
  EXPECT_EQ(board_.replies, replies);
  EXPECT_EQ(board_.handled, each * static_cast<std::uint64_t>(ranks()));
}

TEST_F(ActiveMessage, ThreadsSendAtOnce) {
  constexpr int kThreads = 3;
  const auto each = static_cast<std::uint64_t>(rounds(2000));
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      const std::uint64_t one = 1;
      for (std::uint64_t i = 0; i < each; ++i) {
        const int target = neighbour(number + static_cast<int>(i % 7));
        EXPECT_TRUE(ok(rma_am_request(target, board_.count, &one, 1)));
        if (i % 100 == 0) EXPECT_TRUE(ok(rma_am_poll()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  reach(board_.replies, kThreads * each);
  EXPECT_EQ(board_.replies, kThreads * each);
  barrier();  // this rank has handled the requests of others once they have their replies
  EXPECT_EQ(sum(board_.replies), sum(board_.handled));
}

// Rank 0 computes, and calls nothing of the library, until the handler of a message has told it to stop.
TEST_F(ActiveMessage, ARankThatComputesHandlesThem) {
  const std::uint64_t one = 1;
  const auto each = static_cast<std::uint64_t>(rounds(200));
  if (me() != 0) {
    for (std::uint64_t i = 1; i <= each; ++i) {
      EXPECT_TRUE(ok(rma_am_request(0, board_.count, &one, 1)));
      reach(board_.replies, i);
    }
  } else {
    const std::uint64_t all = each * static_cast<std::uint64_t>(ranks() - 1);
    while (board_.handled.load(std::memory_order_acquire) != all) {
    }
  }
  barrier();
}

// Rank 0 takes turns: it polls until it has handled some requests, and computes until it has handled others.
// So its helper naps and listens in turns (ActiveInbox), and no request stays unseen between the two.
TEST_F(ActiveMessage, ARankThatPollsAndComputesInTurns) {
  const std::uint64_t one = 1;
  const auto others = static_cast<std::uint64_t>(ranks() - 1);
  const auto turns = static_cast<std::uint64_t>(rounds(100));
  constexpr std::uint64_t kEach = 20;
  if (me() != 0) {
    for (std::uint64_t i = 1; i <= 2 * turns * kEach; ++i) {
      EXPECT_TRUE(ok(rma_am_request(0, board_.count, &one, 1)));
      reach(board_.replies, i);
    }
  }
  // The others may be ahead, so each goal is reached at some time.
  for (std::uint64_t turn = 1; me() == 0 && others != 0 && turn <= 2 * turns; ++turn) {
    while (board_.handled.load(std::memory_order_acquire) < turn * kEach * others) {
      if (turn % 2 == 0) EXPECT_TRUE(ok(rma_am_poll()));
    }
  }
  barrier();
}

TEST_F(ActiveMessage, WrongArguments) {
  const int there = neighbour(1);
  const std::array<std::uint64_t, 20> words = {};
  std::byte byte{};
  const auto bad = [](rma_status_t status, rma_status_t code, const std::string& word) {
    EXPECT_TRUE(refused(status, code, {word}));
  };
  for (const int handler : {-1, board_.counted + 1, 255, 256, 1 << 30}) {
    bad(rma_am_request(there, handler, nullptr, 0), RMA_ERR_ARGUMENT, std::to_string(handler));
  }
  for (const int rank : {-1, ranks()}) {
    bad(rma_am_request(rank, board_.count, words.data(), 1), RMA_ERR_RANK, std::to_string(rank));
  }
  for (const int count : {-1, RMA_AM_WORDS + 1}) {
    bad(rma_am_request(there, board_.count, words.data(), count), RMA_ERR_ARGUMENT, std::to_string(count));
  }
  bad(rma_am_request(there, board_.count, nullptr, 1), RMA_ERR_ARGUMENT, "words");
  bad(rma_am_request_medium(there, board_.count, words.data(), 1, nullptr, 1), RMA_ERR_ARGUMENT, "payload");
  bad(rma_am_request_long(there, board_.count, words.data(), 1, &byte, 1, nullptr), RMA_ERR_ARGUMENT, "dst");
  const std::vector<std::byte> much(board_.medium + 1);
  bad(rma_am_request_medium(there, board_.count, words.data(), 1, much.data(), much.size()), RMA_ERR_SIZE,
      std::to_string(much.size()));
  bad(rma_am_reply(nullptr, board_.counted, nullptr, 0), RMA_ERR_ARGUMENT, "token");
  bad(rma_am_wait(nullptr, nullptr, -1), RMA_ERR_ARGUMENT, "met");
  int number = -1;
  bad(rma_am_register(nullptr, nullptr, &number), RMA_ERR_ARGUMENT, "handler");
  EXPECT_EQ(board_.handled, 0U);
  EXPECT_EQ(board_.replies, 0U);
}

/// The token of the last message that misuse() has handled.
std::atomic<rma_am_token_t*> old_token = nullptr;

void misuse(void* context, rma_am_token_t* token, const rma_am_message_t* message) {
  auto& board = *static_cast<Board*>(context);
  static_cast<void>(board.boxes.load(std::memory_order_acquire));
  const auto wrong = [&](rma_status_t status, rma_status_t right) {
    if (status != right) ++board.wrong;
  };
  const std::vector<std::byte> much(board.long_reply + 1);
  wrong(rma_am_request(message->source, board.count, message->words, 1), RMA_ERR_STATE);
  wrong(rma_am_poll(), RMA_ERR_STATE);
  wrong(rma_am_wait([](void*) { return 1; }, nullptr, -1), RMA_ERR_STATE);
  wrong(rma_am_reply(token, 200, nullptr, 0), RMA_ERR_ARGUMENT);
  wrong(rma_am_reply_medium(token, board.counted, nullptr, 0, much.data(), board.medium + 1), RMA_ERR_SIZE);
  wrong(rma_am_reply_long(token, board.counted, nullptr, 0, much.data(), much.size(),
                          board.boxes.load(std::memory_order_acquire)->at(0)),
        RMA_ERR_SIZE);
  wrong(rma_am_reply(token, board.counted, nullptr, 0), RMA_SUCCESS);
  wrong(rma_am_reply(token, board.counted, nullptr, 0), RMA_ERR_STATE);
  old_token.store(token, std::memory_order_relaxed);
  board.handled.fetch_add(1, std::memory_order_release);
}

TEST_F(ActiveMessage, WrongCallsInHandlers) {
  static int number = -1;
  if (number < 0) EXPECT_TRUE(ok(rma_am_register(misuse, &board_, &number)));
  const std::uint64_t word = 0;
  for (int rank = 0; rank < ranks(); ++rank) EXPECT_TRUE(ok(rma_am_request(rank, number, &word, 1)));
  reach(board_.replies, static_cast<std::uint64_t>(ranks()));
  reach(board_.handled, static_cast<std::uint64_t>(ranks()));
  EXPECT_TRUE(refused(rma_am_reply(old_token, board_.counted, nullptr, 0), RMA_ERR_STATE));
}

/// The sum of the words and the payload's bytes that came back, and how many answers came.
struct Answers {
  std::atomic<std::uint64_t> sum = 0;
  std::atomic<std::uint64_t> count = 0;
  std::atomic<std::byte*> place = nullptr;  ///< where a long payload lies

  void operator()(const rma::ActiveMessage& message) {
    std::uint64_t seen = message.is_request() ? 1000 : 0;
    for (const std::uint64_t word : message.words()) seen += word;
    for (const std::byte byte : message.payload()) seen += static_cast<std::uint64_t>(byte);
    if (message.payload().data() == place) seen += 500;
    sum += seen;
    count.fetch_add(1, std::memory_order_release);
  }
};

TEST_F(ActiveMessage, HandlersOfTheCppInterface) {
  static Answers answers;
  static const rma::ActiveHandler answer = rma::register_handler(answers);
  // Answers in the form of the request: a long one at the address that the last word is.
  static auto ask_back = [](const rma::ActiveMessage& message) {
    const std::span<std::byte> payload = message.payload();
    const std::uint64_t there = message.words().back();
    if (payload.empty()) return message.reply(answer, message.words().first(2));
    if (there == 0) return message.reply(answer, message.words().first(2), payload);
    message.reply(answer, rma::GlobalPtr<std::byte>(reinterpret_cast<std::byte*>(there), message.source()),
                  message.words().first(2), payload);
  };
  static const rma::ActiveHandler question = rma::register_handler(ask_back);
  const int there = neighbour(1);
  answers.sum = 0;
  answers.count = 0;
  answers.place = boxes_.at(me()) + 2 * static_cast<std::size_t>(there) * kLongest + kLongest;
  const std::array<std::byte, 3> payload = {std::byte{10}, std::byte{20}, std::byte{30}};
  const std::array<std::uint64_t, 3> words = {1, 2, 0};
  const std::array<std::uint64_t, 3> with_place = {1, 2,
                                                   reinterpret_cast<std::uintptr_t>(answers.place.load())};
  barrier();
  question.request(there, words);
  question.request(there, words, payload);
  question.request(rma::GlobalPtr<std::byte>(board_.box(there, false), there), with_place, payload);
  rma::wait_active([] { return answers.count.load(std::memory_order_acquire) == 3; }, there);
  EXPECT_EQ(answers.sum, 3U + 63U + 563U);
  EXPECT_EQ(rma::active_limits().medium, board_.medium);
  rma::poll_active();
  const std::array<std::uint64_t, RMA_AM_WORDS + 1> many = {};
  EXPECT_THROW(question.request(there, many), rma::ArgumentError);
  EXPECT_THROW(question.request(ranks(), words), rma::ArgumentError);
}

}  // namespace
}  // namespace multi
