#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "rings/piece_claims.hpp"
#include "rings/ring_line.hpp"
#include "rings/send_port.hpp"
#include "util/waiting/wait.hpp"

// Messages of one process to another through memory that both have mapped.
//
// A ring has *lines* of one cache line each, and *slots*, a second ring of bytes. A message takes one line: 8
// bytes of control, 8 of envelope, and up to 48 bytes of body. A longer body lies in the slots, in one piece
// that starts at a multiple of 64 bytes. The line tells its size, and whether the slots begin again with it:
// both sides compute its place in the same way, so a receiver reads nothing outside the slots whatever the
// line says. The sender lets the slots begin again each time it has used kNear bytes and the receiver has
// taken them all. So messages that are soon received stay in the caches, and in pages that were touched.
//
// Publication: the sender writes the body and the envelope, and then stores the control word with release
// order. The control word holds the low half of the message's number, counted from 1. The receiver loads it
// with acquire order and takes the line if it holds the number that comes next. Every control word that was
// ever stored in this line holds another number: the last one is smaller by the number of lines. So nobody
// has to clear a line again, and a message of up to 48 bytes moves one cache line from one processor to the
// other.
//
// The memory of a new ring may hold anything. prepare() clears the words at its start and the first line. In
// the first round the sender clears the control words of the next kCleared lines whenever it has used those
// that are clear, all but one. So the receiver never looks at a line that was not cleared, and a rank that
// sends a few short messages touches a page or two of the ring.
//
// The receiver counts what it has taken in `LineFeedback`, which the sender reads only when it knows of no
// free line.
//
// Beside this there are two rings of slots of one size: channel/ring.hpp, which a device writes, and
// transport/shm/message_queue.hpp, which says why there are three. Here bodies have any length, so they lie
// apart from the lines, and the claims of long messages' pieces lie in the same memory.

namespace librma {

/// The receiver's words to the sender. Only the receiver writes it.
struct alignas(64) LineFeedback {
  std::atomic<std::uint64_t> taken = 0;        ///< lines
  std::atomic<std::uint64_t> taken_bytes = 0;  ///< of the slots
  /// The receiver's part of UnexpectedWindow: the cost of messages that found a receive when they arrived,
  /// and of those that found it later.
  std::atomic<std::uint64_t> delivered = 0;
  std::atomic<std::uint64_t> matched_later = 0;
};
static_assert(sizeof(LineFeedback) == 64);

/// The sender's word to the receiver beside the messages. It sleeps, or is about to, until there is room.
/// The receiver clears the flag when it wakes the sender.
struct alignas(64) LineWish {
  std::atomic<std::uint32_t> room = 0;
};
static_assert(sizeof(LineWish) == 64);

/// The sizes of a ring, and where its parts lie in its memory. All processes of a job use the same.
struct LineRingSizes {
  std::uint64_t lines = 0;  ///< a power of two
  std::uint64_t bytes = 0;  ///< of the slots: a power of two, at least 4 * most_body

  [[nodiscard]] constexpr std::size_t memory() const {
    return sizeof(LineFeedback) + sizeof(LineWish) + sizeof(PieceClaims) +
           static_cast<std::size_t>(lines * sizeof(RingLine) + bytes);
  }
  /// The longest body of a message. A quarter of the slots, so that a message never waits for more than three
  /// quarters of them.
  [[nodiscard]] constexpr std::size_t most_body() const { return static_cast<std::size_t>(bytes / 4); }
};

namespace line_ring_detail {

constexpr std::uint64_t kSizeMask = (std::uint64_t{1} << (kTypeShift - kSizeShift)) - 1;
constexpr std::uint64_t kSlotAlignment = 64;
/// The sender uses this many bytes of the slots before it may begin again. They are few enough for the caches
/// when a process has rings to many others, and so many that the sender rarely looks at the receiver's words.
/// Each look moves a cache line.
constexpr std::uint64_t kNear = std::uint64_t{32} << 10U;
/// If a body is still there, the sender looks again after this many bodies of the size that it sends. It is a
/// prime, so that in a program that sends a few messages at a time some look comes before the first of them.
constexpr std::uint64_t kBodiesUntilNextLook = 13;

/// The memory of a ring: the feedback, the wish, the claims, the lines, the slots.
class Memory {
 public:
  Memory(std::byte* memory, const LineRingSizes& sizes)
      : feedback_(reinterpret_cast<LineFeedback*>(memory)),
        wish_(reinterpret_cast<LineWish*>(memory + sizeof(LineFeedback))),
        claims_(reinterpret_cast<PieceClaims*>(memory + sizeof(LineFeedback) + sizeof(LineWish))),
        lines_(reinterpret_cast<RingLine*>(claims_ + 1)),
        slots_(reinterpret_cast<std::byte*>(lines_ + sizes.lines)),
        sizes_(sizes) {}

