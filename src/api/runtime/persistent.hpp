#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "collectives/schedules/schedule.hpp"
#include "rma/messages.h"
#include "util/tables/slot_table.hpp"

namespace librma {

/// The arguments of a send or receive, or a planned collective, that the program starts again and again.
struct PersistentOperation {
  explicit PersistentOperation(std::uint64_t own_name) : name(own_name) {}

  enum class Kind : std::uint8_t { send, synchronous_send, receive, collective };

  const std::uint64_t name;
  Kind kind = Kind::send;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int rank = 0;
  int tag = 0;
  std::uint32_t context = 0;
  rma_message_info_t* info = nullptr;
  std::shared_ptr<const PlannedCollective> collective = nullptr;  ///< of a collective, and all that there is
};

/// The persistent operations of the program. A handle is a name in the table: an invalid one finds nothing.
class PersistentOperations : public SlotTable<PersistentOperation> {};

[[nodiscard]] inline rma_persistent_t persistent_handle(std::uint64_t name) {
  return reinterpret_cast<rma_persistent_t>(static_cast<std::uintptr_t>(name));
}

}  // namespace librma
