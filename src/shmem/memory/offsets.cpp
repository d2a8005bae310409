#include "shmem/memory/offsets.hpp"

#include <algorithm>
#include <iterator>

namespace rma::shmem {

Offsets::Offsets(std::size_t bytes) { insert(0, bytes / kUnit * kUnit); }

std::optional<std::size_t> Offsets::take(std::size_t bytes, std::size_t alignment) {
  const std::size_t whole = (bytes + kUnit - 1) / kUnit * kUnit;
  if (whole < bytes) return std::nullopt;
  if (const auto kept = take_kept(whole, alignment)) return kept;
  // Best fit with the lowest address. The memory beyond all blocks is the largest range for long, so it stays
  // untouched while smaller ranges serve. Only an alignment above a unit makes the loop look at several
  // ranges.
  for (auto found = by_size_.lower_bound({whole, 0}); found != by_size_.end(); ++found) {
    const auto [size, begin] = *found;
    const std::size_t at = (begin + alignment - 1) / alignment * alignment;
    if (at - begin > size - whole) continue;
    erase(begin, begin + size);
    insert(begin, at);
    insert(at + whole, begin + size);
    blocks_.emplace(at, Block{.size = whole});
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
  const std::size_t begin = block->first;
  const std::size_t end = begin + block->second.size;
  blocks_.erase(block);
  const auto next = free_.lower_bound(begin);
  Range after = {end, end};
  Range before = {begin, begin};
  if (next != free_.end() && next->first == end) after.second = next->second;
  if (next != free_.begin() && std::prev(next)->second == begin) before.first = std::prev(next)->first;
  if (after.first != after.second) erase(after.first, after.second);
  if (before.first != before.second) erase(before.first, before.second);
  insert(before.first, after.second);
}

std::optional<std::size_t> Offsets::size_at(std::size_t offset) const {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end() || block->second.kept) return std::nullopt;
  return block->second.size;
}

void Offsets::insert(std::size_t begin, std::size_t end) {
  if (begin == end) return;
  free_.emplace(begin, end);
  by_size_.emplace(end - begin, begin);
}

void Offsets::erase(std::size_t begin, std::size_t end) {
  free_.erase(begin);
  by_size_.erase({end - begin, begin});
}

}  // namespace rma::shmem
