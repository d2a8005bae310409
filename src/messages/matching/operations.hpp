#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>

#include "core/network/keyed_transfers.hpp"
#include "messages/matching/matcher.hpp"
#include "messages/matching/message_data.hpp"
#include "messages/rings/envelope.hpp"
#include "rings/line_ring.hpp"
#include "rma/messages.h"
#include "rma/unchecked.h"
#include "util/spare_memory.hpp"
#include "util/waiting/wait_note.hpp"

namespace librma {

class MessageContext;
struct WrittenPieces;

/// How a receive tells its issuer that it is over: by a request, or in memory in which the issuer looks
/// (rma/unchecked.h). A call that waits has such memory of its own.
struct ReceiveEnd {
  rma_request_t request = RMA_REQUEST_NULL;
  rma_posted_recv_t* posted = nullptr;  ///< changes to a request under the table's lock: see end()
};

/// A receive of contiguous data in the caller's memory (rma/unchecked.h), until it ends or a message matches
/// that is announced. Such a message makes a ReceiveOperation of it, because other ranks get a name of that.
struct CallersReceive : PostedReceive {
  MessageContext* context = nullptr;

  /// Makes the receive in the caller's memory, which says already where the buffer is. A null `context` marks
  /// the memory as one that holds no receive.
  static CallersReceive& make(rma_posted_recv_t& posted, int source, int tag, MessageContext* context);
  /// Does the same, and notes where the buffer is.
  static CallersReceive& make(rma_posted_recv_t& posted, int source, int tag, MessageContext* context,
                              std::span<std::byte> buffer) {
    posted.address = buffer.data();
    posted.bytes = buffer.size();
    return make(posted, source, tag, context);
  }
  /// Returns the receive that make() has made there and that has not ended.
  [[nodiscard]] static CallersReceive& of(rma_posted_recv_t& posted) {
    return *std::launder(reinterpret_cast<CallersReceive*>(&posted.own));
  }
  [[nodiscard]] std::span<std::byte> buffer() const {
    return {static_cast<std::byte*>(posted->address), posted->bytes};
  }
};
static_assert(sizeof(CallersReceive) == sizeof(rma_posted_recv_t::own));
[[gnu::always_inline]] inline CallersReceive& CallersReceive::make(rma_posted_recv_t& posted, int source,
                                                                   int tag, MessageContext* context) {
  auto& made = *::new (static_cast<void*>(&posted.own)) CallersReceive;
  // One by one: a compiler copies a whole object in other pieces than it has just written it, and the
  // processor stops there.
  made.source = source;
  made.tag = tag;
  made.posted = &posted;
  made.context = context;
  posted.ended = 0;
  posted.operation = 0;
  return made;
}

/// A receive from its posting to its end.
struct ReceiveOperation : PostedReceive {
  explicit ReceiveOperation(std::uint64_t own_name) : name(own_name) {}

  const std::uint64_t name;
  MessageContext* context = nullptr;
  MessageData data;                    ///< the buffer
  rma_message_info_t* info = nullptr;  ///< may be null
  ReceiveEnd end;

  // From the match on:
  int peer = -1;          ///< the source
  std::size_t bytes = 0;  ///< size of the message
  std::size_t come = 0;   ///< the first bytes, which are in the buffer already
  /// The receive waits for fragments, and has a claim on its end: whoever clears the flag ends it.
  bool fragmented = false;
  /// The sender copies pieces and has not said yet that it is done. The thread that clears the flag ends the
  /// receive.
  bool shared = false;
  std::uint32_t pieces_left = 0;  ///< of a copy that both processes make; nobody has said that they are there
  rma_status_t shared_status = RMA_SUCCESS;         ///< of that copy
  std::uint64_t sender = 0;                         ///< the sender's name for the operation, in such a copy
  std::shared_ptr<WrittenPieces> pieces = nullptr;  ///< of a receive into which the sender writes

  /// Notes which message the receive has matched.
  void describe(int source_rank, int its_tag, std::size_t its_bytes) {
    peer = source_rank;
    bytes = its_bytes;
    if (info != nullptr) *info = {.source = source_rank, .tag = its_tag, .bytes = its_bytes};
  }
  /// Lets the end be told in `own`, memory of the call that waits.
  void tell_in(rma_posted_recv_t& own) {
    CallersReceive::make(own, source, tag, nullptr);  // null: `own` is no receive, this operation is
    own.operation = name;
    end.posted = &own;
  }
  /// Returns how many bytes of the message fit into the buffer.
  [[nodiscard]] std::size_t wanted() const { return bytes < data.bytes ? bytes : data.bytes; }
  /// Returns the status with which the receive ends when these bytes have come.
  [[nodiscard]] rma_status_t status() const { return bytes <= data.bytes ? RMA_SUCCESS : RMA_ERR_TRUNCATED; }
};

/// The memory in which a caller that waits for a send learns of its end. It stays until `done`.
struct AwaitedSend {
  std::uint64_t name = 0;  ///< of the operation; 0: the send was over when its call returned
  int peer = -1;
  rma_status_t status = RMA_SUCCESS;  ///< from the end on
  /// The thread that ends the send stores it with release order, last. The waiting thread loads it with
  /// acquire order.
  std::atomic<bool> done = false;
};

/// A send that is under way no more: all that its end has to be told by.
struct EndedSend {
  int peer = -1;
  std::size_t bytes = 0;
  rma_request_t request = RMA_REQUEST_NULL;  ///< null if `awaited` is not
  AwaitedSend* awaited = nullptr;
};

/// A send that was not over when it was issued. The lock of the peer's ring guards it (Outbox). An operation
/// is in the outbox's table until it ends: the thread that takes it out ends it.
struct SendOperation {
  explicit SendOperation(std::uint64_t own_name) : name(own_name) {}

