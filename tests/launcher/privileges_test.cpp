#include "rmarun/privileges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using rmarun::why_refused;
using testing::HasSubstr;

TEST(Privileges, AreThoseOfTheCaller) {
  EXPECT_EQ(why_refused({.real_user = 5, .effective_user = 5, .real_group = 6, .effective_group = 6}), "");
  EXPECT_EQ(why_refused({}), "");
  EXPECT_THAT(why_refused({.real_user = 5, .effective_user = 0}), HasSubstr("setuid: its real user 5 and"));
  EXPECT_THAT(why_refused({.real_group = 5, .effective_group = 7}), HasSubstr("effective group 7 differ"));
}

}  // namespace
