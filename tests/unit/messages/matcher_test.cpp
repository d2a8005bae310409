// The matcher against lists that are searched from the beginning, which is how MPI defines matching.

#include "messages/matching/matcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "../seed.hpp"

namespace librma {
namespace {

bool fits(const PostedReceive& receive, int source, int tag) {
  return (receive.source == kAnySource || receive.source == source) &&
         (receive.tag == kAnyTag || receive.tag == tag);
}

/// Applies random operations to a matcher and to the lists.
class MatcherAgainstLists {
 public:
  MatcherAgainstLists(std::uint64_t seed, int sources, int tags, unsigned wildcards)
      : random_(seed), sources_(sources), tags_(tags), wildcards_(wildcards) {}

  void step(bool receives_first) {
    switch (random_() % 8) {
      case 0:
        return cancel();
      case 1:
        return look();
      default:
        return random_() % 100 < (receives_first ? 60U : 40U) ? receive() : arrive();
    }
  }

  void compare_sizes() const {
    ASSERT_EQ(matcher_.posted(), posted_.size());
    ASSERT_EQ(matcher_.unexpected(), unexpected_.size());
  }

 private:
  int draw(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  int draw_wanted(int count) { return random_() % 100 < wildcards_ ? -1 : draw(count); }

  auto oldest_message(const PostedReceive& wanted) {
    return std::find_if(unexpected_.begin(), unexpected_.end(),
                        [&](const auto& message) { return fits(wanted, message->source, message->tag); });
  }

  void receive() {
    auto receive = std::make_unique<PostedReceive>();
    receive->source = draw_wanted(sources_);
    receive->tag = draw_wanted(tags_);
    const auto expected = oldest_message(*receive);
    UnexpectedMessage* const found = matcher_.find(receive->source, receive->tag);
    ASSERT_EQ(found, expected == unexpected_.end() ? nullptr : expected->get());
    if (found == nullptr) {
      matcher_.post(*receive);
      posted_.push_back(std::move(receive));
    } else {
      matcher_.take(*found);
      unexpected_.erase(expected);
    }
  }

  void arrive() {
    const int source = draw(sources_);
    const int tag = draw(tags_);
    const auto expected = std::find_if(posted_.begin(), posted_.end(),
                                       [&](const auto& one) { return fits(*one, source, tag); });
    PostedReceive* const found = matcher_.match(source, tag);
    ASSERT_EQ(found, expected == posted_.end() ? nullptr : expected->get());
    if (found != nullptr) {
      ASSERT_EQ(found->links[0].queue, nullptr);
      posted_.erase(expected);
      return;
    }
    auto message = std::make_unique<UnexpectedMessage>();
    message->source = source;
    message->tag = tag;
    matcher_.add(*message);
    unexpected_.push_back(std::move(message));
  }

  void cancel() {
    if (posted_.empty()) return;
    const auto which = posted_.begin() + static_cast<std::ptrdiff_t>(random_() % posted_.size());
    matcher_.withdraw(**which);
    posted_.erase(which);
  }

  /// A probe: it finds the message of a receive and leaves it there.
  void look() {
    PostedReceive wanted;
    wanted.source = draw_wanted(sources_);
    wanted.tag = draw_wanted(tags_);
    const auto expected = oldest_message(wanted);
    ASSERT_EQ(matcher_.find(wanted.source, wanted.tag),
              expected == unexpected_.end() ? nullptr : expected->get());
  }

  std::mt19937_64 random_;
  const int sources_;
  const int tags_;
  const unsigned wildcards_;  // in percent
  Matcher matcher_;
  std::vector<std::unique_ptr<PostedReceive>> posted_;
  std::vector<std::unique_ptr<UnexpectedMessage>> unexpected_;
};

TEST(Matcher, RandomOperationsAgreeWithLists) {
  const std::uint64_t seed = test_seed();
  for (const int sources : {1, 3, 50}) {
    for (const int tags : {1, 4, 200}) {
      for (const unsigned wildcards : {0U, 20U, 60U, 100U}) {
        SCOPED_TRACE(testing::Message() << sources << " sources, " << tags << " tags, " << wildcards << " %");
        MatcherAgainstLists both(seed + wildcards, sources, tags, wildcards);
        for (int step = 0; step < 4000 && !testing::Test::HasFatalFailure(); ++step) {
          both.step(step % 1000 < 500);
          both.compare_sizes();
        }
      }
    }
  }
}

constexpr int kMany = 100'000;

// A search from the beginning would take 5,000,000,000 steps in each of the next tests, and time out.

TEST(Matcher, ManyReceivesMatchInReverse) {
  Matcher matcher;
  std::deque<PostedReceive> receives(kMany);
  for (int tag = 0; tag < kMany; ++tag) {
    PostedReceive& one = receives[static_cast<std::size_t>(tag)];
    one.source = tag % 2 == 0 ? 3 : kAnySource;
    one.tag = tag;
    matcher.post(one);
  }
  for (int tag = kMany - 1; tag >= 0; --tag) {
    ASSERT_EQ(matcher.match(3, tag), &receives[static_cast<std::size_t>(tag)]);
  }
  EXPECT_EQ(matcher.posted(), 0U);
}

TEST(Matcher, ManyMessagesMatchInReverse) {
  for (const int source : {3, kAnySource}) {
    Matcher matcher;
    std::deque<UnexpectedMessage> messages(kMany);
    for (int tag = 0; tag < kMany; ++tag) {
      UnexpectedMessage& one = messages[static_cast<std::size_t>(tag)];
      one.source = 3;
      one.tag = tag;
      matcher.add(one);
    }
    for (int tag = kMany - 1; tag >= 0; --tag) {
      UnexpectedMessage* const found = matcher.find(source, tag);
      ASSERT_EQ(found, &messages[static_cast<std::size_t>(tag)]);
      matcher.take(*found);
    }
    EXPECT_EQ(matcher.unexpected(), 0U);
  }
}

TEST(Matcher, ManyReceivesAreCancelledFromBothEnds) {
  Matcher matcher;
  std::deque<PostedReceive> receives(kMany);
  for (PostedReceive& one : receives) {
    one.source = kAnySource;
    one.tag = kAnyTag;
    matcher.post(one);
  }
  for (std::size_t i = 0; i < kMany / 2 - 1; ++i) {
    matcher.withdraw(receives[i]);
    matcher.withdraw(receives[kMany - 1 - i]);
  }
  EXPECT_EQ(matcher.posted(), 2U);
  EXPECT_EQ(matcher.match(0, 0), &receives[kMany / 2 - 1]);
  EXPECT_EQ(matcher.match(0, 0), &receives[kMany / 2]);
}

TEST(Matcher, TheReceiveThatWasPostedFirstWins) {
  // In each order of posting, the first of the four kinds of receives matches.
  std::array<PostedReceive, 4> kinds;
  std::array<int, 4> order = {0, 1, 2, 3};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].source = (i & 1U) != 0 ? kAnySource : 5;
    kinds[i].tag = (i & 2U) != 0 ? kAnyTag : 6;
  }
  do {
    Matcher matcher;
    for (const int which : order) matcher.post(kinds[static_cast<std::size_t>(which)]);
    for (const int which : order) EXPECT_EQ(matcher.match(5, 6), &kinds[static_cast<std::size_t>(which)]);
    EXPECT_EQ(matcher.match(5, 6), nullptr);
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace librma
