// Random mixes of sends, receives, probes and cancelled receives between all ranks, with wildcards.
//
// Which message of several sources arrives first is not determined, so no model foretells every match. The
// messages of one source, however, arrive in the order of sending. So the rules of MPI hold if and only if
// there are no two messages of one source and context, and two receives, that are matched crosswise although
// the receive that was posted first fits the message that was sent first. The tests note each match and look
// for such pairs. With one source this determines every match.

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "messages.hpp"

namespace multi {
namespace {

constexpr std::uint32_t kFirstContext = 10;
constexpr std::size_t kContexts = 2;
constexpr int kTags = 3;

/// What the settings of a mix are.
struct MessageMix {
  std::uint64_t key;
  std::size_t messages;    // from each rank to each
  std::size_t longest;     // bytes
  std::size_t any_source;  // in percent
  std::size_t any_tag;     // in percent
};

/// A message, which its sender and its receiver draw alike.
struct DrawnMessage {
  DrawnMessage(const MessageMix& mix, int from, int to, std::uint64_t number) {
    Random random({mix.key, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), number});
    context = random.below(kContexts);
    tag = static_cast<int>(random.below(kTags));
    const std::size_t edges[] = {8, 47, 48, 49, 63, 64, 65, 32767, 32768, 32769};
    bytes = random.chance(30) ? random.pick(edges) : 8 + random.below(random.chance(20) ? mix.longest : 200);
    bytes = std::min(bytes, mix.longest);
    synchronous = random.chance(20);
    data = contents(bytes, number, from, to);
    std::memcpy(data.data(), &number, sizeof number);
  }
  std::size_t context;
  int tag;
  std::size_t bytes;
  bool synchronous;
  std::vector<std::byte> data;
};

/// A receive, from its posting to its end.
struct MixedReceive {
  int source;
  int tag;
  std::size_t context;
  std::vector<std::byte> sink;
  rma_message_info_t info = {};
  rma_request_t request = RMA_REQUEST_NULL;
  bool matched = false;
  bool cancelled = false;
  std::uint64_t number = 0;  // of the message

  [[nodiscard]] bool fits(int message_tag) const { return tag == RMA_ANY_TAG || tag == message_tag; }
  [[nodiscard]] bool fits(int from, int message_tag) const {
    return (source == RMA_ANY_SOURCE || source == from) && fits(message_tag);
  }
};

class MixOfMessages {
 public:
  explicit MixOfMessages(const MessageMix& mix)
      : mix_(mix), random_({mix.key, 1000, static_cast<std::uint64_t>(me())}) {
    for (int to = 0; to < ranks(); ++to) to_send_.insert(to_send_.end(), mix.messages, to);
    std::shuffle(to_send_.begin(), to_send_.end(), random_.engine());
    next_.resize(static_cast<std::size_t>(ranks()));
    for (int from = 0; from < ranks(); ++from) {
      for (std::uint64_t i = 0; i < mix.messages; ++i) ++expected_[DrawnMessage(mix, from, me(), i).context];
    }
  }

  void run() {
    // First nothing blocks, so that every rank comes to the receives that take everything.
    const std::size_t last_half = to_send_.size() / 2;
    while (to_send_.size() > last_half && !testing::Test::HasFailure()) step(false);
    for (std::size_t context = 0; context < kContexts; ++context) {
      for (std::size_t i = matched(context); i < expected_[context]; ++i) {
        post(RMA_ANY_SOURCE, RMA_ANY_TAG, context);
      }
    }
    while (!to_send_.empty() && !testing::Test::HasFailure()) step(true);
    for (std::size_t context = 0; context < kContexts; ++context) {
      while (matched(context) < expected_[context] && !testing::Test::HasFailure()) look();
    }
    EXPECT_TRUE(ok(rma_wait_all(sends_.data(), sends_.size())));
    for (auto& one : receives_) {
      if (one->request != RMA_REQUEST_NULL) cancel(*one);
    }
    check();
    barrier();
  }

 private:
  void step(bool may_block) {
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return send(may_block);
      case 4:
      case 5:
      case 6:
        return post(draw_source(), draw_tag(), random_.below(kContexts));
      case 7:
        return receive_probed();
      case 8:
        return cancel_one();
      default:
        return look();
    }
  }
  int draw_source() {
    if (random_.chance(mix_.any_source)) return RMA_ANY_SOURCE;
    return static_cast<int>(random_.below(static_cast<std::size_t>(ranks())));
  }
  int draw_tag() {
    return random_.chance(mix_.any_tag) ? RMA_ANY_TAG : static_cast<int>(random_.below(kTags));
  }

  void send(bool may_block) {
    if (to_send_.empty()) return;
    const int to = to_send_.back();
    to_send_.pop_back();
    const DrawnMessage& message = sent_.emplace_back(mix_, me(), to, next_[static_cast<std::size_t>(to)]++);
    const auto context = static_cast<std::uint32_t>(kFirstContext + message.context);
    if (may_block && random_.chance(50)) {
      const auto call = message.synchronous ? rma_ssend : rma_send;
      EXPECT_TRUE(ok(call(message.data.data(), message.bytes, to, message.tag, context)));
    } else {
      const auto call = message.synchronous ? rma_ssend_nb : rma_send_nb;
      EXPECT_TRUE(
          ok(call(message.data.data(), message.bytes, to, message.tag, context, &sends_.emplace_back())));
    }
  }

