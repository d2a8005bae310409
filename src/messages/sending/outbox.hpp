#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/job/job.hpp"
#include "core/network/network.hpp"
#include "messages/matching/contexts.hpp"
#include "messages/matching/operations.hpp"
#include "messages/rings/inbox.hpp"
#include "rings/line_ring.hpp"
#include "rings/send_port.hpp"
#include "util/settings.hpp"
#include "util/split_count.hpp"
#include "util/statistics.hpp"
#include "util/status.hpp"
#include "util/tables/slot_table.hpp"
#include "util/waiting/spin_lock.hpp"

namespace librma {

class Channel;

/// The room that a receiver gives one sender for eager messages that nobody has asked for yet. Each eager
/// message has a cost, and so has an announcement that carries its data. The sender counts the costs of all
/// that it has sent. The receiver counts the costs of those that have found a receive. While the difference
/// has reached the window, the sender only announces messages, which takes no memory for data at the
/// receiver. So a flood of messages is bounded, and a message that the receiver waits for is never stuck
/// behind others.
struct UnexpectedWindow {
  static constexpr std::uint64_t kEach = SendPort::kCostOfEach;  ///< the cost of a message without data
  [[nodiscard]] static std::uint64_t cost(std::size_t bytes) { return kEach + bytes; }
};

/// The body of a message between hosts begins with this, and so does one that goes by the channel within a
/// host.
struct ChannelHead {
  Envelope envelope;
  std::uint32_t type = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ChannelHead) == 16);

/// Sends messages to all ranks: by a ring to ranks whose memory is mapped here, by the channel to others. The
/// messages to one rank arrive in the order of sending. A message that finds no room waits in the *backlog*
/// of its rank, and so does everything after it. Thread-safe: threads that send to different ranks do not
/// meet.
class Outbox {
 public:
  static constexpr std::uint16_t kChannelKind = 24;  ///< of all messages that go by the channel
  /// Of an empty message to a rank of this host whose threads sleep for events: there is something in its
  /// ring.
  static constexpr std::uint16_t kWakeKind = 25;
  /// Of an empty message that lets the receiver's helper take in what the sender has put into its ring.
  static constexpr std::uint16_t kNudgeKind = 26;

  struct Limits {
    LineRingSizes ring;
    std::uint64_t eager = 0;          ///< longest eager message in bytes
    std::uint64_t network_eager = 0;  ///< the same over a network without rings, if this is more
    std::uint64_t window = 0;         ///< see UnexpectedWindow
    /// The protocol for announced messages to other hosts.
    RendezvousSetting rendezvous = RendezvousSetting::automatic;
  };

  /// `channel` and `network` may be null. The arguments outlive this.
  Outbox(Job& job, Channel* channel, Network* network, Inbox& inbox, const Limits& limits);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Sends `data` as an eager message by a ring that exists, if it has room now, and wakes the receiver.
  /// Returns whether that is done. This is the short way of almost every short message within a host.
  [[nodiscard, gnu::always_inline]] bool send_at_once(int rank, Envelope envelope,
                                                      std::span<const std::byte> data) {
    switch (ports_[static_cast<std::size_t>(rank)].try_send(envelope, data.data(), data.size())) {
      case SendPort::Sent::yes:
        return true;
      case SendPort::Sent::wake:
        wake_otherwise(rank);
        return true;
      case SendPort::Sent::no:
        break;
    }
    return send_longer_at_once(rank, envelope, data);
  }
  /// Returns the ways of short messages, by rank, for libraries that inline them. They count nothing
  /// themselves; see `sent_by_ports_`.
  [[nodiscard]] SendPort* ports() { return ports_.data(); }
  /// Returns whether messages of so many bytes to any rank are announced.
  [[nodiscard]] bool announces(std::size_t bytes) const { return bytes > longest_eager_; }
  /// Sends eagerly by any path to the rank, which it finds or makes first. The caller wakes the receiver.
  /// `sent` says if it is done. RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY, RMA_ERR_UNSUPPORTED, RMA_ERR_LAUNCH if
  /// no path leads to the rank.
  [[nodiscard]] Status try_eager(int rank, Envelope envelope, std::span<const std::byte> data, bool* sent);