  const std::uint64_t name;
  int peer = -1;
  Envelope envelope;
  MessageData data;
  /// This rank's own context if the receiver may revoke it; null for the program's messages.
  MessageContext* own = nullptr;
  /// A thread copies pieces of the data to the receiver. Losing the peer does not end the send meanwhile.
  bool sharing = false;
  bool retracting = false;  ///< the receiver was asked to forget the announcement
  /// Says who has the turn. The backlog has the operation while it is held, so an answer of the receiver that
  /// comes then, by a guessed name, must not end it.
  enum class Stage : std::uint8_t {
    held,        ///< the outbox has not sent the message or its announcement yet
    announced,   ///< the receiver may answer
    fragmenting  ///< the outbox sends the data in fragments, and then ends the operation
  };
  Stage stage = Stage::held;
  [[nodiscard]] bool awaits_answer() const { return stage == Stage::announced; }

  // Of an operation whose data the sender writes to the receiver:
  bool piped = false;       ///< announced as RendezvousForm::piped
  std::size_t asked = 0;    ///< the receiver has asked for pieces up to this byte
  std::size_t writing = 0;  ///< pieces that a device reads now
  DeviceMemory memory;      ///< keeps the data registered while another host may read them
  // How the issuer learns of the end:
  rma_request_t request = RMA_REQUEST_NULL;
  AwaitedSend* awaited = nullptr;  ///< null if there is a request

  // After the receiver has asked for fragments:
  std::uint64_t receiver = 0;  ///< the receiver's name for the operation
  std::size_t given = 0;       ///< bytes [given, wanted) are still to be sent
  std::size_t wanted = 0;

  [[nodiscard]] EndedSend ended() const {
    return {.peer = peer, .bytes = data.bytes, .request = request, .awaited = awaited};
  }
};

/// Say what a thread waits for that waits for the operation's end.
void describe(const CallersReceive& receive, WaitNote& note);
void describe(const ReceiveOperation& receive, WaitNote& note);
void describe(const SendOperation& send, WaitNote& note);

/// An announcement as its receiver has decoded it. `start` is valid only while the message is being handled.
struct Announcement {
  RendezvousHead head;
  RailKeys keys = {};                                    ///< if the form is keyed
  std::shared_ptr<const Layout::Part> layout = nullptr;  ///< if the form is laid_out
  std::span<const std::byte> start = {};                 ///< the first bytes of the data, or all

  /// Returns no value if no honest rank sends this body.
  [[nodiscard]] static std::optional<Announcement> decode(std::span<const std::byte> body);
  /// Returns whether the message takes room for unexpected messages, because data came with it.
  [[nodiscard]] bool costs() const { return head.form == RendezvousForm::inlined || !start.empty(); }
};

inline constinit SpareMemory spare_messages;

/// A message that arrived before its receive, with its data.
struct KeptMessage : UnexpectedMessage {
  [[nodiscard]] static void* operator new(std::size_t bytes) { return spare_messages.take(bytes); }
  static void operator delete(void* memory) noexcept { spare_messages.give(memory); }

  MessageContext* context =
      nullptr;  ///< it may be another one by now, if a matched probe has taken the message
  std::uint32_t context_number = 0;
  std::size_t bytes = 0;  ///< size of the message
  /// Null for an eager message. Its `start` is empty; start() has these bytes.
  std::unique_ptr<Announcement> announcement = nullptr;
  std::size_t data_bytes = 0;
  /// Data of at most so many bytes lie in `near`, so that they take no allocation of their own.
  static constexpr std::size_t kNear = RingLine::kBody;
  std::array<std::byte, kNear> near = {};
  std::unique_ptr<std::byte[]> far;  // NOLINT(cppcoreguidelines-avoid-c-arrays): null for data that are near
  bool costs = true;                 ///< see Announcement::costs()

  [[nodiscard]] std::span<const std::byte> start() const {
    return {data_bytes > kNear ? far.get() : near.data(), data_bytes};
  }
  /// Keeps a copy of the data that came with the message. Throws std::bad_alloc.
  void keep(std::span<const std::byte> data) {
    if (data.empty()) return;
    if (data.size() > kNear) far = std::make_unique_for_overwrite<std::byte[]>(data.size());
    data_bytes = data.size();
    std::memcpy(data_bytes > kNear ? far.get() : near.data(), data.data(), data_bytes);
  }
};

/// A message that a matched probe has taken out of the matching.
struct TakenMessage {
  explicit TakenMessage(std::uint64_t own_name) : name(own_name) {}

  const std::uint64_t name;
  std::unique_ptr<KeptMessage> kept;
};

}  // namespace librma
