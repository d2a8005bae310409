// Two-sided messages that no honest rank sends. MessageWorld checks after each of them that nothing was
// written or sent that should not be, and at the end that no operation waits for ever and that an honest rank
// is not disturbed.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <tuple>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "hostile/message_world.hpp"

namespace librma::hostile {
namespace {

class HostileMessages : public testing::TestWithParam<MessagePath> {
 protected:
  MessageWorld& world(std::string_view rendezvous = "copy") {
    world_ = std::make_unique<MessageWorld>(GetParam(), rendezvous);
    return *world_;
  }
  /// Runs an input after which the attacker must have been given up, but no other.
  void refuse(const MessageInput& input, std::string_view rendezvous = "copy") {
    MessageWorld& tried = world(rendezvous);
    tried.run(input.bytes());
    EXPECT_TRUE(tried.given_up());
    tried.check();
  }
  /// Runs an input after which the attacker must still be taken for honest.
  MessageWorld& accept(const MessageInput& input, std::string_view rendezvous = "copy") {
    MessageWorld& tried = world(rendezvous);
    tried.run(input.bytes());
    EXPECT_FALSE(tried.given_up());
    return tried;
  }
  [[nodiscard]] static bool rings() { return GetParam() == MessagePath::rings; }

 private:
  std::unique_ptr<MessageWorld> world_;
};

constexpr std::uint16_t kLong = 6000;

MessageInput::Payload bytes_of_size(std::size_t bytes) { return MessageInput::Payload(bytes, 0x11); }

TEST_P(HostileMessages, HonestOnesAreTaken) {
  MessageInput input;
  input.receive(0, 4, 0, 100).receive(1, 5, 1, 500).send(false, 1, 0, 100).send(true, 1, 1, kLong);
  input.add(MessageAct::message, {static_cast<std::uint8_t>(MessageType::eager), 3, 1, 2, 3});
  input.add(MessageAct::message, {static_cast<std::uint8_t>(MessageType::eager), 4, 1, 2, 3});
  input.add(MessageAct::message, {static_cast<std::uint8_t>(MessageType::eager), 9, 1, 2, 3});
  // The first send was eager, so the second has its slot.
  input.message(MessageType::clear, ClearHead{.sender = name_of(0), .receiver = 7, .begin = 0, .end = 5000});
  MessageWorld& world = accept(input);
  EXPECT_EQ(world.open(), 0U);
  EXPECT_GT(std::ranges::count(world.got(), MessageType::fragment, &MessageWorld::Got::type), 3);
  world.check();
}

TEST_P(HostileMessages, AnAnswerToNoOperation) {
  for (const std::uint64_t name :
       {name_of(0), name_of(0, 2), name_of(1), ~std::uint64_t{0}, std::uint64_t{0}}) {
    refuse(MessageInput().message(MessageType::finished, FinishedHead{.sender = name}));
    refuse(MessageInput().message(MessageType::clear, ClearHead{.sender = name, .end = 1}));
    refuse(MessageInput().message(MessageType::fragment, FragmentHead{.receiver = name}, bytes_of_size(10)));
    refuse(MessageInput().message(MessageType::written, WrittenHead{.receiver = name}));
    refuse(MessageInput().message(MessageType::retracted, RetractedHead{.sender = name}));
    refuse(MessageInput().add(MessageAct::ready, {static_cast<std::uint8_t>(name), 1, 0, 0, 10, 0, 0, 0}));
  }
}

TEST_P(HostileMessages, AnAnswerBeforeTheAnnouncementIsSent) {
  // More announcements than the attacker has room for, because it takes none: the last ones wait.
  MessageInput input;
  constexpr std::uint8_t kSends = 40;
  for (std::uint8_t i = 0; i < kSends; ++i) input.send(true, 1, 0, kLong, true);
  MessageInput finished = input;
  refuse(finished.message(MessageType::finished, FinishedHead{.sender = name_of(kSends - 1)}, {}, true));
  MessageInput clear = input;
  refuse(clear.message(MessageType::clear, ClearHead{.sender = name_of(kSends - 1), .end = 100}, {}, true));
}

TEST_P(HostileMessages, AnAnnouncementThatIsTakenBackOrWasNotAskedFor) {
  // The victim has not cancelled the send.
  refuse(MessageInput()
             .send(true, 1, 0, kLong)
             .message(MessageType::retracted, RetractedHead{.sender = name_of(0)}));
  refuse(MessageInput().message(MessageType::retract,
                                RetractHead{.sender = 1, .envelope = {.context = 0, .tag = -1}}));
  refuse(MessageInput().message(MessageType::retract, RetractHead{.sender = 1}, bytes_of_size(1)));
  // Of a message that nobody has announced, as of one that a receive has matched.
  accept(MessageInput().message(MessageType::retract, RetractHead{.sender = 1})).check();
}

TEST_P(HostileMessages, StepsInTheReturnOfNumbers) {
  using Step = NumbersHead::Step;
  const auto step = [](Step what, std::uint32_t count, std::uint32_t members,
                       const std::array<std::uint32_t, 7>& numbers = {}) {
    return MessageInput().message(
        MessageType::numbers,
        NumbersHead{.step = what, .count = count, .members = members, .numbers = numbers});
  };
  MessageWorld& world = accept(step(Step::flush, 1, 0, {77}));
  EXPECT_EQ(std::ranges::count(world.got(), MessageType::numbers, &MessageWorld::Got::type), 1);
  world.check();
  accept(step(Step::flushed, 1, 0, {77})).check();  // as of a flush that has waited for a lost rank
  for (const Step what : {Step::flush, Step::flushed, Step::returned, Step::renew, Step::renewed}) {
    refuse(step(what, 0, 1));
    refuse(step(what, 8, 1, {0, 1, 2, 3, 4, 5, 6}));
    refuse(step(what, 2, 1, {3, 3}));
    refuse(step(what, 2, 1, {3, 2}));
  }
  for (const auto what : {static_cast<Step>(0), static_cast<Step>(6), static_cast<Step>(~0U)})
    refuse(step(what, 1, 1));
  for (const std::uint32_t number : {0U, 2U, kDrawnNumbers / 2, kDrawnNumbers, ~0U}) {
    if (number != 0) refuse(step(Step::returned, 1, 2, {number}));  // the victim has not drawn it
    refuse(step(Step::renew, 1, 0, {number}));
    refuse(step(Step::renewed, 1, 0, {number}));
  }
  refuse(step(Step::returned, 1, 0, {0}));
  refuse(step(Step::returned, 1, 1000, {0}));
  refuse(MessageInput().message(MessageType::numbers, NumbersHead{.count = 1}, bytes_of_size(1)));
}

TEST_P(HostileMessages, AnEndWhileFragmentsFlow) {
  const ClearHead clear = {.sender = name_of(0), .receiver = 7, .begin = 0, .end = kLong};
  const FinishedHead finished = {.sender = name_of(0)};
  MessageInput input;
  input.send(true, 1, 0, kLong)
      .message(MessageType::clear, clear, {}, true)
      .message(MessageType::finished, finished, {}, true);
  refuse(input);
  refuse(MessageInput()
             .send(true, 1, 0, kLong)
             .message(MessageType::clear, clear, {}, true)
             .message(MessageType::clear, clear, {}, true));
}

TEST_P(HostileMessages, ARangeOutsideTheMessage) {
  for (const auto& [begin, end] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, kLong + 1}, {5, 5}, {6, 5}, {~std::uint64_t{0}, 5}, {5, ~std::uint64_t{0}}, {0, 0}}) {
    refuse(MessageInput()
               .send(true, 1, 0, kLong)
               .message(MessageType::clear, ClearHead{.sender = name_of(0), .begin = begin, .end = end}));
  }
}