  MixedReceive& add(int source, int tag, std::size_t context) {
    auto& one = receives_.emplace_back(std::make_unique<MixedReceive>());
    one->source = source;
    one->tag = tag;
    one->context = context;
    one->sink.resize(mix_.longest);
    return *one;
  }
  void post(int source, int tag, std::size_t context) {
    MixedReceive& one = add(source, tag, context);
    EXPECT_TRUE(
        ok(rma_recv_nb(one.sink.data(), one.sink.size(), source, tag,
                       static_cast<std::uint32_t>(kFirstContext + context), &one.info, &one.request)));
  }

  /// Receives by a blocking call what a probe has found.
  void receive_probed() {
    const int source = draw_source();
    const int tag = draw_tag();
    const std::size_t context = random_.below(kContexts);
    const auto number = static_cast<std::uint32_t>(kFirstContext + context);
    rma_message_info_t probed = {};
    rma_message_t message = nullptr;
    int found = 0;
    const bool matched_probe = random_.chance(50);
    EXPECT_TRUE(ok(matched_probe ? rma_improbe(source, tag, number, &found, &message, &probed)
                                 : rma_iprobe(source, tag, number, &found, &probed)));
    if (found == 0) return;
    MixedReceive& one = add(source, tag, context);
    EXPECT_TRUE(ok(matched_probe
                       ? rma_mrecv(one.sink.data(), one.sink.size(), &message, &one.info)
                       : rma_recv(one.sink.data(), one.sink.size(), source, tag, number, &one.info)));
    EXPECT_EQ(one.info.source, probed.source);
    EXPECT_EQ(one.info.tag, probed.tag);
    EXPECT_EQ(one.info.bytes, probed.bytes);
    note(one);
  }

  void cancel_one() {
    if (receives_.empty()) return;
    // One that takes everything is needed.
    MixedReceive& one = *receives_[random_.below(receives_.size())];
    if (one.request != RMA_REQUEST_NULL && (one.source != RMA_ANY_SOURCE || one.tag != RMA_ANY_TAG))
      cancel(one);
  }
  void cancel(MixedReceive& one) {
    EXPECT_TRUE(ok(rma_cancel(one.request)));
    const rma_status_t status = rma_wait(&one.request);
    if (status == RMA_ERR_CANCELED) {
      one.cancelled = true;
    } else {
      EXPECT_TRUE(ok(status));
      note(one);
    }
  }

  /// Tests all receives.
  void look() {
    for (auto& one : receives_) {
      if (one->request == RMA_REQUEST_NULL) continue;
      int done = 0;
      EXPECT_TRUE(ok(rma_test(&one->request, &done)));
      if (done != 0) note(*one);
    }
  }

  /// Checks a message that was received against what its sender has drawn.
  void note(MixedReceive& one) {
    one.matched = true;
    std::memcpy(&one.number, one.sink.data(), sizeof one.number);
    EXPECT_LT(one.number, mix_.messages);
    const DrawnMessage message(mix_, one.info.source, me(), one.number);
    expect_info(one.info, one.info.source, message.tag, message.bytes);
    EXPECT_EQ(one.context, message.context);
    EXPECT_TRUE(one.fits(one.info.source, message.tag));
    EXPECT_EQ(first_difference(message.data, one.sink), message.bytes);
  }
  [[nodiscard]] std::size_t matched(std::size_t context) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        receives_, [&](const auto& one) { return one->matched && one->context == context; }));
  }

  void check() const {
    std::map<std::pair<int, std::size_t>, std::vector<const MixedReceive*>>
        by_source;  // in the order of posting
    for (const auto& one : receives_) {
      if (one->matched) by_source[{one->info.source, one->context}].push_back(one.get());
    }
    for (const auto& [source, receives] : by_source) {
      for (std::size_t later = 0; later < receives.size(); ++later) {
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
          const MixedReceive& first = *receives[earlier];
          const MixedReceive& second = *receives[later];
          EXPECT_FALSE(second.number < first.number && first.fits(second.info.source, second.info.tag))
              << "message " << second.number << " of rank " << source.first << " was overtaken by "
              << first.number;
        }
      }
    }
  }

  const MessageMix mix_;
  Random random_;
  std::vector<int> to_send_;
  std::vector<std::uint64_t> next_;
  std::array<std::size_t, kContexts> expected_ = {};
  std::deque<DrawnMessage> sent_;
  std::vector<rma_request_t> sends_;
  std::vector<std::unique_ptr<MixedReceive>> receives_;
};

void mix_messages(std::uint64_t key, std::size_t messages, std::size_t longest, std::size_t any_source,
                  std::size_t any_tag) {
  const std::size_t fewer = ranks() <= 4 ? 1 : 8;
  for (std::uint64_t round = 0; round < (ranks() <= 4 ? 4 : 1); ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed() << ", round " << round);
    MixOfMessages({.key = key + round,
                   .messages = messages / fewer,
                   .longest = longest,
                   .any_source = any_source,
                   .any_tag = any_tag})
        .run();
  }
}

TEST(Message, MixOfShortOnes) { mix_messages(7100, 150, 400, 0, 0); }
TEST(Message, MixOfShortOnesWithAnyTag) { mix_messages(7200, 150, 400, 0, 50); }
TEST(Message, MixOfShortOnesWithAllWildcards) { mix_messages(7300, 150, 400, 40, 40); }
TEST(Message, MixOfAllSizes) { mix_messages(7400, 60, 20000, 0, 20); }
TEST(Message, MixOfAllSizesWithAllWildcards) { mix_messages(7500, 60, 20000, 40, 40); }
TEST(Message, MixOfLongOnes) { mix_messages(7600, 24, 200'000, 30, 30); }

}  // namespace
}  // namespace multi
