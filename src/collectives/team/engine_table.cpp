#include "collectives/team/engine_table.hpp"

#include <algorithm>

#include "collectives/members/blocks.hpp"
#include "collectives/schedules/plan_runner.hpp"
#include "collectives/shared_memory/hierarchical_exchange.hpp"

namespace librma {
namespace {

constexpr std::array kTabled = {
    RMA_COLLECTIVE_BARRIER,        RMA_COLLECTIVE_BROADCAST, RMA_COLLECTIVE_GATHER, RMA_COLLECTIVE_SCATTER,
    RMA_COLLECTIVE_ALLGATHER,      RMA_COLLECTIVE_ALLTOALL,  RMA_COLLECTIVE_REDUCE, RMA_COLLECTIVE_ALLREDUCE,
    RMA_COLLECTIVE_REDUCE_SCATTER, RMA_COLLECTIVE_SCAN,      RMA_COLLECTIVE_EXSCAN};

/// Returns the size that a row's limit is about.
std::size_t limited_bytes(const rma_collective_t& collective, std::size_t members) {
  switch (collective.kind) {
    case RMA_COLLECTIVE_REDUCE_SCATTER:
      return scattered_elements(collective, members) * collective.reducer.element_bytes;
    case RMA_COLLECTIVE_SCAN:
    case RMA_COLLECTIVE_EXSCAN:
      return HierarchicalExchange::stride(collective.count * collective.reducer.element_bytes);
    default:
      return collective.bytes * members;
  }
}

}  // namespace

EngineTable::EngineTable(const TeamLayout& layout, AllgatherSetting allgather)
    : members_(static_cast<std::size_t>(layout.members)) {
  for (const rma_collective_kind_t kind : kTabled) {
    add(kind, layout, allgather);
    begin_[static_cast<std::size_t>(kind) + 1] = static_cast<std::uint8_t>(used_);
  }
  begin_.back() = begin_[RMA_COLLECTIVE_NEIGHBORS];  // none
}

void EngineTable::add(rma_collective_kind_t kind, const TeamLayout& layout, AllgatherSetting allgather) {
  constexpr std::size_t kPiece = TeamBlock::kPieceBytes;
  constexpr std::size_t kWithin = HierarchicalExchange::kScratch;
  if (layout.in_memory) add({.kind = kind, .engine = Engine::memory});
  const bool writes = !layout.in_memory && allgather != AllgatherSetting::p2p;
  const bool demanded = writes && allgather != AllgatherSetting::automatic;
  const Row rdma = {.kind = kind, .engine = Engine::rdma, .even = true};
  Row hosts = {.kind = kind, .engine = Engine::hosts};
  Row messages = {.kind = kind, .engine = Engine::messages};
  bool by_hosts = layout.hierarchy;
  bool by_messages = true;
  switch (kind) {
    case RMA_COLLECTIVE_BARRIER:
    case RMA_COLLECTIVE_BROADCAST:
      break;
    case RMA_COLLECTIVE_ALLGATHER:
      hosts.even = messages.even = true;
      if (!layout.consecutive) hosts.most_bytes = kWithin;
      if (demanded) add(rdma);
      break;
    case RMA_COLLECTIVE_GATHER:
    case RMA_COLLECTIVE_SCATTER:
      hosts.even = true;
      hosts.most_bytes = kWithin;
      by_messages = false;
      break;
    case RMA_COLLECTIVE_REDUCE:
    case RMA_COLLECTIVE_ALLREDUCE:
      hosts.commutes = !layout.consecutive;
      hosts.most_element = kPiece;
      messages.most_element = PlanRunner::kScratch / 2;
      break;
    case RMA_COLLECTIVE_REDUCE_SCATTER:
      hosts.commutes = !layout.consecutive;
      hosts.most_element = kPiece;
      hosts.most_bytes = kWithin;
      by_messages = false;
      break;
    case RMA_COLLECTIVE_SCAN:
    case RMA_COLLECTIVE_EXSCAN:
      // The totals of all hosts, and of those before this one, are in the scratch.
      by_hosts = by_hosts && layout.consecutive;
      hosts.most_element = kPiece;
      hosts.most_bytes = std::min(kPiece, kWithin / (static_cast<std::size_t>(layout.hosts) + 1));
      by_messages = false;
      break;
    default:
      by_hosts = by_messages = false;
      break;
  }
  if (by_hosts) add(hosts);
  if (kind == RMA_COLLECTIVE_ALLGATHER && writes && !demanded) add(rdma);
  if (by_messages) add(messages);
  // The last row has no condition.
  if (!by_messages || messages.even || messages.most_element != SIZE_MAX)
    add({.kind = kind, .engine = Engine::schedule});
}

Engine EngineTable::of(const rma_collective_t& collective, Engine from) const {
  if (collective.first_group != 0) return Engine::schedule;
  const auto kind = static_cast<std::size_t>(collective.kind);
  for (std::size_t i = begin_[kind]; i < begin_[kind + 1]; ++i) {
    if (rows_[i].engine >= from && meets(collective, rows_[i])) return rows_[i].engine;
  }
  return Engine::schedule;  // neighbors
}

bool EngineTable::meets(const rma_collective_t& collective, const Row& row) const {
  if (row.even && collective.uneven != 0) return false;
  if (row.commutes && collective.reducer.commutes == 0) return false;
  if (collective.reducer.element_bytes > row.most_element) return false;
  return row.most_bytes == SIZE_MAX || limited_bytes(collective, members_) <= row.most_bytes;
}

std::string_view EngineTable::name(Engine engine) {
  switch (engine) {
    case Engine::memory:
      return "memory";
    case Engine::hosts:
      return "hosts";
    case Engine::rdma:
      return "rdma";
    case Engine::messages:
      return "messages";
    case Engine::schedule:
      return "schedule";
  }
  return "";
}

std::string_view EngineTable::name(rma_collective_kind_t kind) {
  constexpr std::array<std::string_view, kTabled.size()> kNames = {
      "barrier", "broadcast", "gather",         "scatter", "allgather", "alltoall",
      "reduce",  "allreduce", "reduce-scatter", "scan",    "exscan"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace librma