TEST_P(HostileMessages, FragmentsThatDoNotFit) {
  const auto fragment = [](std::uint64_t offset, std::size_t bytes) {
    return MessageInput()
        .receive(0, 1, 0, 300)
        .announce(RendezvousForm::opaque, 0, 0, 400)
        .message(MessageType::fragment, FragmentHead{.receiver = name_of(0), .offset = offset},
                 bytes_of_size(bytes));
  };
  accept(fragment(0, 200)).check();
  refuse(fragment(0, 301));
  refuse(fragment(1, 10));
  refuse(fragment(~std::uint64_t{0}, 10));
  refuse(fragment(0, 0));
  MessageInput twice = fragment(0, 200);
  refuse(twice.message(MessageType::fragment, FragmentHead{.receiver = name_of(0), .offset = 0},
                       bytes_of_size(100)));
  MessageInput late = fragment(0, 300);
  refuse(late.message(MessageType::fragment, FragmentHead{.receiver = name_of(0), .offset = 300},
                      bytes_of_size(1)));
}

TEST_P(HostileMessages, AnnouncementsThatMakeNoSense) {
  const std::vector<MessageInput::Payload> rests = {
      {}, bytes_of_size(1), bytes_of_size(40), bytes_of_size(200)};
  for (std::uint8_t form = 0; form < 8; ++form) {
    for (const auto& rest : rests) {
      for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{300}, ~std::uint64_t{0}}) {
        MessageInput input;
        input.receive(0, 0, 1, 400).announce(static_cast<RendezvousForm>(form), 0, 0, bytes, rest);
        input.announce(static_cast<RendezvousForm>(form), 0, 0, bytes, rest).receive(0, 0, 0, 400);
        MessageWorld& tried = world();
        tried.run(input.bytes());
        tried.check();
      }
    }
  }
  refuse(MessageInput().announce(static_cast<RendezvousForm>(6), 0, 0, 0));
  refuse(MessageInput().announce(RendezvousForm::inlined, 0, 0, 300, bytes_of_size(299)));
  refuse(MessageInput().announce(RendezvousForm::laid_out, 0, 0, 300, bytes_of_size(56)));
}

