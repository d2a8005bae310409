#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rings/ring_line.hpp"
#include "rings/short_copy.hpp"
#include "util/waiting/spin_lock.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

/// Where the sender of a ring stands. The ring's LineSender sets it up and moves `room_end` on; one thread at
/// a time uses both.
struct LineCursor {
  /// The sender asks for the line of the message after this many others. The receiver has read the line in
  /// the last round, so the sender's next store there would wait until the other processor has given it up.
  static constexpr std::uint64_t kPrefetched = 4;

  RingLine* next = nullptr;    ///< of the next message
  std::uint64_t sent = 0;      ///< lines
  std::uint64_t room_end = 0;  ///< so many lines may be sent before the next LineSender::refresh()
  RingLine* first = nullptr;
  std::uint64_t mask = 0;  ///< the number of lines, a power of two, minus 1

  /// Returns whether a line is known to be free. LineSender::send() may find one if not.
  [[nodiscard]] bool has_line() const { return sent != room_end; }
  /// Sends an eager message of at most RingLine::kBody bytes. has_line() holds. It calls no function, so a
  /// caller that calls none keeps everything in registers.
  [[gnu::always_inline]] void send_line(Envelope envelope, const std::byte* data, std::size_t bytes) {
    // Reads each member once: for all that the compiler knows, the copy changes the members.
    RingLine& to = *next;
    const std::uint64_t number = sent + 1;
    to.envelope = envelope;
    copy_short(to.body, data, bytes);
    publish(to, number, MessageType::eager, bytes);
  }
  /// Sends a message whose body is written.
  void publish(MessageType type, Envelope envelope, std::uint64_t bytes) {
    next->envelope = envelope;
    publish(*next, sent + 1, type, bytes);
  }

 private:
  /// Writes the control word of the next line, and moves on.
  [[gnu::always_inline]] void publish(RingLine& to, std::uint64_t number, MessageType type,
                                      std::uint64_t bytes) {
    RingLine* const following = &first[number & mask];
    next = following;
    sent = number;
    // Pairs with the load in LineReceiver::peek().
    to.control.store((static_cast<std::uint64_t>(type) << line_ring_detail::kTypeShift) |
                         (bytes << line_ring_detail::kSizeShift) | static_cast<std::uint32_t>(number),
                     std::memory_order_release);
    // At the end of the ring the line that comes next is elsewhere, and a line of the slots comes for
    // nothing.
    prefetch_to_write(following + (kPrefetched - 1));
  }
};

/// The short way to one rank of this host: the sender's end of the ring, and what decides that a message may
/// take it. librma.so publishes those of all ranks (rma_send_ports, rma/unchecked.h), so that a library over
/// it can send a message in its own code. Such a library is built with librma.so, and contains this header's
/// code.
///
/// The first cache line has all that a short message needs of it.
struct alignas(64) SendPort {
  SpinLock lock;  ///< guards all the rest
  /// Messages of fewer bytes may go at once: 0 unless there is a ring, nothing waits for room in it, and the
  /// rank is not lost; at most RingLine::kBody + 1.
  std::uint8_t at_once = 0;
  std::uint64_t eager_cost = 0;  ///< of all messages sent with their data (UnexpectedWindow)
  std::uint64_t cost_limit = 0;  ///< eager_cost may reach this, as far as is known
  Doorbell* doorbell = nullptr;  ///< of the rank, if there is a ring
  LineCursor cursor;

  static constexpr std::uint64_t kCostOfEach = 256;  ///< the cost of a message without data

  /// The outcome of try_send(). `wake`: the message is sent, and a thread of the rank may sleep: it is to be
  /// woken.
  enum class Sent : std::uint8_t { no, yes, wake };
  /// Sends an eager message if it is short and needs nothing but a free line.
  [[nodiscard, gnu::always_inline]] Sent try_send(Envelope envelope, const std::byte* data,
                                                  std::size_t bytes) {
    if (bytes > RingLine::kBody || !lock.try_lock()) [[unlikely]]
      return Sent::no;
    const std::uint64_t costs = eager_cost + kCostOfEach + bytes;
    if (bytes >= at_once || costs > cost_limit || !cursor.has_line()) [[unlikely]] {
      lock.unlock();
      return Sent::no;
    }
    eager_cost = costs;
    cursor.send_line(envelope, data, bytes);
    const Doorbell* const receiver = doorbell;
    lock.unlock();
    return receiver->must_look() ? Sent::wake : Sent::yes;
  }
};
static_assert(sizeof(SendPort) == 128);

}  // namespace librma
