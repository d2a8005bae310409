#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "helper_thread/wire.hpp"
#include "rings/line_ring.hpp"
#include "rma/types.h"
#include "util/statistics.hpp"
#include "util/waiting/spin_lock.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

class Channel;

/// The rings of active messages and the memory that they need.
struct ActiveRings {
  /// Returns where the helper of a rank says that it is to be called (ActiveInbox), or null if messages to
  /// that rank go by the channel.
  std::function<Doorbell*(int rank)> doorbell;
  /// Returns memory of this process's heap, aligned to 64 bytes, or null.
  std::function<std::byte*(std::size_t bytes)> take;
  std::function<void(std::byte* memory)> give;
  /// Returns where memory of a rank is mapped here, or null.
  std::function<std::byte*(const void* address, std::size_t bytes, int rank)> mapped;

  /// The sizes of each ring. `most_body` is the longest message.
  [[nodiscard]] static constexpr LineRingSizes sizes(std::size_t most_body) {
    constexpr std::uint64_t kLines = 256;
    constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 16U;
    return {.lines = kLines, .bytes = std::bit_ceil(std::max<std::uint64_t>(kLeastBytes, 4 * most_body))};
  }
};

/// The way of active messages to other ranks: a ring to each rank of this host whose memory is mapped, the
/// channel to the others. A rank gets its ring with the first message to it, and the way never changes, so
/// messages stay in order. Thread-safe.
///
/// In a ring the header of a message takes the place of the envelope, and the rest is the body.
///
/// A ring wakes nobody. If the rank's doorbell says that its helper is to be called, the sender sends a
/// *call*, an empty message of the channel, whose arrival makes the rank look at its rings (ActiveInbox). A
/// rank whose sender found no room gets a call too, when the receiver has made room.
class ActiveOutbox {
 public:
  /// The references outlive this. `locals`: the most ranks that may have rings.
  ActiveOutbox(int ranks, Channel& channel, const ActiveRings& rings);
  ~ActiveOutbox();
  ActiveOutbox(const ActiveOutbox&) = delete;
  ActiveOutbox& operator=(const ActiveOutbox&) = delete;

  /// Sends a message of a header and at most RingLine::kBody other bytes, if the ring to the rank has a line
  /// for it and needs nothing else. It is the usual case of try_send(), in as few steps as possible.
  [[nodiscard, gnu::always_inline]] bool send_at_once(int rank, const ActiveHeader& header,
                                                      std::span<const std::byte> rest) {
    Way* const to = ways_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire);
    if (to == nullptr || !to->lock.try_lock()) [[unlikely]]
      return false;
    const bool can = to->at_once && to->cursor.has_line();
    if (can) [[likely]]
      to->cursor.send_line(std::bit_cast<Envelope>(header), rest.data(), rest.size());
    to->lock.unlock();
    if (!can) [[unlikely]]
      return false;
    count(Counter::active_ring);
    if (to->doorbell->must_look()) [[unlikely]]
      look_after(rank, *to);
    return true;
  }
  /// Sends a message that consists of `head` and `tail`, together at most Channel::max_body() bytes, by the
  /// ring or by `rail`. `head` begins with the header. The channel has connected with the rank. The same
  /// results as Channel::try_send().
  [[nodiscard]] rma_status_t try_send(int rank, std::size_t rail, std::span<const std::byte> head,
                                      std::span<const std::byte> tail);
  /// Sends the same message as soon as possible; keeps it until then. A message to a lost rank is dropped.
  void send(int rank, std::size_t rail, std::span<const std::byte> head, std::span<const std::byte> tail);

  /// Makes `rank`, which has a ring for this process or to it, look at its rings, and send what waits for
  /// room.
  void call(int rank);
  /// Sends what waits for room in the ring to `rank`. Called when the rank has called.
  void flush(int rank);
  /// Sends nothing more to `rank`, which is lost.
  void close(int rank);

 private:
  /// The way to one rank.
  struct Way {
    SpinLock lock;  ///< guards the members below; `ring` stays as it is
    LineCursor cursor;
    std::optional<LineSender> ring;  ///< no value: by the channel
    Doorbell* doorbell = nullptr;
    bool lost = false;
    bool at_once = false;                     ///< there is a ring, the rank is not lost, and nothing is kept
    std::deque<std::vector<std::byte>> kept;  ///< messages that wait for room
  };

  [[nodiscard]] Way& way(int rank) {
    Way* const known = ways_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire);
    return known != nullptr ? *known : open(rank);
  }
  /// Decides the way to a rank, and makes its ring.
  [[gnu::noinline]] Way& open(int rank);
  /// Writes a message into the ring. Returns false if there is no room; then the rank will call. The caller
  /// holds the lock.
  [[nodiscard]] static bool put(Way& to, std::span<const std::byte> head, std::span<const std::byte> tail);
  /// Calls the rank if its helper is to be called. The message is in the ring.
  void look_after(int rank, const Way& to);

  Channel& channel_;
  const ActiveRings rings_;
  const LineRingSizes sizes_;
  std::vector<std::atomic<Way*>> ways_;  ///< by rank; null before the first message
  std::mutex opening_;                   ///< guards the members below
  std::vector<std::unique_ptr<Way>> owned_;
  std::vector<std::byte*> memory_;  ///< of the rings
};

}  // namespace librma