TEST_P(HostileMessages, FormsOfTheOtherPath) {
  // The answer to an announcement of pieces is longer than any message that waits for room in a ring.
  const auto forms = [](bool of_rings) {
    return of_rings ? std::array{RendezvousForm::plain, RendezvousForm::laid_out}
                    : std::array{RendezvousForm::keyed, RendezvousForm::piped};
  };
  MessageInput::Payload layout;
  for (const std::uint64_t field : {0U, 0U, 400U, 0U, 400U}) MessageInput::append(layout, field);
  for (const RendezvousForm form : forms(!rings())) {
    const bool laid_out = form == RendezvousForm::laid_out;
    refuse(MessageInput()
               .receive(0, 0, 0, 400)
               .announce(form, 0, 0, 400, laid_out ? layout : MessageInput::Payload()));
  }
  for (const RendezvousForm form : forms(rings())) {
    const bool laid_out = form == RendezvousForm::laid_out;
    accept(MessageInput()
               .receive(0, 0, 0, 400)
               .announce(form, 0, 0, 400, laid_out ? layout : MessageInput::Payload()),
           "pipeline")
        .check();
  }
}

TEST_P(HostileMessages, MoreUnexpectedOnesThanTheWindowTakes) {
  MessageInput some;
  for (int i = 0; i < 7; ++i) some.add(MessageAct::message, {1, 3}, true);
  accept(some).check();
  MessageInput many;
  for (int i = 0; i < 40; ++i) {
    MessageInput::Payload payload = bytes_of_size(290);
    payload[0] = static_cast<std::uint8_t>(MessageType::eager);
    many.add(MessageAct::message, payload);
  }
  refuse(many);
}

TEST_P(HostileMessages, RoomThatWasNotGiven) {
  refuse(MessageInput().message(MessageType::released, ReleasedHead{.cost = 1}));
  refuse(MessageInput().send(false, 0, 0, 10).message(MessageType::released, ReleasedHead{.cost = 1 << 20}));
}

TEST_P(HostileMessages, TypesThatDoNotExist) {
  for (const int type : {0, 9, 15}) {
    refuse(MessageInput().add(MessageAct::message, {static_cast<std::uint8_t>(type), 0, 1, 2, 3}));
  }
  if (rings()) return;
  for (const std::uint32_t type : {0x101U, 0x108U, 9U, ~0U}) {
    MessageInput::Payload payload;
    refuse(MessageInput().add(MessageAct::envelope,
                              MessageInput::append(payload, ChannelHead{.envelope = {}, .type = type})));
  }
  MessageInput::Payload payload;
  refuse(MessageInput().add(
      MessageAct::envelope,
      MessageInput::append(payload, ChannelHead{.envelope = {}, .type = 1, .reserved = 1})));
  refuse(MessageInput().add(MessageAct::envelope, {1, 2, 3}));
}

