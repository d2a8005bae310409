#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "channel/link.hpp"
#include "channel/message.hpp"
#include "channel/message_buffers.hpp"
#include "channel/polling_set.hpp"
#include "channel/ring.hpp"
#include "channel/ring_memory.hpp"
#include "channel/send_slots.hpp"
#include "fabric/rails.hpp"
#include "util/status.hpp"

namespace rma {

/// Short messages between this process and others, in the order of sending, and the helper lanes' transfers.
/// A peer is connected before anything is sent to it. Thread-safe; whoever calls progress() calls the
/// receiver and everything that is told of an end.
class Channel {
 public:
  struct Options {
    std::size_t message_bytes = 0;  ///< of a message with its header; the same in all processes
    std::uint32_t lent = 0;         ///< buffers per rail that are lent to those who need more
    std::uint32_t own = 0;          ///< buffers for each peer
    RingShape ring = {};            ///< of the rings for busy peers
    PollingSet::Policy polling = {.most = 0};
  };

  /// `rails` have helper lanes and outlive the channel, which comes before any connection. RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<Channel>> create(Rails& rails, int ranks,
                                                               const Options& options,
                                                               MessageReceiver& receiver);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Most bytes of a message's body.
  [[nodiscard]] std::size_t max_body() const { return options_.message_bytes - sizeof(MessageHeader); }

  /// The rail that messages to `peer`, which is connected, take: `*rail`, unless it was settled before by a
  /// message in either direction. Requests that name memory do so by that rail's keys. RMA_ERR_PEER_LOST;
  /// RMA_ERR_UNSUPPORTED when the peer could set no buffers aside.
  [[nodiscard]] rma_status_t open(int peer, std::size_t* rail);

  /// Sends a message, `head` followed by `tail`, over `rail` if it is the first; both may be reused at
  /// return. RMA_ERR_STATE: not now, call progress() and try again. RMA_ERR_PEER_LOST; RMA_ERR_UNSUPPORTED
  /// when the peer could set no buffers aside.
  [[nodiscard]] rma_status_t try_send(int peer, std::size_t rail, std::uint16_t kind,
                                      std::span<const std::byte> head, std::span<const std::byte> tail);
  /// The same, as soon as it can be; to a peer that is lost, never.
  void send(int peer, std::size_t rail, std::uint16_t kind, std::span<const std::byte> head,
            std::span<const std::byte> tail);

  [[nodiscard]] transport::HelperLane& lane(std::size_t rail) { return *rails_[rail].helper_lane(); }

  /// Gives `peer` up.
  void fail(int peer);

  /// One thread at a time has its turn: what another does when it meets that one.
  enum class Turn : std::uint8_t { if_free, wait };
  /// Takes in what has ended; returns whether there was something.
  bool progress(Turn turn);
  /// Before a sleep: progress(Turn::wait) once more after this, then event_fds() become readable when there
  /// is something. False: not now, something is to be said first that has no room yet. From here on no peer
  /// gets a ring, whoever calls progress(), until disarm(): its caller polls.
  [[nodiscard]] bool arm();
  void disarm();
  [[nodiscard]] std::span<const int> event_fds() const { return event_fds_; }

 private:
  Channel(Rails& rails, int ranks, const Options& options, MessageReceiver& receiver);
  [[nodiscard]] Status open();

  [[nodiscard]] Link& link(int peer);

  // channel_sending.cpp. All but the last: with the link's lock held.
  [[nodiscard]] rma_status_t open_link(Link& link, int peer, std::size_t rail);
  [[nodiscard]] rma_status_t post(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> head,
                                  std::span<const std::byte> tail);
  /// What was put into the peer's ring and is not on its way yet.
  [[nodiscard]] rma_status_t post_unwritten(Link& link, int peer);
  void list(Link& link, int peer);
  /// Does what the listed links have to do; returns whether something moved.
  bool pump();

  // channel_receiving.cpp
  void arrived(std::size_t rail, MessageBuffers::Slot& slot, int peer, rma_status_t status,
               std::uint32_t bytes);
  /// False, here and below: it cannot be from an honest peer.
  [[nodiscard]] bool take_in(std::size_t rail, int peer, std::span<const std::byte> bytes, MessageWay way);
  [[nodiscard]] bool deliver(const Message& message);
  void refuse(int peer);
  void give_back(std::size_t rail, int peer, bool wants_more);

  // channel_rings.cpp. All but the last two: with the turn.
  /// A ring that a peer was offered.
  struct Place {
    std::optional<RingReceiver> slots;  ///< from the offer on
    RingMemory::Piece memory;
    std::size_t rail = 0;
    bool accepted = false;
  };
  void heard(int peer);
  /// Takes in what came by rings; returns whether there was something.
  bool look_at_rings();
  bool look_at_ring(std::size_t place);
  void look_at_ring_of(int peer);
  [[nodiscard]] Link::Order order_of(int peer, std::span<const std::byte> message);
  /// Does what the polling set has decided.
  void decide();
  [[nodiscard]] bool promote(const PollingSet::Decision& decision);
  [[nodiscard]] Place* place_of(int peer);
  /// What peers say of rings.
  [[nodiscard]] bool ring_message(const Message& message);
  [[nodiscard]] bool ring_offered(const Message& message);
  [[nodiscard]] bool ring_stop(int peer);
  [[nodiscard]] bool ring_stopped(int peer);
  void forget_rings(int peer);
  /// With the link's lock held.
  void say(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> body = {});

  void report_lost();

  Rails& rails_;
  const Options options_;
  MessageReceiver& receiver_;
  std::vector<std::atomic<Link*>> links_;                 ///< by peer; owned
  std::vector<std::unique_ptr<MessageBuffers>> buffers_;  ///< by rail
  std::vector<int> event_fds_;
  std::unique_ptr<SendSlots> send_slots_;
  std::mutex progress_lock_;  ///< of the turn, and of the following
  PollingSet polling_;
  std::vector<Place> places_;  ///< of polling_.members()
  RingMemory ring_memory_;
  RingMemory image_memory_;
  std::vector<std::byte> ring_message_;
  bool armed_ = false;
  std::mutex lists_lock_;  ///< taken after a link's lock
  std::vector<int> listed_;
  std::vector<int> lost_;
};

}  // namespace rma
