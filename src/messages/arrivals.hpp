#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "channel/message.hpp"
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
  rma_message_info_t* info = nullptr;  ///< may be null
  std::size_t most = 0;                ///< a longer message is left to a posted receive
  /// The memory in which a call that waits learns that announced data have come. Null for a nonblocking call:
  /// that takes in no message whose data this process copies from the sender's memory, because the call would
  /// last as long as the copy.
  rma_posted_recv_t* own = nullptr;
  // The message, once it has come:
  int from = -1;
  int its_tag = 0;
  std::size_t bytes = 0;
  /// Not null if the message was announced: the caller fetches the data into the operation.
  ReceiveOperation* operation = nullptr;
  std::optional<Announcement> announced = {};

  /// Returns the room that the message has taken (UnexpectedWindow), which had so many bytes in the ring. An
  /// announcement without data takes none.
  [[nodiscard]] std::uint64_t cost(std::size_t in_ring) const {
    return operation == nullptr ? UnexpectedWindow::cost(in_ring) : 0;
  }
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

  /// The outcome of receive_at_once(). `otherwise`: there is a message that takes more, and it stays in the
  /// ring: see receive_otherwise(). `wished`: the message is taken, and the sender is to be woken, because it
  /// waits for room.
  enum class Taken : std::uint8_t { no, otherwise, yes, wished };
  /// Receives the next message of the ring of `source`, a rank, if it is eager, the receive gets it, and it
  /// fits the buffer. It has all the steps of the usual case in itself, as poll_ring() has those of all
  /// cases.
  [[nodiscard, gnu::always_inline]] Taken receive_at_once(MessageContext& context, int source, int tag,
                                                          std::span<std::byte> buffer,
                                                          rma_message_info_t* info) {
    Inbox::Ring* const ring = inbox_.known(source);
    if (ring == nullptr || !ring->lock.try_lock()) [[unlikely]]
      return Taken::no;
    const Taken taken = take_first(*ring, context, tag, buffer, info);
    ring->lock.unlock();
    return taken;
  }
  /// Does receive_at_once() for a message that does not fit a line, and where receives and messages in the
  /// context may come first. Returns whether it is taken.
  [[nodiscard]] bool receive_otherwise(MessageContext& context, int source, int tag,
                                       std::span<std::byte> buffer, rma_message_info_t* info);
  /// Looks at all rings of this host once. Returns whether there was a message.
  bool poll_rings();
  /// Does the same. A look that finds nothing calls no function.
  [[gnu::always_inline]] void look_into_rings() {
    bool any = deferred_count_.load(std::memory_order_relaxed) != 0;
    for (const Inbox::Ring* const ring : inbox_.rings()) any = any || ring->waiting();
    if (any) poll_rings();
  }
  /// Does the same for the rings from which `receive` may get its message. Stops with the message that it
  /// takes. Returns whether it has taken one.
  [[nodiscard]] bool poll_rings_for(DirectReceive& receive);
  /// Takes in all that `rank` of this host has sent.
  void drain(int rank);
  /// Takes in what `rank` of this host has sent so far, if there is memory for it.
  void look(int rank);
  /// Takes in a message of the channel. Returns false if no honest rank sends it.
  [[nodiscard]] bool take_in_channel(const Message& message);

  /// Ends a chain of receives that were withdrawn (Matcher::withdraw_all), because the rank `lost` is lost.
  void end_all(PostedReceive* chain, int lost);
  /// Gives a message that was kept to its receive.
  void deliver(std::unique_ptr<KeptMessage> message, ReceiveOperation& receive);
  /// Gives a kept message to the receive of a nonblocking call. If this process has to copy the data from the
  /// memory of another rank, the next poll_rings() copies them. Returns true in that case, and the caller
  /// wakes the threads that wait for messages. A copy within the call would delay the sends that the program
  /// posts after it, so two ranks that exchange long messages would copy one after the other.
  [[nodiscard]] bool deliver_deferred(std::unique_ptr<KeptMessage> message, ReceiveOperation& receive);
  /// Gives the data of an eager message that was kept, and was taken out of the matching, to a receive of
  /// contiguous memory. Stores the message at `info`, and frees it.
  void deliver_at_once(std::unique_ptr<KeptMessage> message, std::span<std::byte> buffer,
                       rma_message_info_t& info);
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
  [[nodiscard]] bool take_first_for(Inbox::Ring& ring, DirectReceive& receive);
  /// Does the work of receive_at_once() for a message that fits a line. The caller holds the ring's lock.
  [[nodiscard, gnu::always_inline]] static Taken take_first(Inbox::Ring& ring, MessageContext& context,
                                                            int tag, std::span<std::byte> buffer,
                                                            rma_message_info_t* info) {
    LineReceiver::Head head;
    if (ring.closed.load(std::memory_order_relaxed)) [[unlikely]]
      return Taken::no;
    const LineReceiver::Found found = ring.receiver.peek_short(head);
    if (found != LineReceiver::Found::message) [[unlikely]]
      return found == LineReceiver::Found::nothing ? Taken::no : Taken::otherwise;
    const auto [number, its_tag] = head.envelope;
    const std::size_t bytes = head.body.size();
    if (number != context.number() || (tag != its_tag && (tag != kAnyTag || its_tag < 0)) ||
        bytes > buffer.size()) [[unlikely]] {
      return Taken::no;
    }
    if (!context.matcher.idle()) [[unlikely]]
      return Taken::otherwise;
    copy_short(buffer.data(), head.body.data(), bytes);
    if (info != nullptr) *info = {.source = ring.sender, .tag = its_tag, .bytes = bytes};
    ring.receiver.pop(head, UnexpectedWindow::cost(bytes));
    if (ring.receiver.may_be_wished_for(head) && ring.receiver.wished_for_room()) [[unlikely]]
      return Taken::wished;
    return Taken::yes;
  }
  /// Gives the message at the head of a ring to `receive`, if it is the one that the receive gets by the
  /// rules of matching.
  [[nodiscard]] bool take(DirectReceive& receive, int sender, const LineReceiver::Head& head);
  /// Does the same for a message that is announced, and whose data are all to be fetched. Returns false if
  /// there is no memory for that.
  [[nodiscard]] bool take_announced(DirectReceive& receive, int sender,
                                    const LineReceiver::Head& head) noexcept;
  /// Returns whether no message that arrived before, and no receive that was posted before, comes first:
  /// before a receive from `source`, which is `sender` or a wildcard, with `tag`, or the message from
  /// `sender` with `its_tag`.
  [[nodiscard]] static bool is_next(MessageContext& context, int sender, int tag, int its_tag, int source);
  /// Takes a message in. Returns false if no honest rank sends it. `matched`: whether a message that came
  /// with data found its receive. A receive whose data are to be fetched is added to `fetches`.
  [[nodiscard]] bool take_in(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches);
  /// Takes in the eager messages at the head of a ring that find receives of the usual kind: in their
  /// callers' memory. Stops at the first other message. Returns how many it has taken in. The caller holds
  /// the ring's lock.
  [[nodiscard]] int take_in_at_once(Inbox::Ring& ring);
  /// Ends a receive in the caller's memory, which a message with these data has matched. The caller then
  /// tells `operations_`, for all of them at once.
  [[gnu::always_inline]] static void end(CallersReceive& receive, int source, int tag,
                                         std::span<const std::byte> data);
  /// Makes the operation of this name one of the receive in the caller's memory, which has matched.
  [[nodiscard]] ReceiveOperation& operation_of(CallersReceive& receive, std::uint64_t name);
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