 protected:
  /// Returns where a body of `bytes` bytes begins if the slots are used up to `position`: positions count up
  /// for ever, and a body does not wrap around.
  [[nodiscard]] std::uint64_t place(std::uint64_t position, std::uint64_t bytes) const {
    const std::uint64_t offset = position & (sizes_.bytes - 1);
    return offset + bytes > sizes_.bytes ? position + (sizes_.bytes - offset) : position;
  }
  /// Returns the first position at or behind this one where the slots begin again.
  [[nodiscard]] std::uint64_t restart(std::uint64_t position) const {
    return (position + sizes_.bytes - 1) & ~(sizes_.bytes - 1);
  }
  /// Returns the position of a body that lies there, the first one at or behind `position`.
  [[nodiscard]] std::uint64_t position_of(const std::byte* body, std::uint64_t position) const {
    const auto offset = static_cast<std::uint64_t>(body - slots_);
    return position + ((offset - position) & (sizes_.bytes - 1));
  }
  [[nodiscard]] static std::uint64_t end(std::uint64_t begin, std::uint64_t bytes) {
    return (begin + bytes + kSlotAlignment - 1) & ~(kSlotAlignment - 1);
  }
  [[nodiscard]] std::byte* slot(std::uint64_t position) const {
    return slots_ + (position & (sizes_.bytes - 1));
  }
  [[nodiscard]] RingLine& line(std::uint64_t number) const { return lines_[number & (sizes_.lines - 1)]; }

  LineFeedback* feedback_;
  LineWish* wish_;
  PieceClaims* claims_;
  RingLine* lines_;
  std::byte* slots_;
  LineRingSizes sizes_;
};

}  // namespace line_ring_detail

/// The sending side. One thread at a time uses it.
class LineSender : private line_ring_detail::Memory {
 public:
  /// The sender asks for so many cache lines of slots at most (LineCursor::kPrefetched). The processor asks
  /// for more of a long body by itself.
  static constexpr std::uint64_t kPrefetchedSlots = 4;
  /// The sender clears the control words of so many lines at once in the first round: a page.
  static constexpr std::uint64_t kCleared = 64;

  /// Prepares the memory of a new ring, before the receiver knows it.
  static void prepare(std::byte* memory) {
    constexpr std::size_t kStart =
        sizeof(LineFeedback) + sizeof(LineWish) + sizeof(PieceClaims) + sizeof(RingLine);
    std::memset(memory, 0, kStart);
  }

  /// `memory` is prepared, aligned to 64 bytes, and sizes.memory() bytes long. `cursor` is the ring's, and
  /// outlives this; short messages may also be sent by it alone.
  LineSender(std::byte* memory, const LineRingSizes& sizes, LineCursor& cursor)
      : Memory(memory, sizes), cursor_(cursor) {
    cursor = {.next = lines_, .first = lines_, .mask = sizes.lines - 1};
  }

  /// Sends a message whose body is `head` and `tail`, together at most LineRingSizes::most_body() bytes.
  /// Returns false if there is no room.
  [[nodiscard]] bool send(MessageType type, Envelope envelope, std::span<const std::byte> head,
                          std::span<const std::byte> tail) {
    const std::uint64_t bytes = head.size() + tail.size();
    if (cursor_.sent == cursor_.room_end && !refresh()) return false;
    std::byte* body = cursor_.next->body;
    std::uint64_t size = bytes;
    if (bytes > RingLine::kBody) {
      const bool restarts = position_ >= next_look_ && may_restart(bytes);
      const std::uint64_t begin = restarts ? restart(position_) : place(position_, bytes);
      const std::uint64_t after = end(begin, bytes);
      if (restarts) {
        size |= line_ring_detail::kRestart;
        free_before_ = begin;
        next_look_ = begin + line_ring_detail::kNear;
      } else if (!has_slots(after)) {
        static_cast<void>(refresh());
        if (!has_slots(after)) return false;
      }
      body = slot(begin);
      position_ = after;
    }
    if (!head.empty()) std::memcpy(body, head.data(), head.size());
    if (!tail.empty()) std::memcpy(body + head.size(), tail.data(), tail.size());
    cursor_.publish(type, envelope, size);
    ++sent_here_;
    if (bytes > RingLine::kBody) prefetch_slots(bytes);
    return true;
  }
  /// Returns the number of messages that were sent by the cursor alone.
  [[nodiscard]] std::uint64_t sent_by_cursor() const { return cursor_.sent - sent_here_; }

