#include "helper_thread/active_messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <new>
#include <random>
#include <set>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "helper_world.hpp"

namespace librma {
namespace {

/// Ranks with active messages. Handler 0 replies to handler 1 if the first word is not 0.
class ActiveWorld : public HelperWorld {
 protected:
  static constexpr std::align_val_t kLine{64};
  struct State {
    ~State() {
      messages.reset();
      EXPECT_EQ(rings.size(), 0U) << "rings that were not given back";
    }
    /// The rings to others, by their memory, which is mapped everywhere.
    std::set<std::byte*> rings;
    Doorbell doorbell;
    int handled = 0;
    int replies = 0;
    Bytes payload;
    std::array<std::byte, 2048> memory = {};  ///< in reach of the others
    std::unique_ptr<ActiveMessages> messages;
  };
  /// How messages reach their handlers.
  enum class Way : std::uint8_t {
    channel,
    rings,          ///< all ranks look at their rings, too
    called,         ///< they look only if they are called
    without_memory  ///< there is no memory for rings
  };
  Way way = Way::channel;
  /// A rank that sends by the channel all the same.
  int without_rings = -1;

  /// The doorbells and the memory that a rank's rings use. All memory is mapped everywhere, at its own
  /// address.
  ActiveRings rings(State& state, int owner) {
    return {.doorbell = [this, owner](int rank) -> Doorbell* {
              if (way == Way::channel || (owner == without_rings && rank != owner)) return nullptr;
              return &states[static_cast<std::size_t>(rank)]->doorbell;
            },
            .take = [this, &state](std::size_t bytes) -> std::byte* {
              if (way == Way::without_memory) return nullptr;
              auto* const memory = static_cast<std::byte*>(::operator new(bytes, kLine));
              std::fill_n(memory, bytes, std::byte{0xff});
              state.rings.insert(memory);
              return memory;
            },
            .give =
                [&state](std::byte* memory) {
                  EXPECT_EQ(state.rings.erase(memory), 1U);
                  ::operator delete(memory, kLine);
                },
            .mapped = [this](const void* address, std::size_t /*bytes*/, int rank) -> std::byte* {
              const auto& theirs = states[static_cast<std::size_t>(rank)]->rings;
              auto* const memory = static_cast<std::byte*>(const_cast<void*>(address));
              return theirs.contains(memory) ? memory : nullptr;
            }};
  }

  void fresh(int count) {
    for (auto& rank : ranks) rank->helper.reset();
    close();
    ranks.clear();
    states.clear();
    open(count);
    for (int rank = 0; rank < count; ++rank) states.push_back(std::make_unique<State>());
    for (int rank = 0; rank < count; ++rank) {
      State& state = *states[static_cast<std::size_t>(rank)];
      ActiveMessages::Memory memory;
      memory.mapped = [](const void* /*address*/, std::size_t /*bytes*/, int /*rank*/) -> std::byte* {
        return nullptr;
      };
      memory.in_reach = [&state](std::uintptr_t address, std::size_t bytes, int /*peer*/) {
        const auto begin = reinterpret_cast<std::uintptr_t>(state.memory.data());
        return address >= begin && bytes <= state.memory.size() &&
               address - begin <= state.memory.size() - bytes;
      };
      memory.put = [](void* dst, std::span<const std::byte> data, int /*rank*/) {
        std::copy(data.begin(), data.end(), static_cast<std::byte*>(dst));
        return Status();
      };
      memory.rings = rings(state, rank);
      state.messages = std::make_unique<ActiveMessages>(ActiveMessages::Ranks{.own = rank, .all = count},
                                                        *at(rank).pending, at(rank).channel.get(),
                                                        at(rank).client.get(), std::move(memory));
      EXPECT_EQ(state.messages->add(take_request, this).value(), 0);
      EXPECT_EQ(state.messages->add(take_reply, this).value(), 1);
    }
    start();
  }

  bool step() override {
    bool moved = HelperWorld::step();
    for (auto& state : states) {
      if (way == Way::rings && state->messages != nullptr) moved = state->messages->poll_rings() || moved;
    }
    return moved;
  }