  /// Finds or makes the path to a rank. The errors are those of try_eager().
  [[nodiscard]] Status ready(int rank);
  /// Returns whether there is a path to the rank. Only then this process has ever sent messages to it.
  [[nodiscard]] bool has_path(int rank) const {
    return peers_[static_cast<std::size_t>(rank)].open.load(std::memory_order_acquire);
  }
  /// A message that is to be sent.
  struct Outgoing {
    Envelope envelope;
    MessageData data;
    MessageContext* own = nullptr;  ///< see SendOperation
    bool synchronous = false;
    rma_request_t request = RMA_REQUEST_NULL;
    AwaitedSend* awaited = nullptr;
  };
  /// The outcome of send(). `lost`: the rank is lost, or has revoked the message's own context.
  enum class Started : std::uint8_t { over, under_way, lost };
  /// Sends a message to `rank` as soon as possible: eagerly if it is short and the receiver has room for
  /// unexpected ones, unless it is synchronous; else as a rendezvous. The announcement of a short message
  /// carries its data if the receiver has room for them. A send that is under way is in the table; the
  /// thread that takes it out ends it. Throws std::bad_alloc before anything has changed.
  [[nodiscard]] Started send(int rank, const Outgoing& message);

  /// Calls `use` with the send to `rank` of this name. Nothing else happens to the sends to that rank
  /// meanwhile. Returns what `use` returns, or false if there is no such send.
  template <typename Use>
  bool with_send(int rank, std::uint64_t name, const Use& use) {
    OutboxPeer& peer = peer_of(rank);
    const std::lock_guard guard(peer.port->lock);
    SendOperation* const send = peer.sends.find(name);
    return send != nullptr && use(*send);
  }
  /// Takes the send out of the table if `use` returns true for it. The caller then ends it.
  template <typename Use>
  [[nodiscard]] std::optional<EndedSend> take_send(int rank, std::uint64_t name, const Use& use) {
    OutboxPeer& peer = peer_of(rank);
    const std::lock_guard guard(peer.port->lock);
    SendOperation* const send = peer.sends.find(name);
    if (send == nullptr || !use(*send)) return {};
    return take_out(peer, *send);
  }
  /// Takes all sends to `rank` out of the table for which `choose` returns true. Calls `end` with each,
  /// without a lock. Needs no memory.
  template <typename Choose, typename End>
  void take_sends(int rank, const Choose& choose, const End& end) {
    OutboxPeer& peer = peer_of(rank);
    for (std::size_t next = 0;;) {
      std::optional<EndedSend> taken;
      {
        const std::lock_guard guard(peer.port->lock);
        SendOperation* const send = peer.sends.find_if(next, choose);
        if (send == nullptr) return;
        taken = take_out(peer, *send);
      }
      end(*taken);
    }
  }
  /// Calls `see` with the sends to all ranks, one after another.
  template <typename See>
  void see_sends(const See& see) {
    for (OutboxPeer& peer : peers_) {
      if (peer.sends.live() == 0) continue;
      const std::lock_guard guard(peer.port->lock);
      std::size_t next = 0;
      static_cast<void>(peer.sends.find_if(next, [&](SendOperation& send) {
        see(send);
        return false;
      }));
    }
  }
  /// Returns whether a send to `rank` is under way, as it was a moment ago.
  [[nodiscard]] bool sends_to(int rank) const {
    return peers_[static_cast<std::size_t>(rank)].sends.live() != 0;
  }
  /// Returns whether a send is under way.
  [[nodiscard]] bool any_sends() const { return sends_.sum() != 0; }
  /// Sends a short control message as soon as possible. If there is no memory to keep it until there is room,
  /// waits for one of both; the process ends if neither comes.
  void control(int rank, MessageType type, std::span<const std::byte> head);
  template <typename Head>
  void control(int rank, MessageType type, const Head& head) {
    control(rank, type, std::as_bytes(std::span(&head, 1)));
  }
  /// Sends the bytes [given, wanted) of an operation in fragments, as fast as there is room. progress() says
  /// when they are sent. Called from with_send(). Throws std::bad_alloc before anything has changed.
  void send_fragments(SendOperation& operation);

  /// Takes the send of this request out of the table, if it has not been sent or announced yet. If it was
  /// announced, and the receiver has not answered, stores its name and envelope: the caller asks the receiver
  /// to forget it, and is told so once.
  struct Withdrawn {
    std::optional<EndedSend> send;
    int announced_to = -1;  ///< a rank, or -1
    RetractHead announcement;
  };
  [[nodiscard]] Withdrawn withdraw(rma_request_t request);
  /// Lets the helper of `rank` look at what this process has sent, even if the rank's program computes.
  void nudge(int rank);

  /// Returns whether anything waits for room.
  [[nodiscard]] bool waits() const { return waiting_.load(std::memory_order_acquire) != 0; }
  /// Sends what waits. Returns whether it has sent anything. Calls `ended` with each send that is over, and
  /// out of the table: an eager one, or one all of whose fragments are sent.
  template <typename Ended>
  bool progress(const Ended& ended) {
    if (!waits()) return false;
    return pump_all(ended);
  }

  /// Prepares a sleep: receivers that make room for what waits will wake this process. The caller then calls
  /// progress() once more.
  void ask_for_room();