  /// Returns the cost of the messages that the receiver has matched (UnexpectedWindow).
  [[nodiscard]] std::uint64_t released() const {
    return feedback_->delivered.load(std::memory_order_relaxed) +
           feedback_->matched_later.load(std::memory_order_acquire);  // pairs with release()
  }
  /// Asks the receiver to wake this process when it has made room. The caller then tries once more to send,
  /// before it sleeps: at least one of the two sees what the other has done (Dekker's algorithm).
  void ask_for_room() {
    wish_->room.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one in wished_for_room()
  }
  /// Returns the claims on the pieces of the message that both processes copy.
  [[nodiscard]] PieceClaims& claims() { return *claims_; }
  /// Returns whether the receiver has claimed to have taken more than was sent. No honest receiver does.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  /// Returns whether the slots up to this position are known to be free.
  [[nodiscard]] bool has_slots(std::uint64_t after) const {
    return after - std::max(taken_bytes_, free_before_) <= sizes_.bytes;
  }
  /// Reads what the receiver has taken, and returns whether that is all bodies. If not, the sender looks
  /// again after some more messages.
  [[nodiscard, gnu::noinline]] bool may_restart(std::uint64_t bytes) {
    next_look_ = position_ + line_ring_detail::kBodiesUntilNextLook * bytes;
    static_cast<void>(refresh());
    return taken_bytes_ == position_;
  }
  /// Asks for the slots of the next message, if that is as long as this one. The receiver has read them in
  /// the last round, and the line of a message is seen only after its slots.
  void prefetch_slots(std::uint64_t bytes) const {
    const std::uint64_t most = std::min(bytes, kPrefetchedSlots * line_ring_detail::kSlotAlignment);
    for (std::uint64_t at = 0; at < most; at += line_ring_detail::kSlotAlignment)
      prefetch_to_write(slot(position_ + at));
  }

  /// Reads what the receiver has taken, and clears lines if need be. Returns whether a line is free.
  [[nodiscard, gnu::noinline]] bool refresh() {
    // Acquire: the receiver has read the lines before it counted them, so they may be written now.
    const std::uint64_t taken = feedback_->taken.load(std::memory_order_acquire);
    const std::uint64_t bytes = feedback_->taken_bytes.load(std::memory_order_acquire);
    if (taken > cursor_.sent || taken < taken_ || bytes > position_ || bytes < taken_bytes_) {
      broken_ = true;
      return false;
    }
    taken_ = taken;
    taken_bytes_ = bytes;
    // The next message publishes these, too.
    if (cursor_.sent + 1 == cleared_) {
      const std::uint64_t end = std::min(cleared_ + kCleared, sizes_.lines);
      RingLine* const behind = lines_ + end;
      for (RingLine* line = lines_ + cleared_; line != behind; ++line)
        line->control.store(0, std::memory_order_relaxed);
      cleared_ = end;
    }
    cursor_.room_end = taken_ + sizes_.lines;
    if (cleared_ < sizes_.lines) cursor_.room_end = std::min(cursor_.room_end, cleared_ - 1);
    return cursor_.sent != cursor_.room_end;
  }

  LineCursor& cursor_;
  std::uint64_t sent_here_ = 0;    ///< lines, by send()
  std::uint64_t cleared_ = 1;      ///< the first lines, which hold no number of the time before the ring
  std::uint64_t taken_ = 0;        ///< lines that the receiver is known to have taken
  std::uint64_t position_ = 0;     ///< of the next body in the slots
  std::uint64_t taken_bytes_ = 0;  ///< of the slots, as known
  std::uint64_t free_before_ = 0;  ///< the position of the last restart, before which every body was taken
  std::uint64_t next_look_ = line_ring_detail::kNear;  ///< from this position on send() asks may_restart()
  bool broken_ = false;
};

/// The receiving side. One thread at a time uses it, but any may ask waiting().
class LineReceiver : private line_ring_detail::Memory {
 public:
  LineReceiver(std::byte* memory, const LineRingSizes& sizes) : Memory(memory, sizes), next_(lines_) {}

