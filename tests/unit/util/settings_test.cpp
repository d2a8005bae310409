#include "util/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "util/log.hpp"

namespace librma {
namespace {

using testing::HasSubstr;

Result<Settings> read(std::vector<std::string_view> environment) { return read_settings(environment); }

const SettingInfo& row(std::string_view name) {
  const auto table = setting_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [name](const SettingInfo& info) { return info.name == name; });
  EXPECT_NE(found, table.end()) << name;
  return *found;
}

/// Returns the value of `name` after NAME=value, or the error text if the value is refused.
std::string in_force(std::string_view name, std::string_view value) {
  const std::string entry = std::string(name) + "=" + std::string(value);
  const auto settings = read({entry});
  if (!settings.ok()) return "refused: " + std::string(settings.status().text());
  return setting_text(row(name), settings.value());
}

TEST(Settings, EveryRowIsDocumentedAndParsesItsOwnDefault) {
  const auto defaults = read({});
  ASSERT_TRUE(defaults.ok()) << defaults.status().text();
  for (const SettingInfo& info : setting_table()) {
    SCOPED_TRACE(info.name);
    EXPECT_TRUE(info.name.starts_with("RMA_"));
    EXPECT_FALSE(info.help.empty());
    EXPECT_FALSE(setting_range(info).empty());
    const std::string text = setting_text(info, defaults.value());
    EXPECT_EQ(in_force(info.name, info.standard), text);
    EXPECT_EQ(in_force(info.name, text), text) << "what is printed can be given";
    const auto table = setting_table();
    EXPECT_EQ(std::count_if(table.begin(), table.end(), [&](const auto& x) { return x.name == info.name; }),
              1);
    if (std::holds_alternative<std::uint64_t Settings::*>(info.value)) {
      EXPECT_LT(info.least, info.most);
      EXPECT_FALSE(info.unit.empty());
    }
  }
}

JobSettings of_job(std::vector<std::string_view> environment) {
  const auto settings = read(std::move(environment));
  EXPECT_TRUE(settings.ok()) << settings.status().text();
  return JobSettings(settings.value());
}

/// Returns a valid value of a setting that is not its default.
std::string another_value(const SettingInfo& info) {
  if (const auto* choice = std::get_if<Choice>(&info.value)) {
    return std::string(choice->words[choice->words[0] == info.standard ? 1 : 0]);
  }
  return std::to_string(info.standard == std::to_string(info.least) ? info.most : info.least);
}

TEST(Settings, OfTheJobAreComparedAndOthersAreNot) {
  const JobSettings defaults = of_job({});
  EXPECT_TRUE(defaults.agree(of_job({}), 0, 1).ok());
  std::size_t of_the_job = 0;
  for (const SettingInfo& info : setting_table()) {
    SCOPED_TRACE(info.name);
    const bool must_agree = info.scope == SettingScope::job;
    EXPECT_EQ(info.help.ends_with("The value must be the same on all ranks"), must_agree)
        << "users read it, too";
    if (std::holds_alternative<std::string Settings::*>(info.value)) {
      EXPECT_FALSE(must_agree) << "JobSettings carries no texts";
      continue;
    }
    of_the_job += must_agree ? 1 : 0;
    const std::string value = another_value(info);
    const std::string entry = std::string(info.name) + "=" + value;
    const auto settings = read({entry});
    ASSERT_TRUE(settings.ok()) << settings.status().text();
    const Status status = defaults.agree(JobSettings(settings.value()), 3, 11);
    EXPECT_EQ(status.ok(), !must_agree);
    if (must_agree) {
      EXPECT_EQ(status.code(), RMA_ERR_SETTING);
      EXPECT_EQ(std::string(status.text()), std::string(info.name) + " is " + std::string(info.standard) +
                                                " on rank 3 and " + setting_text(info, settings.value()) +
                                                " on rank 11: set it alike on all ranks");
    }
  }
  EXPECT_GE(of_the_job, 11U);
  const Status two = defaults.agree(of_job({"RMA_HOST_RING=4K", "RMA_SHM=off"}), 0, 1);
  EXPECT_THAT(std::string(two.text()),
              HasSubstr("RMA_SHM is auto on rank 0 and off on rank 1, RMA_HOST_RING is 256K"));
}

TEST(Settings, OfTheJobTravelAsBytes) {
  const JobSettings sent = of_job({"RMA_MESSAGE=1K"});
  JobSettings taken;
  ASSERT_TRUE(taken.take(sent.bytes()));
  EXPECT_TRUE(sent.agree(taken, 0, 1).ok());
  EXPECT_FALSE(of_job({}).agree(taken, 0, 1).ok());
  for (std::size_t bytes = 0; bytes < sent.bytes().size(); ++bytes) {
    EXPECT_FALSE(taken.take(sent.bytes().first(bytes))) << bytes;
  }
  std::vector<std::byte> damaged(sent.bytes().begin(), sent.bytes().end());
  std::fill(damaged.begin(), damaged.end(), std::byte{0xff});
  ASSERT_TRUE(taken.take(damaged)) << "any numbers may come";
  EXPECT_THAT(std::string(sent.agree(taken, 0, 1).text()),
              HasSubstr("RMA_SHM is auto on rank 0 and 184467440737095516"));
}

TEST(Settings, DefaultsAreThoseOfTheTable) {
  const auto defaults = read({});
  ASSERT_TRUE(defaults.ok()) << defaults.status().text();
  EXPECT_EQ(defaults.value().max_regions, 131072U);
  EXPECT_EQ(defaults.value().direct_collective, 32U << 10U);
  EXPECT_EQ(defaults.value().cma, CmaSetting::automatic);
  EXPECT_EQ(defaults.value().statistics, StatisticsSetting::off);
  EXPECT_EQ(defaults.value().log, "warn");
  EXPECT_EQ(defaults.value().trace, "");
}

TEST(Settings, EveryRowOfNumbersTakesItsRangeAndNoMore) {
  for (const SettingInfo& info : setting_table()) {
    if (!std::holds_alternative<std::uint64_t Settings::*>(info.value)) continue;
    SCOPED_TRACE(info.name);
    const auto* const member = std::get_if<std::uint64_t Settings::*>(&info.value);
    for (const std::uint64_t good : {info.least, info.most}) {
      const std::string entry = std::string(info.name) + "=" + std::to_string(good);
      const auto settings = read({entry});
      ASSERT_TRUE(settings.ok()) << settings.status().text();
      EXPECT_EQ(settings.value().**member, good);
    }
    EXPECT_THAT(in_force(info.name, std::to_string(info.most + 1)), HasSubstr("refused"));
    if (info.least > 0) {
      EXPECT_THAT(in_force(info.name, std::to_string(info.least - 1)), HasSubstr("refused"));
    }
  }
}

TEST(Settings, EveryWordOfEveryChoiceIsTakenAndReadsBack) {
  for (const SettingInfo& info : setting_table()) {
    const auto* const choice = std::get_if<Choice>(&info.value);
    if (choice == nullptr) continue;
    for (const std::string_view word : choice->words) {
      EXPECT_EQ(in_force(info.name, word), word) << info.name;
      EXPECT_THAT(setting_range(info), HasSubstr(std::string(word)));
    }
    EXPECT_THAT(in_force(info.name, "perhaps"), HasSubstr(setting_range(info)));
    EXPECT_THAT(in_force(info.name, ""), HasSubstr("refused"));
  }
}

TEST(Settings, SuffixesArePowersOf1024) {
  const auto heap = [](std::string_view value) {
    const std::string entry = "RMA_HEAP_SIZE=" + std::string(value);
    const auto settings = read({entry});
    EXPECT_TRUE(settings.ok()) << settings.status().text();
    return settings.ok() ? settings.value().heap_size : 0;
  };
  EXPECT_EQ(heap("3"), 3U);
  EXPECT_EQ(heap("3K"), std::uint64_t{3} << 10U);
  EXPECT_EQ(heap("3M"), std::uint64_t{3} << 20U);
  EXPECT_EQ(heap("3G"), std::uint64_t{3} << 30U);
  EXPECT_EQ(heap("3T"), std::uint64_t{3} << 40U);
  EXPECT_EQ(in_force("RMA_HEAP_SIZE", "2048"), "2K") << "read back in the largest unit that fits";
  EXPECT_EQ(in_force("RMA_HEAP_SIZE", "1025"), "1025");
  EXPECT_EQ(in_force("RMA_HEAP_SIZE", "1024G"), "1T");
}

TEST(Settings, MalformedNumbersAreRefusedWithTheRange) {
  for (const char* const bad : {"", " 1", "1 ", "-1", "+1", "0x10", "1.5", "1k", "1KB", "K", "1KK", "many",
                                "18446744073709551616", "16777216T", "18446744073709551615K"}) {
    SCOPED_TRACE(bad);
    const std::string entry = std::string("RMA_HEAP_SIZE=") + bad;
    const auto settings = read({entry});
    ASSERT_FALSE(settings.ok());
    EXPECT_EQ(settings.status().code(), RMA_ERR_SETTING);
    EXPECT_THAT(std::string(settings.status().text()), HasSubstr(entry));
    EXPECT_THAT(std::string(settings.status().text()), HasSubstr("0 .. 64T bytes"));
  }
}

TEST(Settings, TextIsTakenAsItIs) {
  EXPECT_EQ(in_force("RMA_TRACE", "/a b/%r=1.json"), "/a b/%r=1.json");
  EXPECT_EQ(in_force("RMA_TRACE", ""), "");
  EXPECT_EQ(setting_range(row("RMA_TRACE")), "text");
}

TEST(Settings, AnUnknownNameIsDescribedWithTheNearest) {
  const std::pair<std::string_view, std::string> cases[] = {{"RMA_HEAPSIZE=1G", "nearest is RMA_HEAP_SIZE "},
                                                            {"RMA_SPINS=1", "nearest is RMA_SPIN "},
                                                            {"RMA_STAT=table", "nearest is RMA_STATS "},
                                                            {"RMA_TARCE=x", "nearest is RMA_TRACE "}};
  for (const auto& [entry, nearest] : cases) {
    const auto settings = read({entry, "RMA_SPIN=7"});
    ASSERT_TRUE(settings.ok()) << entry;
    EXPECT_THAT(settings.value().unknown, HasSubstr(nearest));
    EXPECT_EQ(settings.value().spins, 7U) << "the others count";
    // The order of an environment means nothing.
    for (const auto& strict : {read({entry, "RMA_STRICT=1"}), read({"RMA_STRICT=1", entry})}) {
      ASSERT_FALSE(strict.ok()) << entry;
      EXPECT_EQ(strict.status().code(), RMA_ERR_SETTING);
      EXPECT_THAT(std::string(strict.status().text()), HasSubstr(nearest));
    }
  }
  EXPECT_EQ(read({"RMA_SPIN=7", "RMA_STRICT=1", "HOME=/"}).value().unknown, "");
}

TEST(Settings, ManyUnknownNamesGiveOneShortLine) {
  const auto two = read({"RMA_BIN=/opt", "RMA_=1"});
  ASSERT_TRUE(two.ok());
  EXPECT_THAT(two.value().unknown, HasSubstr("RMA_BIN;"));
  EXPECT_THAT(two.value().unknown, HasSubstr("; there is no setting RMA_;"));
  std::vector<std::string> entries;
  for (int i = 0; i < 1000; ++i) entries.push_back("RMA_MY_" + std::to_string(i) + "=\n");
  const auto many = read({entries.begin(), entries.end()});
  ASSERT_TRUE(many.ok());
  EXPECT_THAT(many.value().unknown, HasSubstr("and 992 more"));
  EXPECT_LT(many.value().unknown.size(), 1000U);
  EXPECT_EQ(many.value().unknown.find('\n'), std::string::npos);
}

TEST(Settings, AWrongValueIsRefusedBesideAnUnknownName) {
  for (const auto& both :
       {read({"RMA_BIN=/opt", "RMA_SPIN=fast"}), read({"RMA_SPIN=fast", "RMA_BIN=/opt"})}) {
    ASSERT_FALSE(both.ok());
    EXPECT_THAT(std::string(both.status().text()), HasSubstr("RMA_SPIN=fast"));
  }
}

TEST(Settings, ARenamedValueIsRefusedWithItsNewName) {
  const auto refused = read({"RMA_COLL_ALGORITHM=mail"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), RMA_ERR_SETTING);
  EXPECT_THAT(std::string(refused.status().text()), HasSubstr("RMA_COLL_ALGORITHM=p2p"));
  EXPECT_TRUE(read({"RMA_COLL_ALGORITHM=p2p"}).ok());
}

TEST(Settings, EveryRenamedSettingIsRefusedWithItsNewName) {
  for (const RenamedSetting& renamed : renamed_settings()) {
    SCOPED_TRACE(renamed.before);
    const bool is_value = renamed.before.find('=') != std::string_view::npos;
    const std::string suffix = is_value ? "" : "=1";
    const std::string entry = std::string(renamed.before) + suffix;
    const auto refused = read({entry});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), RMA_ERR_SETTING);
    EXPECT_THAT(std::string(refused.status().text()), HasSubstr(std::string(renamed.now)));
    const std::string_view name = renamed.now.substr(0, renamed.now.find('='));
    EXPECT_EQ(row(name).name, name);
    if (is_value) {
      EXPECT_TRUE(read({renamed.now}).ok());
    }
  }
}

