#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "channel/helper_sleep.hpp"
#include "channel/link_table.hpp"
#include "channel/message.hpp"
#include "channel/message_buffers.hpp"
#include "channel/message_sender.hpp"
#include "channel/polling_set.hpp"
#include "channel/ring.hpp"
#include "fabric/rails.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace librma {

class EagerRings;

/// Short messages between this process and others, by shared memory to ranks of this host and by the rails to
/// others. Each message has a kind; the kind's handler takes it in. Messages of one process to another are
/// delivered in the order of sending. open() connects with a rank of this host; another rank must be
/// connected before anything is sent to it. The channel also polls for the transfers of the message
/// endpoints. Thread-safe. The thread that calls progress() calls the handlers.
class Channel {
 public:
  struct Options {
    std::size_t message_bytes = 0;  ///< of a message with its header; the same in all processes
    std::size_t long_bytes = 0;     ///< the same over a network without rings, if this is more
    std::uint32_t lent = 0;         ///< buffers per rail that are lent to peers that need more
    std::uint32_t own = 0;          ///< buffers for each peer; more where there are no rings
    RingShape ring = {};            ///< of the rings for busy peers
    PollingSet::Policy polling = {.most = 0};
    bool helper_polls = true;  ///< see EagerRings
    /// The ranks that are reached by the transport within this host, and its card of each. Used only if the
    /// rails have such a transport.
    std::vector<int> locals = {};
    std::function<Result<std::vector<std::byte>>(int peer)> local_card = {};

    /// The options that the settings ask for, in a job of `ranks`.
    [[nodiscard]] static Options from(const Settings& settings, int ranks, bool helper_polls);
  };

