#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rma/collectives.h"
#include "util/settings.hpp"

namespace librma {

/// The ways in which the members of a team execute a blocking collective operation.
enum class Engine : std::uint8_t {
  memory,    ///< in memory that all members have mapped (Exchange)
  hosts,     ///< within each host first, and between the hosts then (HierarchicalExchange)
  rdma,      ///< by writes into each other's memory (RdmaAllgather); by messages until it is open
  messages,  ///< by messages, step by step (PlanRunner)
  schedule   ///< as a schedule that the caller waits for (Schedules)
};

/// The placement of a team's members on hosts. It is the same for all members.
struct TeamLayout {
  int members = 1;
  int hosts = 1;
  bool in_memory = false;    ///< all members meet in memory
  bool hierarchy = false;    ///< some host has several members, and all members use a hierarchy
  bool consecutive = false;  ///< the members of each host follow each other in the team
};

/// Says which engine executes each operation of a team, by its kind and size. All members have the same
/// table. It is made with the team, and again when the members have found out about their hosts. rma-info
/// prints it.
///
/// Operations whose data grow with the team go within each host first only while they fit into the scratch of
/// HierarchicalExchange: longer ones would pass the leader's memory twice on their way. Blocks of different
/// sizes are known to the members that send and get them, and not to those between.
class EngineTable {
 public:
  /// One line: the operations that meet all its conditions have this engine.
  struct Row {
    rma_collective_kind_t kind = RMA_COLLECTIVE_BARRIER;
    Engine engine = Engine::schedule;
    std::size_t most_bytes = SIZE_MAX;    ///< of all blocks; of a scan, of one vector
    std::size_t most_element = SIZE_MAX;  ///< bytes of an element of a reduction
    bool even = false;                    ///< only blocks of one size
    bool commutes = false;                ///< only reductions that commute
  };

  EngineTable(const TeamLayout& layout, AllgatherSetting allgather);

  /// Returns the engine of the first row whose conditions the operation meets. Rows of engines before `from`
  /// do not count: the operation found no memory there, or no rail.
  [[nodiscard]] Engine of(const rma_collective_t& collective, Engine from = Engine::memory) const;
  [[nodiscard]] std::span<const Row> rows() const { return std::span(rows_).first(used_); }

  [[nodiscard]] static std::string_view name(Engine engine);
  [[nodiscard]] static std::string_view name(rma_collective_kind_t kind);

 private:
  static constexpr std::size_t kMostRows = 32;

  /// The rows of an operation, in their order.
  void add(rma_collective_kind_t kind, const TeamLayout& layout, AllgatherSetting allgather);
  void add(const Row& row) { rows_[used_++] = row; }
  [[nodiscard]] bool meets(const rma_collective_t& collective, const Row& row) const;

  std::size_t members_;
  std::array<Row, kMostRows> rows_;
  std::array<std::uint8_t, RMA_COLLECTIVE_NEIGHBORS + 2> begin_ = {};  ///< of the rows of each kind
  std::size_t used_ = 0;
};

}  // namespace librma
