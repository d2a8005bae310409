#include "bootstrap/bootstrap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Removes any launcher from the environment while a test runs.
class Bootstrap : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("PMIX_NAMESPACE");
    ::unsetenv("PMIX_RANK");
  }
  void TearDown() override { SetUp(); }
};

std::vector<std::byte> bytes(std::string_view text) {
  std::vector<std::byte> result(text.size());
  std::memcpy(result.data(), text.data(), text.size());
  return result;
}

TEST_F(Bootstrap, IsAJobOfOneWithoutALauncher) {
  const auto opened = librma::open_bootstrap(0);
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  const auto& bootstrap = *opened.value();
  EXPECT_EQ(bootstrap.rank(), 0);
  EXPECT_EQ(bootstrap.size(), 1);
  EXPECT_THAT(bootstrap.local_ranks(), ElementsAre(0));
  EXPECT_FALSE(bootstrap.job_id().empty());
}

TEST_F(Bootstrap, GivesBackItsOwnCard) {
  const auto opened = librma::open_bootstrap(0);
  ASSERT_TRUE(opened.ok());
  auto& bootstrap = *opened.value();
  const auto card = bytes(std::string("a card\0with a zero byte", 23));
  ASSERT_TRUE(bootstrap.publish(card).ok());
  ASSERT_TRUE(bootstrap.fence().ok());
  const auto got = bootstrap.card_of(0);
  ASSERT_TRUE(got.ok()) << got.status().text();
  EXPECT_EQ(got.value(), card);
}

TEST_F(Bootstrap, RefusesRanksAndCardsThatAreNotThere) {
  const auto opened = librma::open_bootstrap(0);
  ASSERT_TRUE(opened.ok());
  auto& bootstrap = *opened.value();
  EXPECT_EQ(bootstrap.card_of(0).status().code(), RMA_ERR_LAUNCH);
  EXPECT_EQ(bootstrap.card_of(1).status().code(), RMA_ERR_RANK);
  EXPECT_EQ(bootstrap.card_of(-1).status().code(), RMA_ERR_RANK);
}

TEST_F(Bootstrap, OpensAgainAndAgain) {
  for (int incarnation = 0; incarnation < 3; ++incarnation) {
    const auto opened = librma::open_bootstrap(incarnation);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(opened.value()->card_of(0).status().code(), RMA_ERR_LAUNCH) << "a card of the previous round";
    ASSERT_TRUE(opened.value()->publish(bytes("card")).ok());
  }
}

TEST_F(Bootstrap, NamesTheMissingHalfOfALaunchersEnvironment) {
  ::setenv("PMIX_RANK", "0", 1);
  auto opened = librma::open_bootstrap(0);
  EXPECT_EQ(opened.status().code(), RMA_ERR_LAUNCH);
  EXPECT_THAT(std::string(opened.status().text()), HasSubstr("has PMIX_RANK but not PMIX_NAMESPACE"));

  ::unsetenv("PMIX_RANK");
  ::setenv("PMIX_NAMESPACE", "some-job", 1);
  opened = librma::open_bootstrap(0);
  EXPECT_EQ(opened.status().code(), RMA_ERR_LAUNCH);
  EXPECT_THAT(std::string(opened.status().text()), HasSubstr("has PMIX_NAMESPACE but not PMIX_RANK"));
}

TEST_F(Bootstrap, SaysWhatToDoWhenTheLauncherDoesNotAnswer) {
  ::setenv("PMIX_NAMESPACE", "a-job-that-is-over", 1);
  ::setenv("PMIX_RANK", "0", 1);
  const auto opened = librma::open_bootstrap(0);
  EXPECT_EQ(opened.status().code(), RMA_ERR_LAUNCH);
  EXPECT_THAT(std::string(opened.status().text()), HasSubstr("unset both"));
}

/// GoogleTest runs suites of this name first, before PMIx has started threads.
using BootstrapDeathTest = Bootstrap;

TEST_F(BootstrapDeathTest, AbortEndsAJobOfOneWithItsCodeAndText) {
  EXPECT_EXIT(
      {
        auto opened = librma::open_bootstrap(0);
        opened.value()->abort(7, "the words before the end");
      },
      testing::ExitedWithCode(7), "the words before the end");
}

}  // namespace