TEST_P(HostileMessages, PiecesThatWereNotToBeWritten) {
  if (rings()) GTEST_SKIP() << "pieces are written between hosts";
  const auto sent = [] { return MessageInput().send(true, 1, 0, kLong); };
  MessageWorld& honest = accept(sent()
                                    .ready(0, 300, 4000)
                                    .ready(0, 4300, kLong - 4300)
                                    .message(MessageType::finished, FinishedHead{.sender = name_of(0)}),
                                "caching_pipeline");
  EXPECT_EQ(honest.open(), 0U);
  EXPECT_EQ(std::ranges::count(honest.got(), MessageType::written, &MessageWorld::Got::type), 2);
  honest.check();
  refuse(sent().ready(0, 0, kLong + 1), "pipeline");
  refuse(sent().ready(0, kLong, 1), "pipeline");
  refuse(sent().ready(0, 0xffff, 0xffff), "pipeline");
  refuse(sent().ready(0, 10, 0), "pipeline");
  refuse(sent().ready(0, 0, 1000).ready(0, 999, 1000), "pipeline");
  refuse(sent().ready(0, 0, 1000), "copy");
  refuse(sent().ready(0, 0, 1000), "read");
}

TEST_P(HostileMessages, AnEndWhileTheDeviceReads) {
  if (rings()) GTEST_SKIP() << "pieces are written between hosts";
  for (const bool fragments : {false, true}) {
    MessageInput input;
    input.send(true, 1, 0, kLong).ready(0, 300, 5000, true);
    if (fragments) {
      input.message(MessageType::clear, ClearHead{.sender = name_of(0), .begin = 0, .end = 10}, {}, true);
    } else {
      input.message(MessageType::finished, FinishedHead{.sender = name_of(0)}, {}, true);
    }
    refuse(input, "pipeline");
  }
}

TEST_P(HostileMessages, CountsThatMakeNoSenseEndAllOperations) {
  if (!rings()) GTEST_SKIP() << "only rings have counts";
  MessageInput input;
  input.receive(0, 3, 0, 100);
  for (int i = 0; i < 20; ++i) input.send(true, 1, 0, kLong, true);
  MessageInput::Payload counts;
  for (int i = 0; i < 4; ++i) MessageInput::append(counts, std::uint64_t{1} << 40U);
  input.add(MessageAct::feedback, counts, true).send(true, 1, 0, kLong);
  MessageWorld& tried = world();
  tried.run(input.bytes());
  EXPECT_TRUE(tried.given_up());
  EXPECT_EQ(tried.open(), 0U);
  tried.check();
}

TEST_P(HostileMessages, ALineThatMakesNoSenseEndsAllOperations) {
  if (!rings()) GTEST_SKIP();
  MessageInput input;
  input.receive(0, 3, 0, 100).send(true, 1, 0, kLong);
  MessageInput::Payload line = {0};
  MessageInput::append(line, std::uint64_t{1} << 60U | std::uint64_t{0xfffffff} << 32U | 1U);
  MessageWorld& tried = world();
  tried.run(input.add(MessageAct::line, line).bytes());
  EXPECT_TRUE(tried.given_up());
  EXPECT_EQ(tried.open(), 0U);
  tried.check();
}

// ---- Random inputs ----------------------------------------------------------------------------------------

class RandomInput {
 public:
  RandomInput(std::uint64_t seed, MessagePath path) : random_(seed), path_(path) {}

  /// Messages as an honest process sends them, in an order of chance, and some of them changed.
  MessageInput::Payload next() {
    MessageInput input;
    const int records = 3 + below(20);
    for (int i = 0; i < records; ++i) add(input);
    MessageInput::Payload bytes = input.bytes();
    for (int changes = below(4); changes > 0; --changes) {
      std::uint8_t& changed = bytes[random_() % bytes.size()];
      changed = below(2) == 0 ? static_cast<std::uint8_t>(random_())
                              : static_cast<std::uint8_t>(changed ^ 1U << below(8));
    }
    return bytes;
  }

