#include "rmarun/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using rmarun::NoJob;
using rmarun::Options;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

std::variant<Options, NoJob> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "rmarun");
  return rmarun::parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, HaveDefaults) {
  const auto options = std::get<Options>(parse({"prog"}));
  EXPECT_EQ(options.ranks, 1);
  EXPECT_EQ(options.bind, rmarun::Bind::kNone);
  EXPECT_FALSE(options.label);
  EXPECT_FALSE(options.timeout_seconds);
  EXPECT_TRUE(options.environment.empty());
  EXPECT_THAT(options.command, ElementsAre("prog"));
}

TEST(Options, AreAllRead) {
  const auto options = std::get<Options>(parse({"-n", "12", "--env", "A=1", "--env", "B=x=[y,z]", "--bind",
                                                "core", "--label", "--timeout", "2.5", "prog", "arg"}));
  EXPECT_EQ(options.ranks, 12);
  EXPECT_EQ(options.bind, rmarun::Bind::kCore);
  EXPECT_TRUE(options.label);
  EXPECT_EQ(options.timeout_seconds, 2.5);
  EXPECT_THAT(options.environment, ElementsAre(Pair("A", "1"), Pair("B", "x=[y,z]")));
  EXPECT_THAT(options.command, ElementsAre("prog", "arg"));
}

TEST(Options, EndAtTheProgram) {
  const auto options =
      std::get<Options>(parse({"-n", "2", "prog", "-n", "3", "--label", "", "[a,b]", "--", "--help"}));
  EXPECT_EQ(options.ranks, 2);
  EXPECT_FALSE(options.label);
  EXPECT_THAT(options.command, ElementsAre("prog", "-n", "3", "--label", "", "[a,b]", "--", "--help"));
}

TEST(Options, EndAtTwoDashes) {
  const auto options = std::get<Options>(parse({"-n", "2", "--", "-odd-name", "-n", "3"}));
  EXPECT_EQ(options.ranks, 2);
  EXPECT_THAT(options.command, ElementsAre("-odd-name", "-n", "3"));
}

TEST(Options, EnvironmentTakesOneValueEach) {
  const auto options = std::get<Options>(parse({"--env", "A=", "C=3"}));
  EXPECT_THAT(options.environment, ElementsAre(Pair("A", "")));
  EXPECT_THAT(options.command, ElementsAre("C=3"));
}

TEST(Options, HelpIsNoError) {
  const auto no_job = std::get<NoJob>(parse({"--help"}));
  EXPECT_EQ(no_job.exit_code, 0);
  EXPECT_THAT(no_job.out, HasSubstr("--bind"));
  EXPECT_EQ(no_job.err, "");
}

class WrongOptions : public testing::TestWithParam<std::vector<const char*>> {};

TEST_P(WrongOptions, AreRefusedWithAText) {
  const auto parsed = parse(GetParam());
  ASSERT_TRUE(std::holds_alternative<NoJob>(parsed));
  const auto& no_job = std::get<NoJob>(parsed);
  EXPECT_EQ(no_job.exit_code, 2);
  EXPECT_EQ(no_job.out, "");
  EXPECT_THAT(no_job.err, StartsWith("rmarun: "));
}

using Words = std::vector<const char*>;
INSTANTIATE_TEST_SUITE_P(All, WrongOptions,
                         testing::Values(Words{}, Words{"--"}, Words{"-n", "0", "prog"},
                                         Words{"-n", "-1", "prog"}, Words{"-n", "x", "prog"},
                                         Words{"-n", "99999999", "prog"}, Words{"-n"},
                                         Words{"--env", "A", "prog"}, Words{"--env", "=1", "prog"},
                                         Words{"--bind", "socket", "prog"}, Words{"--timeout", "0", "prog"},
                                         Words{"--timeout", "soon", "prog"}, Words{"--wrong", "prog"}));

}  // namespace
