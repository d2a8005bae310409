#include "core/network/fragment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "../../multi/failing_new.hpp"

namespace librma {
namespace {

constexpr std::size_t kFragments = 100;

// A thread that takes in completions gives fragments back. If it threw, it would lose completions.
TEST(FragmentPool, TakesFragmentsBackWithoutMemory) {
  FragmentPool pool;
  std::vector<Fragment*> taken;
  for (std::size_t i = 0; i < kFragments; ++i) taken.push_back(&pool.take());
  let_fail(0, true);
  for (Fragment* const fragment : taken) pool.give(*fragment);
  std::vector<Fragment*> again = std::move(taken);
  for (Fragment*& fragment : again) fragment = &pool.take();
  EXPECT_FALSE(end_failing());
  std::sort(again.begin(), again.end());
  EXPECT_EQ(std::unique(again.begin(), again.end()), again.end()) << "no fragment is taken twice";
}

TEST(FragmentQueue, KeepsTheOrderAndNeedsNoMemory) {
  std::vector<Fragment> fragments(kFragments);
  FragmentQueue queue;
  EXPECT_EQ(queue.take_all(), nullptr);
  let_fail(0, true);
  for (Fragment& fragment : fragments) queue.push(fragment);
  EXPECT_FALSE(end_failing());
  std::size_t found = 0;
  for (const Fragment* at = queue.take_all(); at != nullptr; at = at->next) {
    EXPECT_EQ(at, &fragments[found++]);
  }
  EXPECT_EQ(found, kFragments);
  EXPECT_EQ(queue.take_all(), nullptr);
  queue.push(fragments.back());
  queue.push(fragments.front());
  EXPECT_EQ(queue.take_all(), &fragments.back());
  EXPECT_EQ(fragments.back().next, &fragments.front());
  EXPECT_EQ(fragments.front().next, nullptr);
}

}  // namespace
}  // namespace librma