  /// Takes in what a rank of another host has matched (MessageType::released).
  [[nodiscard]] bool released(int rank, std::uint64_t cost);
  /// Says that messages of `rank` of this cost have found their receives, and tells the rank in time.
  void give_back(int rank, std::uint64_t cost);

  /// Drops everything for a rank that is lost. Later sends fail.
  void lose(int rank);
  [[nodiscard]] bool lost(int rank) const {
    return peers_[static_cast<std::size_t>(rank)].lost.load(std::memory_order_acquire);
  }
  /// Returns a rank whose ring this process cannot use any more, because the receiver has claimed to have
  /// taken more than was sent; no honest one does. Such a rank is lost() already, and the caller calls
  /// lose(). Returns no value if there is none.
  [[nodiscard]] std::optional<int> take_broken();
  [[nodiscard]] std::uint64_t window() const { return limits_.window; }
  /// Returns whether messages between this process and `rank` go by rings.
  [[nodiscard]] bool by_ring(int rank) const { return job_.mapped(rank); }
  /// Returns whether a thread of `rank`, which is mapped, sleeps or is about to.
  [[nodiscard]] bool sleeps(int rank) const {
    const Doorbell& doorbell = job_.doorbell(rank);
    return doorbell.sleepers.load(std::memory_order_relaxed) != 0 ||
           doorbell.listeners.load(std::memory_order_relaxed) != 0;
  }
  /// Returns the claims on pieces of messages to `rank`, to which messages were sent by a ring.
  [[nodiscard]] PieceClaims* claims(int rank) {
    return &peers_[static_cast<std::size_t>(rank)].ring->claims();
  }
  /// Wakes the threads of `rank`, which is mapped, if they sleep.
  void wake(int rank) { wake(rank, job_.doorbell(rank)); }
  /// Does the same out of line. If there is no memory for it, the rank's nap ends its sleep.
  [[gnu::noinline]] void wake_otherwise(int rank) noexcept;

 private:
  /// The longest head of a message.
  static constexpr std::size_t kMostHead =
      std::max({sizeof(RendezvousHead), sizeof(ShareHead), sizeof(NumbersHead)});
  /// A message that waits for room: an eager one, an announcement, or a control message.
  struct Waiting {
    MessageType type = MessageType::finished;
    RendezvousForm form = RendezvousForm::plain;  ///< of an announcement
    SendOperation* operation = nullptr;
    std::size_t start = 0;   ///< the bytes of data that go with it
    std::uint64_t cost = 0;  ///< what it has added to Peer::eager_cost
    std::array<std::byte, kMostHead> head = {};
    std::size_t head_bytes = 0;
  };
  struct OutboxPeer {
    /// Its lock guards all members here, too, but `open`, `lost`, and the two about giving back.
    SendPort* port = nullptr;
    std::size_t at_once = 0;  ///< as SendPort::at_once, for messages of all lengths
    std::optional<LineSender> ring;
    /// There is a path: the ring or the channel. Stored with release order behind everything that the path
    /// needs, and never cleared. A thread that loads it with acquire order need not take the lock to open the
    /// path.
    std::atomic<bool> open = false;
    bool by_channel = false;  ///< the channel is open
    bool broken = false;      ///< see take_broken()
    std::size_t rail = 0;
    std::size_t eager = 0;                  ///< longest eager message in bytes
    std::size_t fragment = 0;               ///< most data of one fragment
    std::uint64_t known_released = 0;       ///< as it was last read, or told
    std::deque<Waiting> backlog;            ///< in the order of sending
    std::deque<SendOperation*> fragmented;  ///< give their data by and by, after the backlog
    Slots<SendOperation> sends;             ///< those under way
    std::vector<std::byte> staging;         ///< for noncontiguous data on their way into a message
    std::atomic<bool> lost = false;
    std::atomic<std::uint64_t> given_back = 0;  ///< cost of the rank's messages that were matched here
    std::atomic<std::uint64_t> told = 0;        ///< how much of it the rank was told

    /// Returns bytes [from, from + count) of the data in one piece: where they are, or gathered into
    /// `staging`.
    [[nodiscard]] std::span<const std::byte> in_one_piece(const MessageData& data, std::size_t from,
                                                          std::size_t count);
    [[nodiscard]] bool waits() const { return !backlog.empty(); }
    [[nodiscard]] bool has_room(std::uint64_t cost, std::uint64_t window) {
      if (port->eager_cost + cost <= port->cost_limit) return true;
      if (ring) known_released = std::min(ring->released(), port->eager_cost);
      port->cost_limit = known_released + window;
      return port->eager_cost + cost <= port->cost_limit;
    }
    /// Sets `at_once`. The outbox calls it whenever the ring, the backlog or `lost` has changed.
    void decide_at_once() {
      at_once = ring && backlog.empty() && !lost.load(std::memory_order_relaxed) ? eager + 1 : 0;
      port->at_once = static_cast<std::uint8_t>(std::min(at_once, RingLine::kBody + 1));
    }
  };