  static void take_request(void* context, rma_am_token_t* token, const rma_am_message_t* message) {
    auto& world = *static_cast<ActiveWorld*>(context);
    State& state = *world.states[static_cast<std::size_t>(message->words[1])];
    ++state.handled;
    const auto* const payload = static_cast<const std::byte*>(message->payload);
    state.payload.assign(payload, payload + message->bytes);
    if (message->words[0] == 0) return;
    const std::array<std::uint64_t, 1> words = {static_cast<std::uint64_t>(message->source)};
    EXPECT_TRUE(state.messages->reply(token, {.handler = 1, .words = words}).ok());
  }
  static void take_reply(void* context, rma_am_token_t* /*token*/, const rma_am_message_t* message) {
    ++static_cast<ActiveWorld*>(context)->states[static_cast<std::size_t>(message->words[0])]->replies;
  }

  [[nodiscard]] Status request(int from, int to, bool replied, ActiveForm form = ActiveForm::words,
                               std::span<const std::byte> payload = {}, void* place = nullptr) {
    const std::array<std::uint64_t, 2> words = {replied ? 1U : 0U, static_cast<std::uint64_t>(to)};
    return states[static_cast<std::size_t>(from)]->messages->request(
        to, {.handler = 0, .form = form, .words = words, .payload = payload, .place = place});
  }
  [[nodiscard]] State& state(int rank) { return *states[static_cast<std::size_t>(rank)]; }

  std::vector<std::unique_ptr<State>> states;
};

/// The same by every way.
class ActiveWays : public ActiveWorld, public testing::WithParamInterface<int> {
 protected:
  ActiveWays() { way = static_cast<Way>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Ways, ActiveWays, testing::Range(0, 4));

TEST_P(ActiveWays, EveryFormArrives) {
  fresh(2);
  const std::size_t medium = state(0).messages->most_medium();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, medium}) {
    const Bytes data = random_bytes(bytes, bytes);
    ASSERT_TRUE(request(0, 1, true, ActiveForm::medium, data).ok());
    ASSERT_TRUE(settle());
    EXPECT_EQ(state(1).payload, data);
  }
  for (const std::size_t bytes : {std::size_t{1}, medium, medium + 1, std::size_t{2000}}) {
    const Bytes data = random_bytes(bytes, bytes);
    ASSERT_TRUE(request(0, 1, true, ActiveForm::long_carried, data, state(1).memory.data()).ok());
    ASSERT_TRUE(settle());
    EXPECT_EQ(state(1).payload, data);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), state(1).memory.begin()));
  }
  EXPECT_EQ(state(1).handled, 7);
  EXPECT_EQ(state(0).replies, 7);
  EXPECT_EQ(request(0, 1, true, ActiveForm::medium, Bytes(medium + 1)).code(), RMA_ERR_SIZE);
}

TEST_P(ActiveWays, MoreRequestsThanMayBeOpen) {
  fresh(2);
  // Both ranks flood each other, with and without replies. A rank that waits makes progress for all.
  const int count = 5 * static_cast<int>(ActiveMessages::kMostOpen);
  int replies = 0;
  for (int i = 0; i < count; ++i) {
    const bool replied = i % 5 == 0;
    replies += replied ? 1 : 0;
    ASSERT_TRUE(request(0, 1, replied).ok());
    ASSERT_TRUE(request(1, 0, replied).ok());
  }
  ASSERT_TRUE(settle());
  for (const int rank : {0, 1}) {
    EXPECT_EQ(state(rank).handled, count);
    EXPECT_EQ(state(rank).replies, replies);
  }
}

// The sender's messages wait in the ring, and the receiver's answers wait for room, when the receiver is lost
// to the sender.
TEST_F(ActiveWorld, ARankIsLostWhileMessagesWait) {
  way = Way::rings;
  fresh(2);
  ASSERT_TRUE(request(0, 1, true).ok());
  ASSERT_TRUE(settle());
  const std::uint64_t before = total_counts()[static_cast<std::size_t>(Counter::active_ring)];
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(request(0, 1, true).ok());
  EXPECT_EQ(total_counts()[static_cast<std::size_t>(Counter::active_ring)], before + 100);
  channel(1).fail(0);
  ASSERT_TRUE(settle());
  EXPECT_EQ(state(1).handled, 101);  // what had come is handled, and its answers are dropped
  EXPECT_EQ(state(0).replies, 1);
  EXPECT_EQ(request(1, 0, true).code(), RMA_ERR_PEER_LOST);
}

