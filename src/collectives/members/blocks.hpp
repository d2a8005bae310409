#pragma once

#include <cstddef>
#include <numeric>

#include "rma/collectives.h"

namespace librma {

/// The data of all members in one buffer argument of a collective operation: blocks of one size that follow
/// each other, or a list.
class BlockList {
 public:
  /// The blocks to which data come, and those from which they go.
  [[nodiscard]] static BlockList destination(const rma_collective_t& collective) {
    return {collective.dst, collective.bytes, collective.uneven != 0 ? collective.dst_blocks : nullptr};
  }
  [[nodiscard]] static BlockList source(const rma_collective_t& collective) {
    return {const_cast<void*>(collective.src), collective.bytes,
            collective.uneven != 0 ? collective.src_blocks : nullptr};
  }

  [[nodiscard]] std::byte* data(int member) const {
    const auto index = static_cast<std::size_t>(member);
    return list_ != nullptr ? static_cast<std::byte*>(list_[index].address) : base_ + index * bytes_;
  }
  [[nodiscard]] std::size_t bytes(int member) const {
    return list_ != nullptr ? list_[static_cast<std::size_t>(member)].bytes : bytes_;
  }
  /// Returns whether these are the same blocks, which an operation in place has.
  [[nodiscard]] bool same(const BlockList& other) const {
    return list_ == other.list_ && (list_ != nullptr || base_ == other.base_);
  }

 private:
  BlockList(void* base, std::size_t bytes, const rma_block_t* list)
      : base_(static_cast<std::byte*>(base)), bytes_(bytes), list_(list) {}

  std::byte* base_;
  std::size_t bytes_;
  const rma_block_t* list_;
};

/// Returns the number of elements of the first `blocks` blocks of a reduce-scatter.
[[nodiscard]] inline std::size_t scattered_elements(const rma_collective_t& collective, std::size_t blocks) {
  if (collective.counts == nullptr) return collective.count * blocks;
  return std::accumulate(collective.counts, collective.counts + blocks, std::size_t{0});
}

}  // namespace librma