  /// Returns whether a message can go eagerly.
  [[nodiscard]] bool may_be_eager(OutboxPeer& peer, Envelope envelope, std::size_t bytes) const {
    if (passes_window(envelope.context, bytes)) return true;
    return bytes <= peer.eager && peer.has_room(UnexpectedWindow::cost(bytes), limits_.window);
  }
  [[nodiscard]] std::uint64_t sent_by_ports();
  /// Does the rest of send_at_once(). It is not inlined, so that the usual case saves no registers for it.
  [[nodiscard, gnu::noinline]] bool send_longer_at_once(int rank, Envelope envelope,
                                                        std::span<const std::byte> data);
  /// Finds or makes the path to the rank. Called without the lock.
  [[nodiscard]] Status open(int rank, OutboxPeer& peer);
  [[nodiscard]] Status open_ring(int rank, OutboxPeer& peer);
  [[nodiscard]] Status open_channel(int rank, OutboxPeer& peer);
  /// Sends one message if there is room.
  [[nodiscard]] bool put(int rank, OutboxPeer& peer, MessageType type, Envelope envelope,
                         std::span<const std::byte> head, std::span<const std::byte> tail);
  /// Sends a message, and an operation's stage changes if that was its announcement.
  [[nodiscard]] bool put(int rank, OutboxPeer& peer, const Waiting& waiting);
  /// Chooses how the receiver gets the data of an operation, and sets all that the announcement says.
  void announce(int rank, OutboxPeer& peer, SendOperation& operation, Waiting& waiting);
  void wake(int rank, Doorbell& doorbell) {
    doorbell.wake();
    if (doorbell.must_call()) [[unlikely]]
      call(rank);
  }
  /// Sends a wake message. Its rank's nap ends its sleep if that fails.
  void call(int rank);
  void enqueue(OutboxPeer& peer, const Waiting& waiting);
  /// Throws std::bad_alloc before anything has changed.
  void try_control(int rank, MessageType type, std::span<const std::byte> head);

  /// The sends that are over. They are ended without the lock of their peer, and telling of them needs no
  /// memory: a message that was sent and not taken from the backlog would be sent again.
  class Ended {
   public:
    [[nodiscard]] bool full() const { return count_ == sends_.size(); }
    void add(const EndedSend& send) { sends_[count_++] = send; }
    void clear() { count_ = 0; }
    [[nodiscard]] std::span<const EndedSend> sends() const { return std::span(sends_).first(count_); }

   private:
    std::array<EndedSend, 32> sends_ = {};
    std::size_t count_ = 0;
  };
  // The callers of these hold the lock of the peer.
  /// Takes a send out of the table, the backlog, and the list of sends that go in fragments.
  [[nodiscard]] EndedSend take_out(OutboxPeer& peer, SendOperation& send);
  /// Takes a send out of the table that is in neither of the other two.
  [[nodiscard]] EndedSend end_in_table(OutboxPeer& peer, SendOperation& send);
  /// Sends what waits while there is room, until `ended` is full. Needs no memory.
  [[nodiscard]] bool pump(int rank, OutboxPeer& peer, Ended& ended);
  /// Returns false also if there is no memory to send it now.
  [[nodiscard]] bool put_if_memory(int rank, OutboxPeer& peer, const Waiting& waiting);
  /// Sends the next fragment. Returns its size, or 0 if there is no room or no memory for it.
  [[nodiscard]] std::size_t put_fragment(int rank, OutboxPeer& peer, const SendOperation& operation);
  [[nodiscard]] bool pump_all(const std::function<void(const EndedSend& send)>& ended);
  [[nodiscard]] OutboxPeer& peer_of(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  Job& job_;
  Channel* const channel_;
  Network* const network_;
  Inbox& inbox_;
  const Limits limits_;
  const std::uint64_t longest_eager_;  ///< by any path
  std::vector<SendPort> ports_;        ///< by rank
  std::vector<OutboxPeer> peers_;      ///< by rank
  std::vector<std::byte*> rings_;      ///< with room for all
  SpinLock rings_lock_;
  std::atomic<std::size_t> waiting_ = 0;  ///< entries of all backlogs and lists of fragments
  SplitCount sends_;                      ///< entries of all tables
  std::atomic<bool> any_broken_ = false;
  /// The messages that were sent by ports alone.
  const SeparateCount sent_by_ports_;
};

}  // namespace librma
