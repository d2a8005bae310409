#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collectives/schedules/allgather_block.hpp"
#include "collectives/schedules/allgather_steps.hpp"
#include "collectives/schedules/plan.hpp"

// Collective operations by puts and flags: the members write into memory that they have announced to each
// other.

namespace librma {

/// One call of an allgather by puts, as one member takes part in it. The announced memory of each member, its
/// block and its result, has the same layout.
struct PutAllgather {
  AllgatherSteps steps;
  std::size_t copied = 0;  ///< steps before this number go through the collective buffers; the others do not
  AllgatherBlock* block = nullptr;  ///< this member's
  std::uint64_t call = 0;           ///< the number of the call, from 1
  std::byte* dst = nullptr;         ///< the result; this member's own block is in its place
  std::size_t bytes = 0;            ///< of the block of each member; more than 0

  /// Returns the slot of step `k` in the arrays of AllgatherBlock.
  [[nodiscard]] std::size_t slot(std::size_t k) const {
    return steps.way() == AllgatherSteps::Way::ring ? AllgatherBlock::kRing : k;
  }
  /// Returns the steps from `copied` on that have a slot of their own.
  [[nodiscard]] std::size_t announced_end() const {
    return steps.way() == AllgatherSteps::Way::ring ? std::min(copied + 1, steps.number()) : steps.number();
  }
  [[nodiscard]] AllgatherBlock::Part& part() const { return block->parts[call % AllgatherBlock::kParts]; }
};

/// Adds the steps of an allgather by puts. (Sur, Bondhugula, Mamidala, Jin, Panda: High Performance RDMA
/// Based All-to-all Broadcast for InfiniBand Clusters, OSU-CISRC-5/05-TR32, section 4.) A copied step puts
/// blocks from one collective buffer into the next. Every other step puts them from result to result. A
/// member whose card in `announcing` says that its result is not usable receives messages in place of the
/// puts into its result. The executor of the sender's plan finds that in the card, and sends these puts as
/// messages.
void plan_allgather_puts(Plan& plan, const PutAllgather& call);

}  // namespace librma
