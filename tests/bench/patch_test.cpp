// The check of armci-bench accepts right data and refuses wrong data.

#include "armci/patch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rma::bench {
namespace {

constexpr double kOutside = 3.0;

/// Memory as a put of `shape` leaves it: the pattern, and gaps that hold kOutside.
std::vector<double> put_result(const StridedShape& shape) {
  std::vector<double> memory(span_bytes(shape) / sizeof(double), kOutside);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (i * sizeof(double) % shape.stride < shape.segment_bytes) memory[i] = pattern(i);
  }
  return memory;
}

bool right(const std::vector<double>& memory, const StridedShape& shape) {
  return holds(reinterpret_cast<const char*>(memory.data()), shape, kOutside, 0.0, 1.0);
}

TEST(Patch, EveryWordThatIsWrongIsFound) {
  for (const StridedShape& shape : {contiguous(64), two_dimensional(4, 8), two_dimensional(3, 32)}) {
    std::vector<double> memory = put_result(shape);
    EXPECT_TRUE(right(memory, shape)) << patch_text(shape);
    for (double& word : memory) {
      const double was = word;
      word = -1.0;
      EXPECT_FALSE(right(memory, shape)) << patch_text(shape) << ", word " << &word - memory.data();
      word = was;
    }
  }
}

TEST(Patch, AnAccumulateAddsToWhatWasThere) {
  const StridedShape shape = two_dimensional(2, 16);
  std::vector<double> memory(span_bytes(shape) / sizeof(double), kOutside);
  const auto added = [&] {
    return holds(reinterpret_cast<const char*>(memory.data()), shape, kOutside, kOutside, 2.0);
  };
  EXPECT_FALSE(added());
  for (const std::size_t i : {0U, 1U, 4U, 5U}) memory[i] += 2.0 * pattern(i);
  EXPECT_TRUE(added());
  memory[5] += 2.0 * pattern(5);  // twice
  EXPECT_FALSE(added());
}

TEST(Patch, Names) {
  EXPECT_EQ(patch_text(contiguous(65536)), "64 KiB");
  EXPECT_EQ(patch_text(two_dimensional(16, 64)), "16 x 64 B");
}

}  // namespace
}  // namespace rma::bench
