// KeyedQueues against a list that is searched from its beginning, and the lengths of its buckets.

#include "messages/matching/keyed_queues.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "../seed.hpp"

namespace librma {
namespace {

struct QueueNode {
  std::uint64_t key = 0;
  std::array<QueueLink<QueueNode>, 2> links = {};
};
using Queues = KeyedQueues<QueueNode, 1>;

/// A bucket of a good hash table with at least as many buckets as keys has a few keys. 100,000 random keys
/// have 8 or 9 in the fullest one.
constexpr std::size_t kFewKeys = 16;

TEST(KeyedQueues, RandomOperationsAgreeWithAList) {
  std::mt19937_64 random(test_seed());
  for (const std::uint64_t keys : {1U, 3U, 40U, 5000U}) {
    Queues queues;
    std::vector<std::unique_ptr<QueueNode>> model;  // oldest first
    for (int step = 0; step < 20000; ++step) {
      const std::uint64_t key = (random() % keys) << (keys == 40 ? 32U : 0U);
      const auto oldest =
          std::find_if(model.begin(), model.end(), [&](const auto& n) { return n->key == key; });
      ASSERT_EQ(queues.first(key), oldest == model.end() ? nullptr : oldest->get());
      // Grows for a while, and then shrinks.
      if (random() % 100 < (step % 4000 < 2000 ? 70U : 30U)) {
        auto node = std::make_unique<QueueNode>();
        node->key = key;
        queues.add(key, *node);
        model.push_back(std::move(node));
      } else if (!model.empty()) {
        const auto which = model.begin() + static_cast<std::ptrdiff_t>(random() % model.size());
        queues.remove(**which);
        ASSERT_EQ((*which)->links[1].queue, nullptr);
        model.erase(which);
      }
      ASSERT_EQ(queues.size(), model.size());
      ASSERT_EQ(queues.empty(), model.empty());
    }
  }
}

/// Adds a node for each key, looks at the lengths of the buckets, and takes the nodes out, the last one
/// first.
void expect_short_buckets(const std::vector<std::uint64_t>& keys, const char* what) {
  SCOPED_TRACE(what);
  Queues queues;
  std::vector<QueueNode> nodes(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) queues.add(keys[i], nodes[i]);
  EXPECT_LE(queues.longest_bucket(), kFewKeys);
  for (std::size_t i = keys.size(); i-- > 0;) {
    ASSERT_EQ(queues.first(keys[i]), &nodes[i]);
    queues.remove(nodes[i]);
  }
  EXPECT_TRUE(queues.empty());
}

TEST(KeyedQueues, BucketsStayShortForTheKeysOfPrograms) {
  constexpr std::uint64_t kMany = 100'000;
  std::vector<std::uint64_t> keys(kMany);
  const auto fill = [&](const auto& make) {
    for (std::uint64_t i = 0; i < kMany; ++i) keys[i] = make(i);
    return keys;
  };
  expect_short_buckets(fill([](std::uint64_t i) { return i; }), "tags in a row");
  expect_short_buckets(fill([](std::uint64_t i) { return i << 12U; }), "tags that are multiples of 4096");
  expect_short_buckets(fill([](std::uint64_t i) { return i << 32U; }), "one tag of each source");
  expect_short_buckets(fill([](std::uint64_t i) { return (i << 44U) | 7U; }),
                       "sources that are multiples of 4096");
  expect_short_buckets(fill([](std::uint64_t i) { return ((i / 300) << 32U) | (i % 300); }), "a square");
  expect_short_buckets(fill([](std::uint64_t i) { return (i << 32U) | i; }), "tags that equal the source");
  std::mt19937_64 random(test_seed());
  expect_short_buckets(fill([&](std::uint64_t) { return random(); }), "random keys");
}

TEST(KeyedQueues, OneKeyHasAnyNumberOfNodesInOneQueue) {
  Queues queues;
  std::deque<QueueNode> nodes(100'000);
  for (QueueNode& node : nodes) queues.add(5, node);
  EXPECT_EQ(queues.longest_bucket(), 1U);
  for (std::size_t i = nodes.size(); i-- > 1;) queues.remove(nodes[i]);  // from the far end
  EXPECT_EQ(queues.first(5), &nodes.front());
  queues.remove(nodes.front());
  EXPECT_EQ(queues.first(5), nullptr);
}

TEST(KeyedQueues, QueuesOfFormerKeysAreUsedAgain) {
  Queues queues;
  QueueNode node;
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    queues.add(key, node);
    queues.remove(node);
  }
  constexpr std::size_t kFirstBuckets = 16;
  EXPECT_LE(queues.made(), kFirstBuckets);
}

TEST(KeyedQueues, ATableThatWasFullOnceFindsRoomAmongEmptyQueues) {
  constexpr std::uint64_t kLive = 1000;
  Queues queues;
  std::deque<QueueNode> live(kLive);
  for (std::uint64_t key = 0; key < kLive; ++key) queues.add(key, live[key]);
  QueueNode node;
  for (std::uint64_t key = kLive; key < 100'000; ++key) {
    queues.add(key, node);
    ASSERT_EQ(queues.first(key), &node);
    queues.remove(node);
  }
  EXPECT_LE(queues.made(), 4 * kLive);
  for (std::uint64_t key = 0; key < kLive; ++key) ASSERT_EQ(queues.first(key), &live[key]);
}

}  // namespace
}  // namespace librma