  /// The transports of `rails` have message endpoints. `rails` outlives the channel. Called before any
  /// connection is made. RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<Channel>> create(Rails& rails, int ranks,
                                                               const Options& options);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  /// The numbers of kinds, which the folders above divide among themselves, are below this.
  static constexpr std::uint16_t kKinds = 64;
  /// Registers the handler of a kind. Called before the first message arrives, at most once for a kind, with
  /// the same kinds in all processes. A peer that sends a message of another kind is given up. `event` says
  /// whether messages of the kind wake a process that computes, and may go by the rings that only threads of
  /// its program poll.
  void on_message(std::uint16_t kind, MessageHandler handler, MessageEvent event = MessageEvent::solicited);
  /// Registers a function that is called once for each peer that is lost: nothing more comes from it or goes
  /// to it. Called before the first message arrives.
  void on_loss(std::function<void(int peer)> handler) { losses_.push_back(std::move(handler)); }
  /// Registers a function that progress() calls after it has taken in what has arrived, to do work that had
  /// to wait for room. It returns whether it did any. Called before the first message arrives.
  void on_progress(std::function<bool()> handler) { advances_.push_back(std::move(handler)); }

  /// The maximum size of a message's body in bytes, to any peer.
  [[nodiscard]] std::size_t max_body() const { return options_.message_bytes - sizeof(MessageHeader); }
  /// The maximum size of a message's body in bytes, if the message goes by this rail or by kLocalRail.
  [[nodiscard]] std::size_t max_body(std::size_t rail) const {
    return bytes_of(rail) - sizeof(MessageHeader);
  }
  /// Returns whether there is a network without rings, over which messages may be longer.
  [[nodiscard]] bool has_longer_messages() const;

  /// Returns whether messages to `peer` go by the transport within this host.
  [[nodiscard]] bool local(int peer) const { return local_[static_cast<std::size_t>(peer)]; }
  /// Decides which rail messages to `peer` take, and stores it into `*rail`: kLocalRail for a rank of this
  /// host, with which this connects; else the given `*rail`, unless a message in either direction has decided
  /// before. Requests that name memory use that rail's keys. RMA_ERR_PEER_LOST; RMA_ERR_UNSUPPORTED if the
  /// peer could set no buffers aside; RMA_ERR_NO_MEMORY.
  [[nodiscard]] rma_status_t open(int peer, std::size_t* rail);

  /// Sends a message that consists of `head` and `tail`. The caller may reuse both when the call returns. The
  /// first message to a peer takes `rail`. Returns RMA_ERR_STATE if the message cannot be sent now: call
  /// progress() and try again. RMA_ERR_PEER_LOST; RMA_ERR_UNSUPPORTED if the peer could set no buffers aside.
  /// It may keep a short message, to send it together with others: see holds_messages().
  [[nodiscard]] rma_status_t try_send(int peer, std::size_t rail, std::uint16_t kind,
                                      std::span<const std::byte> head, std::span<const std::byte> tail) {
    return sender_.try_send(peer, rail, kind, head, tail);
  }
  /// Sends the same message as soon as possible; keeps it until then. A message to a lost peer is dropped.
  /// A sender of many messages stops while the peer is congested(): a peer for which far more messages wait
  /// takes none any more, and is given up.
  void send(int peer, std::size_t rail, std::uint16_t kind, std::span<const std::byte> head,
            std::span<const std::byte> tail) {
    sender_.send(peer, rail, kind, head, tail);
  }

  /// Returns whether this process still holds messages that try_send() has accepted. progress() sends them;
  /// if no thread calls it, the helper thread does.
  [[nodiscard]] bool holds_messages() const { return links_.holds_accepted(); }

  /// Returns whether so many messages to `peer` wait that the caller should send() no more. progress() ends
  /// this.
  [[nodiscard]] bool congested(int peer) { return sender_.congested(peer); }

  [[nodiscard]] transport::MessageEndpoint& endpoint(std::size_t rail) {
    return *rails_[rail].message_endpoint();
  }

  /// Gives `peer` up: nothing more is sent to it or taken in from it.
  void fail(int peer);

  /// One thread at a time makes progress (has the *turn*). Says what a thread does that finds the turn taken.
  enum class Turn : std::uint8_t { if_free, wait };
  /// Takes in completions, looks at the rings and sends what waits. Returns whether there was anything.
  bool progress(Turn turn);
  /// Prepares a sleep of the helper thread: tells the peers that have a ring which the helper polls to stop
  /// using it, and arms the devices' events. The caller then calls progress(Turn::wait) once more. If that
  /// finds nothing, event_fds() become readable at the next solicited message, or at any if expect_all() asks
  /// for that. Returns false while an outgoing message to a peer that has a ring waits for room; the caller
  /// must not sleep then, but make progress and call again. The comment in eager_rings.cpp proves that no
  /// message stays unseen.
  [[nodiscard]] bool arm();
  /// Says that the helper thread polls again.
  void disarm();
  /// Makes the helper thread sleep for all messages while the count is above zero, because threads of the
  /// program sleep until it wakes them. The caller of the first function then calls progress(Turn::wait) once
  /// more.
  void expect_all();
  void expect_solicited() { expecting_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] std::span<const int> event_fds() const { return event_fds_; }

 private:
  Channel(Rails& rails, int ranks, const Options& options);
  [[nodiscard]] Status open();
  /// Returns the size of the message buffers of a rail.
  [[nodiscard]] std::size_t bytes_of(std::size_t rail) const;
  /// Returns how many peers may connect by a rail.
  [[nodiscard]] std::size_t peers_of(std::size_t rail) const;
  /// Sets up the message buffers of a rail or of the local transport.
  [[nodiscard]] Status open_buffers(std::size_t rail);
  [[nodiscard]] Status connect_local(int peer);

  void arrived(std::size_t rail, MessageBuffers::Slot& slot, int peer, rma_status_t status,
               std::uint32_t bytes);
  /// Returns false, here and below, if the message cannot be from an honest peer.
  [[nodiscard]] bool take_in(std::size_t rail, int peer, std::span<const std::byte> bytes, MessagePath path);
  [[nodiscard]] bool deliver(const Message& message);
  void refuse(int peer);
  /// Prepares a sleep of this depth, with the turn. Returns whether nothing waits for a peer that has a ring.
  [[nodiscard]] bool prepare_sleep(HelperSleep::Depth depth);
  void arm_endpoints(HelperSleep::Depth depth);
  void give_back(std::size_t rail, int peer, bool wants_more);
  void report_lost();

  Rails& rails_;
  const Options options_;
  std::array<MessageHandler, kKinds> handlers_;
  std::vector<std::function<void(int)>> losses_;
  std::vector<std::function<bool()>> advances_;
  std::vector<bool> local_;              ///< by peer
  std::vector<std::size_t> open_rails_;  ///< the rails, and kLocalRail if there is a local transport
  std::array<std::unique_ptr<MessageBuffers>, kLocalRail + 1> buffers_;  ///< by rail
  std::vector<int> event_fds_;
  LinkTable links_;
  HelperSleep sleep_;
  std::atomic<int> expecting_ = 0;  ///< see expect_all()
  MessageSender sender_;
  std::mutex progress_lock_;                 ///< the turn
  const std::unique_ptr<EagerRings> rings_;  ///< used with the turn
};

}  // namespace librma