TEST_P(ActiveWays, ARankThatIsLost) {
  fresh(3);
  ASSERT_TRUE(request(0, 1, true).ok());
  ASSERT_TRUE(settle());
  channel(0).fail(1);
  ASSERT_TRUE(settle());
  EXPECT_EQ(request(0, 1, true).code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(state(0)
                .messages
                ->wait(
                    {}, [] { return false; }, 1)
                .code(),
            RMA_ERR_PEER_LOST);
  EXPECT_TRUE(request(0, 2, true).ok());
  ASSERT_TRUE(settle());
  EXPECT_EQ(state(0).replies, 2);
}

/// Rank 1 says what it likes to rank 0; rank 2 is honest.
class DishonestActive : public ActiveWorld, public testing::WithParamInterface<bool> {
 protected:
  DishonestActive() { way = GetParam() ? Way::rings : Way::channel; }
  ~DishonestActive() override { liar.reset(); }

  /// By the channel, or by a ring of the liar's own.
  void say(const Bytes& bytes) {
    if (liar == nullptr) {
      channel(1).send(0, 0, kActiveMessage, bytes, {});
    } else {
      liar->send(0, 0, bytes, {});
    }
  }
  void say(const ActiveHeader& header, const Bytes& rest = {}) { say(bytes_of_wire(header) + rest); }
  /// Opens the ranks. Rank 1 may send anything, and uses the channel otherwise.
  void fresh_with_liar() {
    liar.reset();
    without_rings = 1;
    fresh(3);
    if (way == Way::rings) liar = std::make_unique<ActiveOutbox>(3, channel(1), rings(state(1), -1));
  }
  void meet() {
    fresh_with_liar();
    for (const auto& [one, other] : {std::pair{0, 1}, {1, 0}, {0, 2}, {2, 0}}) {
      ASSERT_TRUE(request(one, other, true).ok());
    }
    ASSERT_TRUE(settle());
    ASSERT_EQ(state(0).handled, 2);
    ASSERT_EQ(state(0).replies, 2);
  }
  /// Returns whether rank 0 has given rank 1 up and handled nothing of it. Rank 2 is served as before.
  [[nodiscard]] bool given_up() {
    EXPECT_TRUE(settle());
    EXPECT_EQ(state(0).handled, 2);
    EXPECT_EQ(state(0).replies, 2);
    EXPECT_TRUE(request(2, 0, true).ok());
    EXPECT_TRUE(settle());
    EXPECT_EQ(state(0).handled, 3);
    return request(0, 1, false).code() == RMA_ERR_PEER_LOST;
  }
  std::unique_ptr<ActiveOutbox> liar;
  /// Words that handler 0 accepts.
  static Bytes words() { return bytes_of_wire(std::array<std::uint64_t, 2>{0, 0}); }
};

INSTANTIATE_TEST_SUITE_P(Ways, DishonestActive, testing::Bool());

TEST_P(DishonestActive, MessagesThatNoRankSends) {
  using Form = ActiveForm;
  const auto place = [](std::uintptr_t address, std::uint64_t bytes) {
    return bytes_of_wire(ActivePlace{.address = address, .bytes = bytes});
  };
  meet();
  const auto inside = reinterpret_cast<std::uintptr_t>(state(0).memory.data());
  const std::vector<std::pair<ActiveHeader, Bytes>> lies = {
      {{.handler = 2, .words = 2}, words()},            // no such handler
      {{.handler = 255, .words = 2}, words()},          //
      {{.words = 3}, words()},                          // fewer words than it says
      {{.words = 17}, Bytes(17 * 8)},                   // too many
      {{.words = 255}, Bytes(255)},                     //
      {{.words = 2}, words() + Bytes(1)},               // more than it says
      {{.form = Form::count_, .words = 2}, words()},    // no form
      {{.form = static_cast<Form>(200)}, {}},           //
      {{.words = 2, .reply = 2}, words()},              // neither reply nor request
      {{.words = 2, .reply = 1}, words()},              // a reply to no request
      {{.form = Form::done, .done = 1}, {}},            // nothing was asked
      {{.form = Form::done, .done = 0xffff}, {}},       //
      {{.form = Form::long_put, .words = 2}, words()},  // no place
      {{.form = Form::long_carried, .words = 2}, words() + place(inside, 5) + Bytes(4)},
      {{.form = Form::long_carried, .words = 2}, words() + place(inside, 4) + Bytes(5)},
      {{.form = Form::long_put, .words = 2}, words() + place(inside, 4) + Bytes(4)},
      {{.form = Form::long_put, .words = 2}, words() + place(8, 4)},
      {{.form = Form::long_put, .words = 2}, words() + place(inside, 2049)},
      {{.form = Form::long_put, .words = 2}, words() + place(inside, ~std::uint64_t{0})},
      {{.form = Form::data}, place(inside + 2047, 2) + Bytes(2)},
      {{.form = Form::data}, place(0, 8) + Bytes(8)},
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    if (i != 0) meet();
    say(lies[i].first, lies[i].second);
    EXPECT_TRUE(given_up()) << "lie " << i;
  }
  for (std::size_t bytes = 0; way == Way::channel && bytes < sizeof(ActiveHeader); ++bytes) {
    meet();
    say(Bytes(bytes));
    EXPECT_TRUE(given_up()) << bytes << " bytes";
  }
}

/// A ring that no outbox would write: rank 1 has it, and has not offered it yet.
class DishonestRing : public DishonestActive {
 protected:
  static constexpr LineRingSizes kSizes = ActiveRings::sizes(512 - sizeof(MessageHeader));
  DishonestRing() {
    meet();
    ring = rings(state(1), -1).take(kSizes.memory());
    LineSender::prepare(ring);
    sender.emplace(ring, kSizes, cursor);
  }
  ~DishonestRing() override { rings(state(1), -1).give(ring); }
  void offer(std::uintptr_t address) {
    channel(1).send(0, 0, kActiveRing, bytes_of_wire(ActiveRingOffer{.address = address}), {});
  }
  [[nodiscard]] std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(ring); }

  std::byte* ring = nullptr;
  LineCursor cursor;
  std::optional<LineSender> sender;
};
INSTANTIATE_TEST_SUITE_P(Ring, DishonestRing, testing::Values(true));