 private:
  [[nodiscard]] int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
  [[nodiscard]] std::uint16_t size() {
    return static_cast<std::uint16_t>(below(3) == 0 ? below(8192) : below(3) == 0 ? below(1024) : below(64));
  }
  [[nodiscard]] std::uint64_t name() {
    return name_of(static_cast<std::uint64_t>(below(4)), static_cast<std::uint64_t>(1 + below(2)));
  }
  [[nodiscard]] std::uint8_t byte(int limit) { return static_cast<std::uint8_t>(below(limit)); }

  void add(MessageInput& input) {
    const bool at_once = chance(30);
    switch (below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        input.receive(byte(3), byte(3), byte(2), size(), at_once);
        break;
      case 5:
      case 6:
      case 7:
      case 8:
        input.send(chance(50), byte(3), byte(2), size(), at_once);
        break;
      case 9:
      case 10:
        input.add(MessageAct::take, {byte(256), byte(3)}, at_once);
        break;
      case 11:
      case 12:
      case 13: {
        MessageInput::Payload payload(2 + static_cast<std::size_t>(below(400)), byte(256));
        payload[0] = chance(95) ? 1 : byte(10);
        payload[1] = byte(3);
        input.add(MessageAct::message, payload, at_once);
        break;
      }
      case 14:
      case 15: {
        constexpr std::array<RendezvousForm, 6> kForms = {RendezvousForm::keyed,   RendezvousForm::piped,
                                                          RendezvousForm::inlined, RendezvousForm::opaque,
                                                          RendezvousForm::plain,   RendezvousForm::plain};
        const RendezvousForm form = kForms[byte(4) + (path_ == MessagePath::rings ? 2U : 0U)];
        const bool inlined = form == RendezvousForm::inlined;
        const std::uint64_t bytes = inlined ? size() % 300U : size();
        const bool data = inlined || form == RendezvousForm::piped;
        input.announce(form, byte(3), static_cast<std::uint16_t>(below(8192)), bytes,
                       MessageInput::Payload(data ? std::min<std::size_t>(bytes, 300) : 0, byte(256)));
        break;
      }
      case 16: {
        const std::uint64_t begin = chance(50) ? 0 : size();
        input.message(MessageType::clear,
                      ClearHead{.sender = name(), .receiver = name(), .begin = begin, .end = begin + size()},
                      {}, at_once);
        break;
      }
      case 17:
        input.message(MessageType::fragment,
                      FragmentHead{.receiver = name(), .offset = chance(70) ? 0 : std::uint64_t{size()}},
                      MessageInput::Payload(size() % 400, byte(256)), at_once);
        break;
      case 18:
        if (chance(50)) {
          input.message(MessageType::finished, FinishedHead{.sender = name(), .status = below(4)}, {},
                        at_once);
        } else {
          input.ready(byte(4), chance(50) ? 0 : size(), size(), at_once);
        }
        break;
      default:
        input.message(MessageType::written,
                      WrittenHead{.receiver = name(), .offset = std::uint64_t{size()}, .status = below(2)},
                      {}, at_once);
        break;
    }
  }

  std::mt19937_64 random_;
  const MessagePath path_;
};

TEST_P(HostileMessages, MutatedRealOnes) {
  const std::uint64_t seed = test_seed();
  constexpr std::array<std::string_view, 4> kRendezvous = {"copy", "read", "pipeline", "caching_pipeline"};
  constexpr std::uint64_t kInputs = fewer_if_sanitized(80U);
  std::uint64_t survived = 0;
  for (std::uint64_t i = 0; i < kInputs; ++i) {
    SCOPED_TRACE(testing::Message() << "input " << i);
    MessageWorld& tried = world(kRendezvous[i % kRendezvous.size()]);
    tried.run(RandomInput(seed + i, GetParam()).next());
    if (!tried.given_up()) ++survived;
    tried.check();
  }
  EXPECT_GT(survived, 0U);
  EXPECT_LT(survived, kInputs);
}

std::string name_of_path(const testing::TestParamInfo<MessagePath>& path) {
  return path.param == MessagePath::rings ? "Rings" : "Channel";
}
INSTANTIATE_TEST_SUITE_P(Paths, HostileMessages, testing::Values(MessagePath::channel, MessagePath::rings),
                         name_of_path);

}  // namespace
}  // namespace librma::hostile
