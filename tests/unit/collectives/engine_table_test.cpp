#include "collectives/team/engine_table.hpp"

#include <gtest/gtest.h>

#include "collectives/schedules/plan_runner.hpp"
#include "collectives/shared_memory/hierarchical_exchange.hpp"

namespace librma {
namespace {

constexpr TeamLayout kOneHost = {.members = 8, .hosts = 1, .in_memory = true};
constexpr TeamLayout kAlone = {.members = 8, .hosts = 8};  // one member on each host
constexpr TeamLayout kHosts = {.members = 8, .hosts = 2, .hierarchy = true, .consecutive = true};
constexpr TeamLayout kMixed = {.members = 8, .hosts = 2, .hierarchy = true, .consecutive = false};

rma_collective_t operation(rma_collective_kind_t kind, std::size_t bytes = 8) {
  rma_collective_t made = {};
  made.kind = kind;
  made.bytes = bytes;
  made.count = bytes;
  made.reducer.element_bytes = 1;
  made.reducer.commutes = 1;
  return made;
}

TEST(EngineTable, EveryOperationHasARowWithoutConditionsLast) {
  for (const TeamLayout& layout : {kOneHost, kAlone, kHosts, kMixed}) {
    const EngineTable table(layout, AllgatherSetting::automatic);
    const auto rows = table.rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i + 1 < rows.size() && rows[i + 1].kind == rows[i].kind) continue;
      EXPECT_EQ(rows[i].most_bytes, SIZE_MAX);
      EXPECT_EQ(rows[i].most_element, SIZE_MAX);
      EXPECT_FALSE(rows[i].even || rows[i].commutes);
    }
    for (int kind = RMA_COLLECTIVE_BARRIER; kind < RMA_COLLECTIVE_NEIGHBORS; ++kind) {
      EXPECT_EQ(table.of(operation(static_cast<rma_collective_kind_t>(kind))) == Engine::memory,
                layout.in_memory);
    }
    EXPECT_EQ(table.of(operation(RMA_COLLECTIVE_NEIGHBORS)), Engine::schedule);
  }
}

TEST(EngineTable, LimitsAreThoseOfTheEngines) {
  const EngineTable hosts(kHosts, AllgatherSetting::automatic);
  constexpr std::size_t kMost = HierarchicalExchange::kScratch / 8;
  EXPECT_EQ(hosts.of(operation(RMA_COLLECTIVE_GATHER, kMost)), Engine::hosts);
  EXPECT_EQ(hosts.of(operation(RMA_COLLECTIVE_GATHER, kMost + 1)), Engine::schedule);
  EXPECT_EQ(hosts.of(operation(RMA_COLLECTIVE_REDUCE_SCATTER, kMost)), Engine::hosts);
  EXPECT_EQ(hosts.of(operation(RMA_COLLECTIVE_REDUCE_SCATTER, kMost + 1)), Engine::schedule);
  EXPECT_EQ(hosts.of(operation(RMA_COLLECTIVE_ALLGATHER, 1 << 20)), Engine::hosts);
  EXPECT_EQ(hosts.of(operation(RMA_COLLECTIVE_ALLREDUCE, 1 << 20), Engine::messages), Engine::messages);
  rma_collective_t large = operation(RMA_COLLECTIVE_ALLREDUCE);
  large.reducer.element_bytes = PlanRunner::kScratch / 2 + 1;
  EXPECT_EQ(hosts.of(large), Engine::schedule);
  rma_collective_t uneven = operation(RMA_COLLECTIVE_ALLGATHER);
  uneven.uneven = 1;
  EXPECT_EQ(hosts.of(uneven), Engine::schedule);
}

TEST(EngineTable, MembersThatDoNotFollowEachOtherGoByHostsOnlyIfTheOrderDoesNotMatter) {
  const EngineTable mixed(kMixed, AllgatherSetting::automatic);
  rma_collective_t sum = operation(RMA_COLLECTIVE_ALLREDUCE);
  EXPECT_EQ(mixed.of(sum), Engine::hosts);
  sum.reducer.commutes = 0;
  EXPECT_EQ(mixed.of(sum), Engine::messages);
  EXPECT_EQ(mixed.of(operation(RMA_COLLECTIVE_SCAN)), Engine::schedule);
  EXPECT_EQ(mixed.of(operation(RMA_COLLECTIVE_ALLGATHER, 1 << 20)), Engine::rdma);
}

TEST(EngineTable, TheSettingOfAllgathersDecides) {
  const rma_collective_t gather = operation(RMA_COLLECTIVE_ALLGATHER);
  EXPECT_EQ(EngineTable(kHosts, AllgatherSetting::automatic).of(gather), Engine::hosts);
  EXPECT_EQ(EngineTable(kHosts, AllgatherSetting::rdma).of(gather), Engine::rdma);
  EXPECT_EQ(EngineTable(kHosts, AllgatherSetting::ring).of(gather), Engine::rdma);
  EXPECT_EQ(EngineTable(kAlone, AllgatherSetting::automatic).of(gather), Engine::rdma);
  EXPECT_EQ(EngineTable(kAlone, AllgatherSetting::p2p).of(gather), Engine::messages);
  EXPECT_EQ(EngineTable(kOneHost, AllgatherSetting::rdma).of(gather), Engine::memory);
}

}  // namespace
}  // namespace librma
