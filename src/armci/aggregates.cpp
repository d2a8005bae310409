// Aggregate handles, which gather small transfers.

#include "armci/aggregates.hpp"

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/state.hpp"

namespace librma::armci {
namespace {

/// A handle that has gathered this many transfers executes them at once.
constexpr std::size_t kPieces = 1024;

}  // namespace

Aggregates::Gathered* Aggregates::find(const armci_hdl_t* handle) {
  // A handle that was never initialized may contain any number. So the entry also records its handle.
  const auto found = aggregates_.find(handle->aggregate);
  return found != aggregates_.end() && found->second.handle == handle ? &found->second.gathered : nullptr;
}

void Aggregates::open(armci_hdl_t* handle) {
  const std::lock_guard guard(lock_);
  if (find(handle) != nullptr) return;
  handle->operation = 0;
  handle->aggregate = ++last_;
  aggregates_.emplace(last_, Aggregate{handle, {}});
  open_.store(aggregates_.size(), std::memory_order_relaxed);
}

void Aggregates::close(armci_hdl_t* handle) {
  const std::lock_guard guard(lock_);
  Gathered* const gathered = find(handle);
  if (gathered == nullptr) return;
  carry_out(*gathered);
  aggregates_.erase(handle->aggregate);
  open_.store(aggregates_.size(), std::memory_order_relaxed);
  handle->aggregate = 0;
}

bool Aggregates::add(const armci_hdl_t* handle, Kind kind, void* src, void* dst, std::size_t bytes,
                     int process) {
  const std::lock_guard guard(lock_);
  Gathered* const found = find(handle);
  if (found == nullptr) return false;
  Gathered& gathered = *found;
  if (gathered.kind != kind || gathered.process != process || gathered.src.size() >= kPieces) {
    carry_out(gathered);
    gathered.kind = kind;
    gathered.process = process;
  }
  if (gathered.runs.empty() || gathered.runs.back().bytes != bytes) {
    gathered.runs.push_back({bytes, gathered.src.size(), 0});
  }
  ++gathered.runs.back().count;
  gathered.src.push_back(src);
  gathered.dst.push_back(dst);
  return true;
}

void Aggregates::carry_out_this(const armci_hdl_t* handle) {
  const std::lock_guard guard(lock_);
  if (Gathered* const gathered = find(handle); gathered != nullptr) carry_out(*gathered);
}

void Aggregates::carry_out_all() {
  const std::lock_guard guard(lock_);
  for (auto& [number, aggregate] : aggregates_) carry_out(aggregate.gathered);
}

void Aggregates::carry_out(Gathered& gathered) {
  if (gathered.runs.empty()) return;
  std::vector<rma_iov_t> list;
  list.reserve(gathered.runs.size());
  for (const Run& run : gathered.runs) {
    list.push_back({.dst = gathered.dst.data() + run.first,
                    .src = gathered.src.data() + run.first,
                    .segments = run.count,
                    .bytes = run.bytes});
  }
  const auto transfer = gathered.kind == Kind::put ? rma_put_vector : rma_get_vector;
  require(transfer(list.data(), list.size(), gathered.process), gathered.kind == Kind::put
                                                                    ? "ARMCI_NbPut with an aggregate handle"
                                                                    : "ARMCI_NbGet with an aggregate handle");
  gathered.src.clear();
  gathered.dst.clear();
  gathered.runs.clear();
}

extern "C" {

void PARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t* handle) { state(__func__).handles.aggregates.open(handle); }

void PARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t* handle) { state(__func__).handles.aggregates.close(handle); }

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(SET_AGGREGATE_HANDLE);
RMA_ARMCI(UNSET_AGGREGATE_HANDLE);
