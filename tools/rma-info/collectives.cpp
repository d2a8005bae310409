#include "collectives.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "collectives/team/engine_table.hpp"

namespace librma::info {
namespace {

struct Example {
  std::string_view name;
  EngineTable table;
};

/// The teams that are shown. With RMA_COLL_ALGORITHM=p2p all are as if each rank was alone on its host.
std::vector<Example> examples(const Settings& settings) {
  const bool meet = settings.collective_algorithm == CollectiveSetting::automatic;
  const auto table = [&](const TeamLayout& layout) { return EngineTable(layout, settings.allgather); };
  return {{"one host, 4 ranks", table({.members = 4, .hosts = meet ? 1 : 4, .in_memory = meet})},
          {"4 hosts, 1 rank on each", table({.members = 4, .hosts = 4})},
          {"4 hosts, 4 ranks on each",
           table({.members = 16, .hosts = meet ? 4 : 16, .hierarchy = meet, .consecutive = meet})}};
}

/// Returns the engine of a row and its conditions.
std::string row_text(const EngineTable::Row& row) {
  std::vector<std::string> conditions;
  if (row.even) conditions.emplace_back("blocks of one size");
  if (row.commutes) conditions.emplace_back("if it commutes");
  const bool scan = row.kind == RMA_COLLECTIVE_SCAN || row.kind == RMA_COLLECTIVE_EXSCAN;
  if (row.most_bytes != SIZE_MAX) {
    conditions.push_back(fmt::format("up to {} bytes{}", row.most_bytes, scan ? "" : " in all"));
  }
  if (row.most_element != SIZE_MAX)
    conditions.push_back(fmt::format("elements of up to {} bytes", row.most_element));
  const std::string_view engine = EngineTable::name(row.engine);
  return conditions.empty() ? std::string(engine)
                            : fmt::format("{} ({})", engine, fmt::join(conditions, ", "));
}

}  // namespace

nlohmann::ordered_json collectives_json(const Settings& settings) {
  auto list = nlohmann::ordered_json::array();
  for (const Example& example : examples(settings)) {
    for (const EngineTable::Row& row : example.table.rows()) {
      nlohmann::ordered_json entry = {{"team", example.name},
                                      {"operation", EngineTable::name(row.kind)},
                                      {"engine", EngineTable::name(row.engine)}};
      if (row.even) entry["blocks_of_one_size"] = true;
      if (row.commutes) entry["commutes"] = true;
      if (row.most_bytes != SIZE_MAX) entry["most_bytes"] = row.most_bytes;
      if (row.most_element != SIZE_MAX) entry["most_element_bytes"] = row.most_element;
      list.push_back(entry);
    }
  }
  return list;
}

std::string collectives_text(const Settings& settings) {
  std::string text =
      "Blocking collective operations. The first engine whose conditions an operation meets executes it.\n";
  for (const Example& example : examples(settings)) {
    text += fmt::format("\n{}\n", example.name);
    const auto rows = example.table.rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool first = i == 0 || rows[i - 1].kind != rows[i].kind;
      text += first ? fmt::format("  {:<16}{}", EngineTable::name(rows[i].kind), row_text(rows[i]))
                    : fmt::format("; {}", row_text(rows[i]));
      if (i + 1 == rows.size() || rows[i + 1].kind != rows[i].kind) text += '\n';
    }
  }
  return text;
}

}  // namespace librma::info
