#include "rmarun/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using rmarun::Environment;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

TEST(Environment, KeepsOneValuePerName) {
  Environment environment;
  environment.set("B", "old");
  environment.set("A=1=2");
  environment.set("B", "new");
  EXPECT_THAT(environment.entries(), ElementsAre("A=1=2", "B=new"));
}

TEST(Environment, InheritsAllButTheOuterJob) {
  ::setenv("PMIX_RANK", "3", 1);
  ::setenv("PMIX_SERVER_URI41", "somewhere", 1);
  ::setenv("PMIX_MCA_gds", "hash", 1);
  ::setenv("SOMETHING", "else", 1);
  const auto entries = Environment::inherited().entries();
  EXPECT_THAT(entries, Contains("SOMETHING=else"));
  EXPECT_THAT(entries, Contains("PMIX_MCA_gds=hash"));
  EXPECT_THAT(entries, Not(Contains("PMIX_RANK=3")));
  EXPECT_THAT(entries, Not(Contains("PMIX_SERVER_URI41=somewhere")));
  ::unsetenv("PMIX_RANK");
  ::unsetenv("PMIX_SERVER_URI41");
  ::unsetenv("PMIX_MCA_gds");
}

TEST(Environment, TakesEmptyVariablesForUnsetOnes) {
  EXPECT_FALSE(rmarun::has_value("RMARUN_TEST"));
  ::setenv("RMARUN_TEST", "", 1);
  EXPECT_FALSE(rmarun::has_value("RMARUN_TEST"));
  ::setenv("RMARUN_TEST", "0", 1);
  EXPECT_TRUE(rmarun::has_value("RMARUN_TEST"));
  ::unsetenv("RMARUN_TEST");
}

}  // namespace
