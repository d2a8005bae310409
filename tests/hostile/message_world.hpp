#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hostile/world_process.hpp"
#include "rings/line_ring.hpp"

namespace librma::hostile {

inline constexpr int kVictim = 0;
inline constexpr int kAttacker = 1;
inline constexpr int kHonest = 2;

/// What one process does. An input is a list of records: a byte for the act, two for the length, and the
/// payload. The last record may be cut off. With kAtOnce, the next record follows before anybody makes
/// progress.
enum class MessageAct : std::uint8_t {
  receive,  ///< the victim posts a receive: source (0 attacker, 1 any, 2 honest), tag, layout, size (2 bytes)
  /// the victim sends to the attacker: bit 0 of the first byte: synchronous; tag, layout, size (2 bytes)
  send,
  take,     ///< the victim takes a message by a matched probe, and receives it: size (2 bytes)
  cancel,   ///< the victim cancels one of its receives: number
  message,  ///< the attacker sends a message: type, tag (1 byte: 0 to 127), and the body
  /// the attacker announces data of its arena: form, tag, offset (2 bytes), size (8 bytes), what follows
  announce,
  /// the attacker is ready for a piece in its arena: slot and generation of the send (1 byte each), place
  ready,
  ///< in the message, size, place in the arena (2 bytes each)
  line,   ///< the attacker writes a line of its ring: number of the line, control, envelope, body (64 bytes)
  slots,  ///< the attacker writes into the slots of its ring: offset (2 bytes), bytes
  feedback,  ///< the attacker writes what it has taken from the victim's ring: four numbers of 8 bytes
  place,     ///< the attacker says that its ring is elsewhere: 8 bytes
  envelope,  ///< the attacker sends by the channel: the envelope, the type, the reserved word and the body
  count_
};
inline constexpr std::uint8_t kAtOnce = 0x80;

/// Builds inputs.
class MessageInput {
 public:
  using Payload = std::vector<std::uint8_t>;
  template <typename Wire>
  static Payload& append(Payload& payload, const Wire& wire) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&wire);
    payload.insert(payload.end(), bytes, bytes + sizeof wire);
    return payload;
  }
  MessageInput& add(MessageAct act, const Payload& payload, bool at_once = false) {
    // One insert: GCC 12 warns of three push_back() into a vector that it knows is empty.
    const std::array<std::uint8_t, 3> head = {
        static_cast<std::uint8_t>(static_cast<std::uint8_t>(act) | (at_once ? kAtOnce : 0)),
        static_cast<std::uint8_t>(payload.size()), static_cast<std::uint8_t>(payload.size() >> 8U)};
    bytes_.insert(bytes_.end(), head.begin(), head.end());
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    return *this;
  }
  MessageInput& receive(std::uint8_t source, std::uint8_t tag, std::uint8_t layout, std::uint16_t bytes,
                        bool at_once = false) {
    Payload payload = {source, tag, layout};
    return add(MessageAct::receive, append(payload, bytes), at_once);
  }
  MessageInput& send(bool synchronous, std::uint8_t tag, std::uint8_t layout, std::uint16_t bytes,
                     bool at_once = false) {
    Payload payload = {std::uint8_t{synchronous}, tag, layout};
    return add(MessageAct::send, append(payload, bytes), at_once);
  }
  template <typename Head>
  MessageInput& message(MessageType type, const Head& head, const Payload& rest = {}, bool at_once = false) {
    Payload payload = {static_cast<std::uint8_t>(type), 0};
    append(payload, head);
    payload.insert(payload.end(), rest.begin(), rest.end());
    return add(MessageAct::message, payload, at_once);
  }
  MessageInput& announce(RendezvousForm form, std::uint8_t tag, std::uint16_t offset, std::uint64_t bytes,
                         const Payload& rest = {}) {
    Payload payload = {static_cast<std::uint8_t>(form), tag};
    append(payload, offset);
    append(payload, bytes);
    payload.insert(payload.end(), rest.begin(), rest.end());
    return add(MessageAct::announce, payload);
  }
  MessageInput& ready(std::uint8_t slot, std::uint16_t place, std::uint16_t bytes, bool at_once = false) {
    Payload payload = {slot, 1};
    append(payload, place);
    append(payload, bytes);
    append(payload, std::uint16_t{0});
    return add(MessageAct::ready, payload, at_once);
  }
  [[nodiscard]] const Payload& bytes() const { return bytes_; }

 private:
  Payload bytes_;
};

