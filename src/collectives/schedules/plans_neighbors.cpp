// The exchange of blocks between listed members: all messages at once.

#include <algorithm>
#include <vector>

#include "collectives/schedules/plans.hpp"

namespace librma {

void plan_neighbors(Plan& plan, const rma_collective_t& collective) {
  const auto sources = static_cast<std::size_t>(collective.source_count);
  const auto destinations = static_cast<std::size_t>(collective.destination_count);
  // A member's blocks to itself are copied: the first one of one list to the place of the first one of the
  // other.
  std::vector<rma_block_t> to_itself;
  for (std::size_t i = 0; i < sources; ++i) {
    const rma_block_t& block = collective.dst_blocks[i];
    if (collective.sources[i] == plan.member()) {
      to_itself.push_back(block);
    } else {
      plan.receive(collective.sources[i], static_cast<std::byte*>(block.address), block.bytes);
    }
  }
  auto place = to_itself.cbegin();
  for (std::size_t i = 0; i < destinations; ++i) {
    const rma_block_t& block = collective.src_blocks[i];
    const auto* const data = static_cast<const std::byte*>(block.address);
    if (collective.destinations[i] != plan.member()) {
      plan.send(collective.destinations[i], data, block.bytes);
    } else if (place != to_itself.cend()) {
      plan.copy(static_cast<std::byte*>(place->address), data, std::min(place->bytes, block.bytes));
      ++place;
    }
  }
  plan.wait();
}

}  // namespace librma
