#include "shmem/job/handles.hpp"

#include <gtest/gtest.h>

#include <set>

namespace librma::shmem {
namespace {

struct Opaque;
using Numbers = Handles<int, Opaque*>;

TEST(Handles, FirstOnesAreNumbersInOrder) {
  Numbers numbers(1);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): handles are numbers
  EXPECT_EQ(numbers.add(std::make_unique<int>(10)), reinterpret_cast<Opaque*>(1));
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  EXPECT_EQ(numbers.add(std::make_unique<int>(20)), reinterpret_cast<Opaque*>(2));
}

TEST(Handles, NoHandleComesTwice) {
  Numbers numbers(2);
  std::set<Opaque*> seen;
  for (int i = 0; i < 5000; ++i) {
    Opaque* const kept = numbers.add(std::make_unique<int>(i));
    Opaque* const brief = numbers.add(std::make_unique<int>(-i));
    EXPECT_TRUE(seen.insert(kept).second);
    EXPECT_TRUE(seen.insert(brief).second);
    EXPECT_EQ(*numbers.find(kept), i);
    EXPECT_EQ(*numbers.remove(brief), -i);
    EXPECT_EQ(numbers.find(brief), nullptr);
    EXPECT_EQ(numbers.remove(brief), nullptr);
  }
}

TEST(Handles, WhatWasNeverGivenOutIsNotFound) {
  const Numbers numbers(1);
  for (const std::uintptr_t number : {std::uintptr_t{0}, std::uintptr_t{5}, UINTPTR_MAX}) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    EXPECT_EQ(numbers.find(reinterpret_cast<Opaque*>(number)), nullptr);
  }
}

}  // namespace
}  // namespace librma::shmem
