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

namespace librma {

/// The receive buffers for messages of one rail. They lie in one queue for all peers, and each of them is
/// promised to one peer. Each peer has a number of its own from its connection on, and the rest is lent to
/// peers that need more. A peer that sends only as many messages as it was promised buffers always finds one.
/// Thread-safe.
class MessageBuffers {
 public:
  /// Receives messages. The thread that polls the endpoint calls it, with a buffer that the receiver gives
  /// back by repost().
  class Slot;
  using Arrival = std::function<void(Slot& slot, int peer, rma_status_t status, std::uint32_t bytes)>;

  /// @param lent   buffers to be lent, posted now: log2(n) * k + b (Shipman et al., 2006)
  /// @param own    buffers for each peer that connects
  /// @param peers  number of peers that may connect
  MessageBuffers(Registrar& registrar, transport::MessageEndpoint& endpoint, std::size_t rail,
                 std::size_t bytes, std::uint32_t own, std::size_t peers, Arrival arrival);

  /// Posts the buffers to be lent. RMA_ERR_NO_MEMORY if not one can be registered.
  [[nodiscard]] Status open(std::uint32_t lent);
  /// Posts the own buffers of a new peer. Returns how many buffers it may be promised.
  [[nodiscard]] std::uint32_t admit();

  /// Returns the number of buffers that each peer has from its connection on.
  [[nodiscard]] std::uint32_t own() const { return own_; }
  /// Takes up to `wanted` of the buffers to be lent. Returns how many it took. Once no more memory can be
  /// registered, the peers that have not connected yet need these buffers as their own.
  [[nodiscard]] std::uint32_t borrow(std::uint32_t wanted);
  /// Takes back one borrowed buffer if a peer has wanted more than it got. Returns whether it did.
  [[nodiscard]] bool take_back();

  /// Posts the buffer again, for the next message of any peer.
  void repost(Slot& slot);

 private:
  [[nodiscard]] bool post(Slot& slot);
  /// Posts up to `count` new buffers. Returns how many it posted.
  [[nodiscard]] std::uint32_t add(std::uint32_t count);

  Registrar& registrar_;
  transport::MessageEndpoint& endpoint_;
  const std::size_t rail_;
  const std::size_t bytes_;
  const std::uint32_t own_;
  const Arrival arrival_;
  std::mutex lock_;     ///< guards the members below
  std::size_t absent_;  ///< peers that may still connect
  std::vector<std::unique_ptr<BouncePool>> memory_;
  std::deque<Slot> slots_;
  std::uint32_t lendable_ = 0;  ///< buffers to be lent that are not lent now
  bool scarce_ = false;         ///< the last borrower got fewer than it wanted
  bool all_registered_ = true;  ///< no peer has lacked buffers of its own
};

/// One receive buffer.
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

}  // namespace librma
