#include "shmem/memory/offsets.hpp"

#include <algorithm>
#include <utility>

namespace librma::shmem {

Offsets::Offsets(std::size_t bytes) { free_.give({0, bytes / kUnit * kUnit}, FreeRanges::make_record()); }

std::optional<std::size_t> Offsets::take(std::size_t bytes, std::size_t alignment) {
  const std::size_t whole = (bytes + kUnit - 1) / kUnit * kUnit;
  if (whole < bytes) return std::nullopt;
  if (const auto kept = take_kept(whole, alignment)) return kept;
  // The memory beyond all blocks is the largest range for long, so it stays untouched while smaller ranges
  // serve. Only an alignment above a unit makes find() look at several ranges.
  const auto found = free_.find(whole, [&](FreeRanges::Range range) -> std::optional<std::size_t> {
    const std::size_t at = (range.begin + alignment - 1) / alignment * alignment;
    return at - range.begin <= range.end - range.begin - whole ? std::optional(at) : std::nullopt;
  });
  if (found) {
    const auto [range, at] = *found;
    FreeRanges::Record more = range.begin < at ? FreeRanges::make_record() : FreeRanges::Record();
    blocks_.emplace(at, OffsetBlock{.size = whole});
    free_.take(range, {at, at + whole}, std::move(more));
    return at;
  }
  if (kept_.empty()) return std::nullopt;
  for (const Blocks::iterator& block : kept_) join(block);
  kept_.clear();
  return take(bytes, alignment);
}

std::optional<std::size_t> Offsets::take_kept(std::size_t whole, std::size_t alignment) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Blocks::iterator& block) {
    return block->second.size == whole && block->first % alignment == 0;
  });
  if (found == kept_.end()) return std::nullopt;
  const auto block = *found;
  kept_.erase(found);
  block->second.kept = false;
  return block->first;
}

bool Offsets::give(std::size_t offset) {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end() || block->second.kept) return false;
  if (block->second.size > kLargestKept) {
    join(block);
    return true;
  }
  if (kept_.size() == kMostKept) {
    join(kept_.front());
    kept_.erase(kept_.begin());
  }
  kept_.push_back(block);  // first: it may throw
  block->second.kept = true;
  return true;
}

void Offsets::join(Blocks::iterator block) {
  free_.give({block->first, block->first + block->second.size}, FreeRanges::make_record());
  blocks_.erase(block);
}

std::optional<std::size_t> Offsets::size_at(std::size_t offset) const {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end() || block->second.kept) return std::nullopt;
  return block->second.size;
}

}  // namespace librma::shmem
