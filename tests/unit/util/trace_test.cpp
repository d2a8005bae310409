#include "util/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "../../scratch_directory.hpp"

namespace librma {
namespace {

class TraceFile : public testing::Test {
 protected:
  [[nodiscard]] nlohmann::json parsed() const { return nlohmann::json::parse(std::ifstream(path())); }
  [[nodiscard]] std::string path() const { return (folder.path() / "trace.json").string(); }

  ScratchDirectory folder;
};

TEST_F(TraceFile, WithoutEventsIsAnEmptyList) {
  { ASSERT_TRUE(Trace::open(path(), 0).ok()); }
  EXPECT_EQ(parsed(), nlohmann::json::array());
}

TEST_F(TraceFile, HoldsOneEventPerCall) {
  const auto begin = Trace::Clock::now();
  const std::chrono::duration<double, std::micro> began = begin.time_since_epoch();
  {
    auto trace = Trace::open(path(), 6);
    ASSERT_TRUE(trace.ok()) << trace.status().text();
    trace.value()->record("rma_put", begin, 3, std::uint64_t{5} << 32U);
    trace.value()->record("rma_barrier", begin, -1, 0);
  }
  const std::chrono::duration<double, std::micro> most = Trace::Clock::now() - begin;
  const auto events = parsed();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].at("name"), "rma_put");
  EXPECT_EQ(events[0].at("ph"), "X");
  EXPECT_EQ(events[0].at("pid"), 6);
  EXPECT_EQ(events[0].at("tid"), gettid());
  EXPECT_EQ(events[0].at("args").at("target"), 3);
  EXPECT_EQ(events[0].at("args").at("bytes"), std::uint64_t{5} << 32U);
  EXPECT_EQ(events[1].at("name"), "rma_barrier");
  EXPECT_EQ(events[1].at("args").at("target"), -1);
  for (const auto& event : events) {
    EXPECT_GE(event.at("dur").get<double>(), 0);
    EXPECT_LE(event.at("dur").get<double>(), most.count() + 1);
    EXPECT_NEAR(event.at("ts").get<double>(), began.count(), 1);
  }
}

TEST_F(TraceFile, ThreadsDoNotMixTheirEvents) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kEvents = 200;
  {
    auto trace = Trace::open(path(), 0);
    ASSERT_TRUE(trace.ok());
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&trace, t] {
        for (std::uint64_t i = 0; i < kEvents; ++i)
          trace.value()->record("rma_get", Trace::Clock::now(), static_cast<int>(t), i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::set<std::pair<int, std::uint64_t>> seen;
  for (const auto& event : parsed()) {
    seen.emplace(event.at("args").at("target").get<int>(), event.at("args").at("bytes").get<std::uint64_t>());
  }
  EXPECT_EQ(seen.size(), kThreads * kEvents);
}

TEST_F(TraceFile, ThatCannotBeWrittenIsAFailureThatNamesIt) {
  const auto trace = Trace::open((folder.path() / "missing" / "trace.json").string(), 0);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.status().code(), RMA_ERR_SYSTEM);
  EXPECT_THAT(std::string(trace.status().text()), testing::HasSubstr("missing/trace.json"));
}

TEST(PathForRank, PutsTheRankWhereverItIsAskedFor) {
  EXPECT_EQ(path_for_rank("stats.json", 3), "stats.json");
  EXPECT_EQ(path_for_rank("%r", 0), "0");
  EXPECT_EQ(path_for_rank("/a/%r/b-%r.json", 12), "/a/12/b-12.json");
  EXPECT_EQ(path_for_rank("%r%r", 7), "77");
  EXPECT_EQ(path_for_rank("100%", 7), "100%");
  EXPECT_EQ(path_for_rank("", 7), "");
}

}  // namespace
}  // namespace librma
