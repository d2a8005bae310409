#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "channel/posted.hpp"
#include "channel/ring_memory.hpp"
#include "fabric/bounce_pool.hpp"
#include "fabric/registrar.hpp"
#include "util/status.hpp"

namespace librma {

/// Registered memory for outgoing messages that the device does not copy when they are posted. It holds each
/// until the device has sent it. Thread-safe.
class SendSlots {
 public:
  class Slot;
  /// Handles the end of a message, and receives the piece that its slot has kept. The thread that polls the
  /// endpoint calls it.
  using Ended = std::function<void(int peer, rma_status_t status, RingMemory::Piece kept)>;

  /// Registers the memory of `count` slots of `bytes` bytes. RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<SendSlots>> create(Registrar& registrar, std::size_t bytes,
                                                                 std::size_t count, Ended ended);

  /// Takes a slot. Returns null if all are taken.
  [[nodiscard]] Slot* take();
  /// Gives back a slot whose message was not posted.
  void give(Slot* slot);
  [[nodiscard]] transport::Key key(std::size_t rail) const { return memory_->registered().local_key(rail); }

 private:
  explicit SendSlots(Ended ended) : ended_(std::move(ended)) {}

  const Ended ended_;
  std::unique_ptr<BouncePool> memory_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::mutex lock_;
  std::vector<Slot*> free_;
};

/// The memory of one message.
class SendSlots::Slot final : public Posted {
 public:
  Slot(SendSlots& owner, std::byte* memory) : owner_(owner), memory_(memory) {}

  [[nodiscard]] std::byte* memory() const { return memory_; }
  /// Keeps `piece` until the end of this message, and so of all messages that were posted to its receiver
  /// before.
  void keep(RingMemory::Piece piece) { kept_ = std::move(piece); }
  void ended(int peer, rma_status_t status, std::uint32_t bytes) override;

 private:
  SendSlots& owner_;
  std::byte* const memory_;
  RingMemory::Piece kept_;
};

}  // namespace librma