/// The name of the operation that has taken slot number `slot` of its process for the `use`-th time.
[[nodiscard]] constexpr std::uint64_t name_of(std::uint64_t slot, std::uint64_t use = 1) {
  return ((2 * use - 1) << 32U) | slot;
}

/// A victim, an attacker, and an honest process. The input says what the first two do. After each record, and
/// at the end, this checks that
/// - no byte outside the victim's receives was written,
/// - the attacker has seen no byte but those that the victim sends it while it sends them,
/// - all of the victim's operations with the attacker end once it is given up,
/// - messages between the victim and the honest process arrive as before.
/// A failure ends the program.
class MessageWorld {
 public:
  MessageWorld(MessagePath path, std::string_view rendezvous);
  MessageWorld(const MessageWorld&) = delete;
  MessageWorld& operator=(const MessageWorld&) = delete;
  ~MessageWorld();

  void run(std::span<const std::uint8_t> input);
  void check();

  /// Returns whether the victim has given the attacker up.
  [[nodiscard]] bool given_up();
  /// The number of the victim's operations that have not ended.
  [[nodiscard]] std::size_t open() const;
  /// A message that the attacker has got.
  struct Got {
    MessageType type = MessageType::eager;
    std::vector<std::byte> body;
  };
  [[nodiscard]] const std::vector<Got>& got() const { return got_; }

 private:
  /// An operation of the victim.
  struct Operation {
    rma_request_t request = RMA_REQUEST_NULL;
    bool receives = false;
    bool from_honest = false;  ///< a receive that only a message of the honest process ends
    bool over = false;
    rma_status_t status = RMA_SUCCESS;
    std::vector<std::byte> memory;  ///< guards included
    std::size_t bytes = 0;          ///< of the data
    std::size_t stride = 0;         ///< 0: the data are contiguous
    rma_message_info_t info = {};
  };

  void act(MessageAct what, std::span<const std::uint8_t> payload);
  void post_receive(std::span<const std::uint8_t> payload);
  void send(std::span<const std::uint8_t> payload);
  void take(std::span<const std::uint8_t> payload);
  Operation& make(std::size_t bytes, bool noncontiguous, std::byte fill);
  [[nodiscard]] static MessageData data_of(Operation& operation);
  [[nodiscard]] static bool holds_data(const Operation& operation, std::size_t at);

  void say(MessageType type, Envelope envelope, std::span<const std::byte> head,
           std::span<const std::byte> body);
  void announce(std::span<const std::uint8_t> payload);
  void ready(std::span<const std::uint8_t> payload);
  void write_line(std::span<const std::uint8_t> payload);
  void write_feedback(std::span<const std::uint8_t> payload);
  bool take_in_of_victim();
  void got_message(MessageType type, std::span<const std::byte> body);

  void settle();
  void look_at_operations();
  void look_at(Operation& operation);
  void exchange_honestly();
  void send_honestly(int from, int to, std::size_t bytes, bool synchronous);

  const MessagePath path_;
  std::vector<std::byte> own_arena_;
  std::span<std::byte> arena_;  ///< the attacker's, to which it has keys
  std::unique_ptr<WorldProcesses> processes_;
  std::deque<Operation> operations_;
  std::vector<Got> got_;
  std::byte* ring_ = nullptr;  ///< of the attacker, in its heap
  LineCursor cursor_;
  std::unique_ptr<LineSender> to_victim_;
  std::unique_ptr<Inbox> inbox_;  ///< of the attacker
};

}  // namespace librma::hostile
