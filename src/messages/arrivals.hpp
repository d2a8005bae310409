#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "channel/channel.hpp"
#include "messages/matching/contexts.hpp"
#include "messages/matching/matcher.hpp"
#include "messages/matching/operation_ends.hpp"
#include "messages/rendezvous/rendezvous.hpp"
#include "messages/rings/inbox.hpp"
#include "messages/sending/context_numbers.hpp"
#include "messages/sending/outbox.hpp"

namespace librma {

/// A receive that is not posted: its thread looks for the message in the rings itself, and copies it from
/// there into the buffer.
struct DirectReceive {
  MessageContext& context;
  int source = 0;  ///< may be a wildcard, as the tag
  int tag = 0;
  const MessageData& data;
  std::size_t most = 0;  ///< a longer message is left to a posted receive
  /// Whether the caller waits for the message. A nonblocking call takes in no message whose data this process
  /// copies from the sender's memory, because the call would last as long as the copy.
  bool waits = true;
  // The message, once it has come:
  int from = -1;
  int its_tag = 0;
  std::size_t bytes = 0;

  [[nodiscard]] bool wants(int sender, const Envelope& envelope) const {
    return envelope.context == context.number() && (source == sender || source == kAnySource) &&
           (tag == envelope.tag || (tag == kAnyTag && envelope.tag >= 0));
  }
};

/// Takes in the messages of other ranks, and finds the receive of each. Thread-safe.
class Arrivals {
 public:
  /// Gives a rank of this host up that has sent a message that no honest rank sends. The channel does the
  /// same with ranks whose messages it carries.
  using GiveUp = std::function<void(int rank)>;

  /// The references outlive this.
  Arrivals(int ranks, ContextTable& contexts, ContextNumbers& numbers, Inbox& inbox, Outbox& outbox,
           OperationEnds& operations, Rendezvous& rendezvous, GiveUp give_up)
      : contexts_(contexts),
        numbers_(numbers),
        inbox_(inbox),
        outbox_(outbox),
        operations_(operations),
        rendezvous_(rendezvous),
        give_up_(std::move(give_up)),
        kept_(static_cast<std::size_t>(ranks)) {}

  /// Receives the next message of the ring of `source`, a rank, if the receive gets it and it fits the
  /// buffer. Returns false if not, and has done nothing then. `info` may be null.
  [[nodiscard]] bool receive_at_once(MessageContext& context, int source, int tag,
                                     std::span<std::byte> buffer, rma_message_info_t* info) {
    Inbox::Ring* const ring = inbox_.of(source);
    if (ring == nullptr || !ring->waiting()) return false;
    const MessageData data = MessageData::of(buffer);
    DirectReceive receive = {
        .context = context, .source = source, .tag = tag, .data = data, .most = buffer.size()};
    if (!take_first(*ring, receive)) return false;
    if (info != nullptr) *info = {.source = source, .tag = receive.its_tag, .bytes = receive.bytes};
    return true;
  }
  /// Returns whether a ring from which a receive from `source` may get its message has one. The answer may be
  /// old.
  [[nodiscard]] bool waiting(int source) {
    if (source == kAnySource) return inbox_.waiting();
    const Inbox::Ring* const ring = inbox_.of(source);
    return ring != nullptr && ring->waiting();
  }
  /// Looks at all rings of this host once. Returns whether there was a message.
  bool poll_rings();
  /// Does the same for the rings from which `receive` may get its message. Stops with the message that it
  /// takes. Returns whether it has taken one.
  [[nodiscard]] bool poll_rings_for(DirectReceive& receive);
  /// Takes in all that `rank` of this host has sent.
  void drain(int rank);
  /// Takes in what `rank` of this host has sent so far, if there is memory for it.
  void look(int rank);
  /// Takes in a message of the channel. Returns false if no honest rank sends it.
  [[nodiscard]] bool take_in_channel(const Message& message);

  /// Gives a message that was kept to its receive.
  void deliver(std::unique_ptr<KeptMessage> message, ReceiveOperation& receive);
  /// Gives a kept message to the receive of a nonblocking call. If this process has to copy the data from the
  /// memory of another rank, the next poll_rings() copies them. Returns true in that case, and the caller
  /// wakes the threads that wait for messages. A copy within the call would delay the sends that the program
  /// posts after it, so two ranks that exchange long messages would copy one after the other.
  [[nodiscard]] bool deliver_deferred(std::unique_ptr<KeptMessage> message, ReceiveOperation& receive);
  /// The outcome of a look for a message among those that were kept.
  enum class Kept : std::uint8_t {
    none,
    other,  ///< the message of the receive is longer than it takes, or its data are not here
    taken,  ///< the receive has the message
  };
  /// Gives `receive` its message, if that was kept with all its data and the receive takes so many bytes.
  [[nodiscard]] Kept take_kept(DirectReceive& receive);
  /// Forgets the messages of a context that no receive will take, up to the first one whose sender waits for
  /// a receive. Does nothing if the context has another number by now.
  void discard(MessageContext& context, std::uint32_t number);