  /// A message at the head of the ring. It stays there until pop().
  struct Head {
    MessageType type = MessageType::eager;
    Envelope envelope;
    std::span<const std::byte> body;
  };
  enum class Found : std::uint8_t { nothing, message, broken };

  /// Looks at the next message. `broken`: no honest sender writes this line.
  [[nodiscard]] Found peek(Head& head) const { return peek_inlined(head); }
  /// Does the same, inlined into its caller. A receive of 8 bytes takes 20 instructions less by that.
  [[nodiscard, gnu::always_inline]] Found peek_inlined(Head& head) const {
    return peek_at(*next_.load(std::memory_order_relaxed), awaited_.load(std::memory_order_relaxed),
                   position_, head);
  }

  /// Does the same for an eager message whose body is in its line. `message` then stands for that;
  /// `broken` stands for every other message.
  [[nodiscard, gnu::always_inline]] Found peek_short(Head& head) const {
    const RingLine& from = *next_.load(std::memory_order_relaxed);
    const std::uint64_t control =
        from.control.load(std::memory_order_acquire);  // pairs with the store in publish()
    if (static_cast<std::uint32_t>(control) != awaited_.load(std::memory_order_relaxed))
      return Found::nothing;
    // One comparison for the type and the size: the type is above the size.
    constexpr std::uint64_t kEager = static_cast<std::uint64_t>(MessageType::eager)
                                     << (line_ring_detail::kTypeShift - line_ring_detail::kSizeShift);
    const std::uint64_t bytes = (control >> line_ring_detail::kSizeShift) - kEager;
    if (bytes > RingLine::kBody) return Found::broken;
    head = {.type = MessageType::eager, .envelope = from.envelope, .body = {from.body, bytes}};
    // The caller looks at the body only behind this, as in peek_at().
    std::atomic_signal_fence(std::memory_order_acq_rel);
    return Found::message;
  }

  /// Returns whether peek() would find something. Any thread may ask; the answer may be old.
  [[nodiscard]] bool waiting() const {
    return static_cast<std::uint32_t>(
               next_.load(std::memory_order_relaxed)->control.load(std::memory_order_relaxed)) ==
           awaited_.load(std::memory_order_relaxed);
  }

  /// Gives the place of the message that peek() found back to the sender. `delivered` is its cost, if it
  /// found a receive.
  [[gnu::always_inline]] void pop(const Head& head, std::uint64_t delivered) {
    if (head.body.size() > RingLine::kBody) {
      position_ = end(position_of(head.body.data(), position_), head.body.size());
      feedback_->taken_bytes.store(position_, std::memory_order_release);  // pairs with the load in refresh()
    }
    const std::uint64_t taken = ++taken_;
    next_.store(&line(taken), std::memory_order_relaxed);
    awaited_.store(static_cast<std::uint32_t>(taken + 1), std::memory_order_relaxed);
    if (delivered != 0) {
      delivered_ += delivered;
      feedback_->delivered.store(delivered_, std::memory_order_relaxed);
    }
    feedback_->taken.store(taken, std::memory_order_release);  // pairs with the load in refresh()
  }

