// Requests for more ranks: as they travel, and what becomes of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "rmarun/spawn_plan.hpp"
#include "util/system/spawn_call.hpp"

namespace {

using librma::soft_number;
using librma::SpawnCall;
using librma::SpawnedProgram;
using rmarun::plan_spawn;
using rmarun::SpawnPlan;
using testing::HasSubstr;

SpawnedProgram program(std::string name, int ranks) {
  SpawnedProgram made;
  made.ranks = ranks;
  made.command = {std::move(name), "an argument", ""};
  return made;
}

SpawnCall call_of(std::vector<SpawnedProgram> programs) {
  return {.programs = std::move(programs), .parents = {3, 1}, .number = 77};
}

SpawnPlan plan_of(const SpawnedProgram& wanted, int room = 8) {
  return plan_spawn(call_of({wanted}), {}, room, rmarun::Environment::inherited());
}

TEST(SpawnCallTest, TravelsAsItIs) {
  SpawnedProgram second = program("b", 2);
  second.directory = "/";
  second.path = "/x:/y";
  second.host = "localhost";
  second.soft = "1,2";
  const SpawnCall sent = call_of({program("a", 1), second});
  const auto got = SpawnCall::decode(sent.encode());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->programs, sent.programs);
  EXPECT_EQ(got->parents, sent.parents);
  EXPECT_EQ(got->number, sent.number);
}

TEST(SpawnCallTest, WhatIsCutShortOrLongerIsNone) {
  std::vector<std::byte> bytes = call_of({program("a", 1)}).encode();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(SpawnCall::decode(std::span(bytes).first(length))) << length;
  bytes.push_back({});
  EXPECT_FALSE(SpawnCall::decode(bytes));
}

TEST(SpawnCallTest, WrongLengthsAreNone) {
  const std::vector<std::byte> bytes = call_of({program("a", 1)}).encode();
  for (std::size_t at = 4; at + 4 <= bytes.size(); at += 4) {
    std::vector<std::byte> wrong = bytes;
    wrong[at + 3] = std::byte{0xff};  // of a length: far too long
    static_cast<void>(SpawnCall::decode(wrong));
  }
  SpawnCall none = call_of({});
  EXPECT_FALSE(SpawnCall::decode(none.encode()));
  none = call_of({program("a", 1)});
  none.programs.front().command.clear();
  EXPECT_FALSE(SpawnCall::decode(none.encode()));
}

TEST(SpawnCallTest, ListsOfTextsAndRanks) {
  const std::vector<std::string> texts = {"one", ""};
  EXPECT_EQ(librma::decode_texts(librma::encode_texts(texts), 2), texts);
  EXPECT_FALSE(librma::decode_texts(librma::encode_texts(texts), 1));
  EXPECT_FALSE(librma::decode_texts(librma::encode_texts(texts), 3));
  std::vector<std::byte> bytes = librma::encode_ranks(std::vector<int>{4, 5});
  bytes.push_back(std::byte{9});
  std::span<const std::byte> rest(bytes);
  EXPECT_EQ(librma::take_ranks(rest), (std::vector<int>{4, 5}));
  EXPECT_EQ(rest.size(), 1U);
  rest = std::span<const std::byte>(bytes).first(8);
  EXPECT_FALSE(librma::take_ranks(rest));
}

TEST(SoftNumber, TheLargestThatFits) {
  EXPECT_EQ(soft_number("", 4, 8), 4);
  EXPECT_EQ(soft_number("", 4, 3), -1);
  EXPECT_EQ(soft_number("2", 4, 8), 2);
  EXPECT_EQ(soft_number("1:8", 4, 8), 4);
  EXPECT_EQ(soft_number("1:8", 8, 5), 5);
  EXPECT_EQ(soft_number("0:20:6", 20, 17), 12);
  EXPECT_EQ(soft_number("3,5:7,1", 20, 4), 3);
  EXPECT_EQ(soft_number("20:2:-3", 20, 10), 8);
  EXPECT_EQ(soft_number("9", 20, 8), -1);
  for (const char* const wrong : {"x", "1:", "1,,2", "1:2:0", "1:2:3:4", "2 "})
    EXPECT_FALSE(soft_number(wrong, 4, 8)) << wrong;
}

TEST(SpawnPlanTest, FindsPrograms) {
  EXPECT_EQ(plan_of(program("/bin/sh", 2)).programs.front().command.front(), "/bin/sh");
  EXPECT_EQ(plan_of(program("/bin/sh", 2)).programs.front().ranks, 2);
  EXPECT_THAT(plan_of(program("sh", 1)).programs.front().command.front(), HasSubstr("/sh"));
  SpawnedProgram by_path = program("sh", 1);
  by_path.path = "/nowhere:/bin";
  EXPECT_EQ(plan_of(by_path).programs.front().command.front(), "/bin/sh");
  SpawnedProgram beside = program("./bin/sh", 1);
  beside.directory = "/";
  EXPECT_EQ(plan_of(beside).programs.front().command.front(), "./bin/sh");
}

TEST(SpawnPlanTest, SaysWhyThereIsNone) {
  EXPECT_THAT(plan_of(program("no-such-program", 1)).why_none, HasSubstr("no program 'no-such-program'"));
  EXPECT_THAT(plan_of(program("/etc/passwd", 1)).why_none, HasSubstr("no program"));
  EXPECT_THAT(plan_of(program("sh", 9)).why_none, HasSubstr("room for 8 more ranks"));
  EXPECT_THAT(plan_of(program("sh", 0)).why_none, HasSubstr("room"));
  SpawnedProgram elsewhere = program("sh", 1);
  elsewhere.host = "localhost,another.example";
  EXPECT_THAT(plan_of(elsewhere).why_none, HasSubstr("another.example"));
  SpawnedProgram nowhere = program("sh", 1);
  nowhere.directory = "/nowhere";
  EXPECT_THAT(plan_of(nowhere).why_none, HasSubstr("no directory"));
  SpawnedProgram odd = program("sh", 1);
  odd.soft = "some";
  EXPECT_THAT(plan_of(odd).why_none, HasSubstr("no list"));
}

TEST(SpawnPlanTest, TheRoomIsForAllPrograms) {
  const auto both = call_of({program("sh", 3), program("sh", 3)});
  const rmarun::Environment inherited = rmarun::Environment::inherited();
  EXPECT_EQ(plan_spawn(both, {}, 6, inherited).programs.size(), 2U);
  EXPECT_FALSE(plan_spawn(both, {}, 5, inherited).why_none.empty());
}

}  // namespace
