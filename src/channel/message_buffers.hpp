#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "channel/posted.hpp"
#include "fabric/bounce_pool.hpp"
#include "fabric/registrar.hpp"
#include "transport/message_endpoint.hpp"
#include "util/status.hpp"

namespace rma {

/// The buffers that messages of one rail arrive in. They lie in one queue for all peers, and each of them is
/// promised to one: so many are each peer's own from its connection on, and the rest is lent to those who
/// need more. A peer that sends only what it was promised room for always finds a buffer.
/// Thread-safe.
class MessageBuffers {
 public:
  /// Where messages go: called by who polls the endpoint, with a buffer that is to be given back by repost().
  class Slot;
  using Arrival = std::function<void(Slot& slot, int peer, rma_status_t status, std::uint32_t bytes)>;

  /// @param lent   buffers to be lent, posted now: log2(n) * k + b (Shipman et al., 2006)
  /// @param own    buffers for each peer that connects
  MessageBuffers(Registrar& registrar, transport::MessageEndpoint& endpoint, std::size_t rail,
                 std::size_t bytes, std::uint32_t own, Arrival arrival);

  /// Posts the buffers to be lent. RMA_ERR_NO_MEMORY when not one can be registered.
  [[nodiscard]] Status open(std::uint32_t lent);
  /// Posts a new peer's own; returns how many there are room for.
  [[nodiscard]] std::uint32_t admit();

  /// Takes up to `wanted` of the buffers to be lent; returns how many it got.
  [[nodiscard]] std::uint32_t borrow(std::uint32_t wanted);
  /// One borrowed buffer comes back, if somebody wanted one in vain.
  [[nodiscard]] bool take_back();

  /// Makes the buffer ready for the next message of anybody.
  void repost(Slot& slot);

 private:
  [[nodiscard]] bool post(Slot& slot);
  /// Posts up to `count` new buffers; returns how many.
  [[nodiscard]] std::uint32_t add(std::uint32_t count);

  Registrar& registrar_;
  transport::MessageEndpoint& endpoint_;
  const std::size_t rail_;
  const std::size_t bytes_;
  const std::uint32_t own_;
  const Arrival arrival_;
  std::mutex lock_;  ///< of the following
  std::vector<std::unique_ptr<BouncePool>> memory_;
  std::deque<Slot> slots_;
  std::uint32_t lendable_ = 0;  ///< to be lent, and not lent
  bool scarce_ = false;         ///< somebody got fewer than it wanted
};

/// One buffer.
class MessageBuffers::Slot final : public Posted {
 public:
  Slot(MessageBuffers& owner, std::byte* memory, transport::Key key)
      : owner_(owner), memory_(memory), key_(key) {}

  [[nodiscard]] const std::byte* memory() const { return memory_; }
  void ended(int peer, rma_status_t status, std::uint32_t bytes) override {
    owner_.arrival_(*this, peer, status, bytes);
  }

 private:
  friend class MessageBuffers;
  MessageBuffers& owner_;
  std::byte* const memory_;
  const transport::Key key_;
};

}  // namespace rma
