#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "channel/helper_sleep.hpp"
#include "channel/link_table.hpp"
#include "channel/message.hpp"
#include "channel/polling_set.hpp"
#include "channel/ring.hpp"
#include "channel/ring_memory.hpp"
#include "fabric/registrar.hpp"

namespace librma {

/// The eager rings of a channel: those in this process's memory, which busy peers write their messages into
/// and this process polls, and the control messages about rings in both directions. eager_rings.cpp explains
/// the protocol and proves that no message stays unseen. Used by the thread that has the channel's turn.
class EagerRings {
 public:
  /// Takes a message in that came by a ring. Returns false if it cannot be from an honest peer.
  using TakeIn = std::function<bool(std::size_t rail, int peer, std::span<const std::byte> message)>;
  /// Gives up a peer that sent such a message.
  using Refuse = std::function<void(int peer)>;
  /// Rings have the given shape. `registrar` and `links` outlive the rings. `helper_polls`: while it is
  /// awake, the helper thread polls. If it does not, all rings are for unsolicited messages, which the
  /// program's threads poll for.
  EagerRings(Registrar& registrar, LinkTable& links, const RingShape& shape, const PollingSet::Policy& policy,
             bool helper_polls, TakeIn take_in, Refuse refuse);

  /// Counts a message of `peer` that came by the queue. A peer that sends many is offered a ring.
  void heard(int peer, MessageEvent event);
  /// Takes in the messages that have arrived in all rings. Returns whether there were any.
  bool look();
  /// Takes in those in the ring of `peer`, if it has one.
  void look_at_peer(int peer);
  /// Carries out the decisions of the polling set.
  void decide();
  /// Takes in a peer's control message about rings. Returns false if it cannot be from an honest peer.
  [[nodiscard]] bool take_in_control(const Message& message);
  /// Forgets the rings of a peer that is lost.
  void forget(int peer);
  /// Gives back the memory of an image that the device does not read any more.
  void give_image(RingMemory::Piece image) { image_memory_.give(std::move(image)); }

  /// Tells all peers that have a ring which the sleeper is to look at to stop using it, and offers none of
  /// that sort until resume(). A sleep for solicited messages leaves the rings for unsolicited ones as they
  /// are.
  void prepare_sleep(HelperSleep::Depth depth);
  /// Returns whether nothing waits to be sent to a peer that has a ring. The process must not sleep before.
  [[nodiscard]] bool may_sleep();
  void resume() { depth_ = HelperSleep::Depth::awake; }

 private:
  /// The ring that the peer at one place of the polling set was offered.
  struct PolledRing {
    std::optional<RingReceiver> slots;  ///< from the offer on
    RingMemory::Piece memory;
    std::size_t rail = 0;
    bool accepted = false;
    bool unsolicited_only = false;
  };
  bool look_at_ring(std::size_t place);
  /// Returns whether a ring that is offered now is for unsolicited messages only.
  [[nodiscard]] bool offers_unsolicited() const {
    return !helper_polls_ || depth_ == HelperSleep::Depth::solicited;
  }
  [[nodiscard]] Link::Order order_of(int peer, std::span<const std::byte> message);
  [[nodiscard]] bool promote(const PollingSet::Decision& decision);
  [[nodiscard]] PolledRing* polled_ring_of(int peer);
  [[nodiscard]] bool ring_offered(const Message& message);
  [[nodiscard]] bool ring_stop(int peer);
  [[nodiscard]] bool ring_stopped(int peer);

  LinkTable& links_;
  const RingShape shape_;
  const bool helper_polls_;
  const TakeIn take_in_;
  const Refuse refuse_;
  PollingSet polling_;
  std::vector<PolledRing> polled_rings_;  ///< of polling_.members()
  RingMemory ring_memory_;
  RingMemory image_memory_;
  std::vector<std::byte> message_;
  HelperSleep::Depth depth_ = HelperSleep::Depth::awake;
};

}  // namespace librma
