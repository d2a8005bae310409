#include "atomics/words.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace librma {
namespace {

std::uint64_t seed() {
  const char* const text = std::getenv("LIBRMA_TEST_SEED");
  const std::uint64_t value = text != nullptr ? std::strtoull(text, nullptr, 0) : 20261125;
  std::printf("LIBRMA_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

/// Compares in a type that holds every word, by another way than the code under test.
bool model(__int128 seen, rma_compare_t compare, __int128 value) {
  const int order = seen < value ? -1 : seen > value ? 1 : 0;
  switch (compare) {
    case RMA_EQ:
      return order == 0;
    case RMA_NE:
      return order != 0;
    case RMA_LT:
      return order < 0;
    case RMA_LE:
      return order != 1;
    case RMA_GT:
      return order > 0;
    default:
      return order != -1;
  }
}

template <typename Word>
void draw_and_check(std::mt19937_64& random) {
  const std::size_t count = random() % 6;
  std::vector<Word> words(count);
  std::vector<Word> values(count);
  std::vector<int> left_out(count);
  // Few different numbers, so that many are equal; some are negative, or large if the type has no sign.
  const auto draw = [&] { return static_cast<Word>(static_cast<std::int64_t>(random() % 4) - 2); };
  for (std::size_t i = 0; i < count; ++i) {
    words[i] = draw();
    values[i] = draw();
    left_out[i] = random() % 3 == 0 ? 1 + static_cast<int>(random() % 2) : 0;
  }
  const bool one = count != 0 && random() % 2 == 0;
  const bool all_count = random() % 2 == 0;
  const rma_words_t described = {.words = words.data(),
                                 .count = count,
                                 .bytes = sizeof(Word),
                                 .is_signed = std::is_signed_v<Word> ? 1 : 0,
                                 .left_out = all_count ? nullptr : left_out.data(),
                                 .compare = static_cast<rma_compare_t>(random() % 6),
                                 .values = values.data(),
                                 .one_value = one ? 1 : 0};
  std::vector<std::size_t> met;
  bool all = true;
  bool empty = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (!all_count && left_out[i] != 0) continue;
    empty = false;
    if (model(words[i], described.compare, values[one ? 0 : i])) {
      met.push_back(i);
    } else {
      all = false;
    }
  }
  with_words(described, [&](const auto& typed) {
    std::size_t done = 0;
    EXPECT_EQ(typed.advance(done), all);
    EXPECT_EQ(typed.empty(), empty);
    EXPECT_EQ(typed.find(), met.empty() ? SIZE_MAX : met.front());
    std::vector<std::size_t> indices(count);
    indices.resize(typed.find_all(indices.data()));
    EXPECT_EQ(indices, met);
  });
}

TEST(Words, AgreeWithTheModelInEveryType) {
  std::mt19937_64 random(seed());
  for (int i = 0; i < 2000 && !testing::Test::HasFailure(); ++i) {
    draw_and_check<std::int16_t>(random);
    draw_and_check<std::uint16_t>(random);
    draw_and_check<std::int32_t>(random);
    draw_and_check<std::uint32_t>(random);
    draw_and_check<std::int64_t>(random);
    draw_and_check<std::uint64_t>(random);
  }
}

TEST(Words, AWordThatWasSeenRightCountsAlthoughItChanges) {
  std::vector<std::uint32_t> words = {1, 0};
  const std::uint32_t value = 1;
  const rma_words_t described = {words.data(), 2, sizeof value, 0, nullptr, RMA_EQ, &value, 1};
  with_words(described, [&](const auto& typed) {
    std::size_t done = 0;
    EXPECT_FALSE(typed.advance(done));
    words = {7, 1};
    EXPECT_TRUE(typed.advance(done));
  });
}

}  // namespace
}  // namespace librma