 private:
  /// Data that are to be copied when the ring is free again, because a long copy would keep other threads
  /// from this sender's next messages: a receive whose data are to be fetched, or those of a send for which
  /// its receiver asks.
  struct Fetch {
    ReceiveOperation* receive = nullptr;  ///< null of a send
    Announcement announced;
    ShareHead share = {};  ///< of a send
  };
  void copy(int source, const std::vector<Fetch>& fetches);
  /// Copies the data of deliver_deferred(). Returns whether there were any.
  bool copy_deferred();
  /// Gives the room that a kept message took for unexpected ones back to its source.
  void release(const KeptMessage& message);

  /// `ended`: the sender has. Messages for which there is no memory stay in the ring of other senders.
  [[nodiscard]] bool poll_ring(Inbox::Ring& ring, DirectReceive* direct = nullptr, bool ended = false);
  /// Takes the first message of a ring for `receive`, if it gets that and no other thread reads the ring.
  /// Returns whether it has taken it.
  [[nodiscard]] bool take_first(Inbox::Ring& ring, DirectReceive& receive) {
    const std::unique_lock guard(ring.lock, std::try_to_lock);
    LineReceiver::Head head;
    if (!guard.owns_lock() || ring.closed.load(std::memory_order_relaxed) || outbox_.lost(ring.sender) ||
        ring.receiver.peek_inlined(head) != LineReceiver::Found::message ||
        !take(receive, ring.sender, head)) {
      return false;
    }
    ring.receiver.pop(head, UnexpectedWindow::cost(head.body.size()));
    if (ring.receiver.wished_for_room()) outbox_.wake(ring.sender);
    return true;
  }
  /// Gives the message at the head of a ring to `receive`, if it is the one that the receive gets by the
  /// rules of matching.
  [[nodiscard]] static bool take(DirectReceive& receive, int sender, const LineReceiver::Head& head);
  /// Returns whether no message that arrived before, and no receive that was posted before, comes first. It
  /// is not inlined, so that take() saves no registers for it.
  [[nodiscard, gnu::noinline]] static bool is_next(DirectReceive& receive, int sender, int tag);
  /// Takes a message in. Returns false if no honest rank sends it. `matched`: whether a message that came
  /// with data found its receive. A receive whose data are to be fetched is added to `fetches`.
  [[nodiscard]] bool take_in(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches);
  [[nodiscard]] bool take_in_eager(const Arrival& arrival, bool* matched);
  [[nodiscard]] bool take_in_announcement(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches);
  [[nodiscard]] bool take_in_released(const Arrival& arrival);
  [[nodiscard]] bool take_in_share(const Arrival& arrival, std::vector<Fetch>& fetches);
  [[nodiscard]] bool take_in_revoked(const Arrival& arrival);
  [[nodiscard]] bool take_in_retract(const Arrival& arrival);
  /// Keeps a message for which no receive is posted. The caller holds the context's lock. Returns false if
  /// the source has sent more than the window allows.
  [[nodiscard]] bool keep(MessageContext& context, const Arrival& arrival, std::size_t bytes,
                          std::unique_ptr<Announcement> announcement, std::span<const std::byte> data,
                          bool costs);
  /// Says to `source` that a message of this cost, which was kept, has found its receive.
  void give_back(int source, std::uint64_t cost);

  ContextTable& contexts_;
  ContextNumbers& numbers_;
  Inbox& inbox_;
  Outbox& outbox_;
  OperationEnds& operations_;
  Rendezvous& rendezvous_;
  std::atomic<std::size_t> next_ring_ = 0;  ///< where poll_rings_for() begins
  SpinLock deferred_lock_;
  std::vector<Fetch> deferred_;                  ///< by deliver_deferred(); guarded by the lock
  std::atomic<std::size_t> deferred_count_ = 0;  ///< their number
  const GiveUp give_up_;
  std::vector<std::atomic<std::uint64_t>>
      kept_;  ///< by rank: cost of its messages that have found no receive yet
};

}  // namespace librma