TEST_P(DishonestRing, IsServedIfItIsHonest) {
  offer(address());
  ASSERT_TRUE(
      sender->send(MessageType::eager, std::bit_cast<Envelope>(ActiveHeader{.words = 2}), words(), {}));
  ASSERT_TRUE(settle());
  EXPECT_EQ(state(0).handled, 3);
}
TEST_P(DishonestRing, OffersOfNoRing) {
  offer(address() + 64);
  EXPECT_TRUE(given_up());
}
TEST_P(DishonestRing, OffersTwice) {
  offer(address());
  offer(address());
  EXPECT_TRUE(given_up());
}
TEST_P(DishonestRing, OffersNothing) {
  channel(1).send(0, 0, kActiveRing, Bytes(7), {});
  EXPECT_TRUE(given_up());
}
TEST_P(DishonestRing, CallsWithABody) {
  channel(1).send(0, 0, kActiveCall, Bytes(1), {});
  EXPECT_TRUE(given_up());
}
TEST_P(DishonestRing, MessagesOfAnotherType) {
  ASSERT_TRUE(
      sender->send(MessageType::finished, std::bit_cast<Envelope>(ActiveHeader{.words = 2}), words(), {}));
  offer(address());
  EXPECT_TRUE(given_up());
}
TEST_P(DishonestRing, LongerMessagesThanThereAre) {
  ASSERT_TRUE(sender->send(MessageType::eager, {}, Bytes(600), {}));
  offer(address());
  EXPECT_TRUE(given_up());
}

TEST_P(DishonestActive, AnyBytes) {
  settings.peer_receives = 32;
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < fewer_if_sanitized(200); ++round) {
    fresh_with_liar();
    ASSERT_TRUE(request(1, 0, false).ok());
    ASSERT_TRUE(request(0, 2, true).ok());
    for (int i = 0; i < 8; ++i)
      say(random_bytes(random(), (liar != nullptr ? sizeof(ActiveHeader) : 0) + random() % 200));
    ASSERT_TRUE(settle());
    EXPECT_EQ(state(0).replies, 1) << "round " << round;
  }
}

}  // namespace
}  // namespace librma