TEST(Settings, OtherPeoplesVariablesAreTheirs) {
  const auto settings =
      read({"PATH=/bin", "XRMA_SPIN=9", "RMA=1", "rma_spin=9", "RMA_SPIN", "", "RMA_SPIN=7"});
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings.value().spins, 7U);
}

TEST(Settings, AreReadFromThisProcessesEnvironment) {
  ASSERT_EQ(setenv("RMA_SPIN", "31", 1), 0);
  const auto settings = read_settings();
  ASSERT_EQ(unsetenv("RMA_SPIN"), 0);
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings.value().spins, 31U);
}

TEST(Settings, VariablesOfTheToolsAreNone) {
  const auto tools = read({"RMA_CC=gcc", "RMA_CXX=g++", "RMA_FC=gfortran", "RMA_MPI=openmpi"});
  ASSERT_TRUE(tools.ok());
  EXPECT_EQ(tools.value().unknown, "");
  const auto another = read({"RMA_CC1=gcc"});
  ASSERT_TRUE(another.ok());
  EXPECT_THAT(another.value().unknown, HasSubstr("RMA_CC1"));
}

TEST(Log, TakesItsSixWordsAndNoOther) {
  for (const char* const word : {"trace", "debug", "info", "warn", "error", "off"}) {
    EXPECT_TRUE(open_log(word, 0).ok()) << word;
  }
  for (const char* const word : {"", "loud", "WARN", "warning", "err", "critical", "off "}) {
    const Status status = open_log(word, 0);
    EXPECT_EQ(status.code(), RMA_ERR_SETTING) << word;
    EXPECT_THAT(std::string(status.text()), HasSubstr(std::string("RMA_LOG=") + word));
  }
}

TEST(Log, PrintsWhatIsSeriousEnoughWithItsRank) {
  ASSERT_TRUE(open_log("warn", 5).ok());
  testing::internal::CaptureStderr();
  log(LogLevel::info, "unheard");
  log(LogLevel::warn, "a {} warning");
  log(LogLevel::error, "an error");
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_THAT(printed, testing::Not(HasSubstr("unheard")));
  EXPECT_THAT(printed, HasSubstr("rank 5 warning] a {} warning\n"));
  EXPECT_THAT(printed, HasSubstr("rank 5 error] an error\n"));
  ASSERT_TRUE(open_log("off", 5).ok());
  testing::internal::CaptureStderr();
  log(LogLevel::error, "nothing");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace librma