  /// Tells whether the sender may have asked for room that this message has taken: a caller that takes many
  /// messages need ask wished_for_room() only then. A sender that waits for a line has filled all lines, so
  /// the receiver takes a quarter of them, and meets one of these numbers, before the ring is empty. A sender
  /// that waits for slots gets them with a message that lies there. Called after pop() of the message.
  [[nodiscard, gnu::always_inline]] bool may_be_wished_for(const Head& head) const {
    return (taken_ & ((sizes_.lines - 1) / 4)) == 0 || head.body.size() > RingLine::kBody;
  }
  /// Takes messages at the head of the ring, and gives their places back together when it ends: so the words
  /// that the sender and other threads read are written once for all of them.
  class Batch {
   public:
    explicit Batch(LineReceiver& receiver)
        : receiver_(receiver),
          next_(receiver.next_.load(std::memory_order_relaxed)),
          taken_(receiver.taken_),
          position_(receiver.position_) {}
    ~Batch() { receiver_.give_back(next_, taken_, position_, delivered_); }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    /// These are as the receiver's. Every message has found its receive.
    [[nodiscard, gnu::always_inline]] Found peek(Head& head) const {
      return receiver_.peek_at(*next_, static_cast<std::uint32_t>(taken_ + 1), position_, head);
    }
    [[gnu::always_inline]] void pop(const Head& head, std::uint64_t delivered) {
      if (head.body.size() > RingLine::kBody)
        position_ = end(receiver_.position_of(head.body.data(), position_), head.body.size());
      next_ = &receiver_.line(++taken_);
      delivered_ += delivered;
    }

   private:
    LineReceiver& receiver_;
    const RingLine* next_;
    std::uint64_t taken_;
    std::uint64_t position_;
    std::uint64_t delivered_ = 0;
  };

  /// Returns whether the sender is to be woken, because it has asked for room. Called after pop().
  [[nodiscard]] bool wished_for_room() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one in ask_for_room()
    if (wish_->room.load(std::memory_order_relaxed) == 0) return false;
    wish_->room.store(0, std::memory_order_relaxed);
    return true;
  }

  /// Returns the claims on the pieces of the message that both processes copy.
  [[nodiscard]] PieceClaims& claims() { return *claims_; }
  /// Says that a message of this cost, which was unexpected, has found its receive. Any thread may say so.
  void release(std::uint64_t cost) {
    // Release: the receiver has forgotten the message before the sender fills its room. Pairs with
    // released().
    feedback_->matched_later.fetch_add(cost, std::memory_order_release);
  }

 private:
  /// Looks at a line, which has a message if its number is `awaited`. The slots are taken up to `position`.
  [[nodiscard, gnu::always_inline]] Found peek_at(const RingLine& from, std::uint32_t awaited,
                                                  std::uint64_t position, Head& head) const {
    const std::uint64_t control =
        from.control.load(std::memory_order_acquire);  // pairs with the store in publish()
    if (static_cast<std::uint32_t>(control) != awaited) return Found::nothing;
    auto bytes =
        static_cast<std::size_t>((control >> line_ring_detail::kSizeShift) & line_ring_detail::kSizeMask);
    const std::byte* body = from.body;
    if (bytes > RingLine::kBody) {
      const bool restarts = (bytes & line_ring_detail::kRestart) != 0;
      bytes &= line_ring_detail::kRestart - 1;
      if (bytes > sizes_.most_body() || bytes <= RingLine::kBody) return Found::broken;
      body = slot(restarts ? restart(position) : place(position, bytes));
      __builtin_prefetch(body);  // the copy reads it when the receive is found, behind a locked instruction
    }
    head = {.type = static_cast<MessageType>(control >> line_ring_detail::kTypeShift),
            .envelope = from.envelope,
            .body = {body, bytes}};
    // The sender may change the line at any time. This keeps the compiler from reading it again.
    std::atomic_signal_fence(std::memory_order_acq_rel);
    return Found::message;
  }
  /// Says that all messages before the line `next` have been taken, and moves on to that.
  void give_back(const RingLine* next, std::uint64_t taken, std::uint64_t position, std::uint64_t delivered) {
    if (taken == taken_) return;
    // Each store to the sender pairs with its load in refresh().
    if (position != position_) feedback_->taken_bytes.store(position_ = position, std::memory_order_release);
    next_.store(next, std::memory_order_relaxed);
    awaited_.store(static_cast<std::uint32_t>(taken + 1), std::memory_order_relaxed);
    delivered_ += delivered;
    feedback_->delivered.store(delivered_, std::memory_order_relaxed);
    feedback_->taken.store(taken_ = taken, std::memory_order_release);
  }

  // Threads that ask waiting() read these two while the one that uses the ring changes them.
  std::atomic<const RingLine*> next_;
  std::atomic<std::uint32_t> awaited_ = 1;  ///< the number of the next message
  std::uint64_t taken_ = 0;                 ///< lines
  std::uint64_t position_ = 0;
  std::uint64_t delivered_ = 0;
};

}  // namespace librma
