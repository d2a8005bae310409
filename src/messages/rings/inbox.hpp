#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/job/job.hpp"
#include "messages/rings/help_record.hpp"
#include "messages/rings/sharing_trials.hpp"
#include "rings/line_ring.hpp"
#include "util/waiting/spin_lock.hpp"

namespace librma {

/// The block of Service::messages: here the other processes of the host say where they have made rings for
/// this process. It lies in this process's heap and begins zeroed.
struct InboxBlock {
  alignas(64) std::atomic<std::uint32_t> calls;  ///< how many processes have made a ring
  /// By the sender's index among the ranks of the host: the ring's address in the sender's address space, or
  /// 0.
  alignas(64) std::atomic<std::uint64_t> rings[1];  // NOLINT(cppcoreguidelines-avoid-c-arrays)

  [[nodiscard]] static std::size_t bytes(std::size_t locals) {
    return sizeof(InboxBlock) + locals * sizeof(std::atomic<std::uint64_t>);
  }
};

/// The rings in which other processes of this host send messages to this one. A ring lies in its sender's
/// heap, which makes it at its first message. Any thread may look(); a ring is read by one thread at a time.
class Inbox {
 public:
  /// One sender's ring.
  struct Ring {
    Ring(int from, std::byte* memory, const LineRingSizes& sizes) : sender(from), receiver(memory, sizes) {}
    const int sender;
    SpinLock lock;  ///< held by the thread that reads the ring
    LineReceiver receiver;
    std::atomic<bool> sharing = false;  ///< a thread uses the receiver's claims and the next three
    std::uint32_t transfers = 0;        ///< the number of the last transfer (PieceClaims)
    HelpRecord help;
    SharingTrials trials;
    /// The sender is lost: what it writes is not read any more.
    std::atomic<bool> closed = false;

    /// Returns whether there is a message. Any thread may ask; the answer may be old.
    [[nodiscard]] bool waiting() const {
      return receiver.waiting() && !closed.load(std::memory_order_relaxed);
    }
  };

  /// Sets the block aside. Called before Job::connect().
  [[nodiscard]] static Result<InboxBlock*> provide(Job& job);
  Inbox(Job& job, InboxBlock& block, const LineRingSizes& sizes);

  /// Returns the rings that are known, oldest first.
  [[nodiscard]] std::span<Ring* const> rings() {
    if (!knows_all()) [[unlikely]]
      find_new();
    return {rings_.data(), count_.load(std::memory_order_acquire)};
  }

  /// Returns whether a ring has a message, or a process has made a ring that is not known yet.
  [[nodiscard]] bool waiting();

  /// Tells `to`, a mapped rank, that a ring for it lies at `ring` in this process's heap.
  void announce(int to, const std::byte* ring);
  /// Lets nobody read the ring of `sender`, which is lost, any more.
  void close(int sender) {
    if (Ring* const ring = of(sender); ring != nullptr) ring->closed.store(true, std::memory_order_relaxed);
  }
  /// Does the same as of(), but may return null for a ring that nobody has looked for yet.
  [[nodiscard]] Ring* known(int sender) const {
    return by_rank_[static_cast<std::size_t>(sender)].load(
        std::memory_order_acquire);  // pairs with find_new()
  }
  /// Returns the ring of messages from `sender`, or null if it has made none.
  [[nodiscard]] Ring* of(int sender) {
    const std::atomic<Ring*>& place = by_rank_[static_cast<std::size_t>(sender)];
    Ring* const ring = place.load(std::memory_order_acquire);  // pairs with find_new()
    if (ring != nullptr || knows_all()) return ring;
    find_new();
    return place.load(std::memory_order_acquire);
  }

 private:
  [[nodiscard]] bool knows_all() const {
    return block_->calls.load(std::memory_order_acquire) == seen_calls_.load(std::memory_order_relaxed);
  }
  void find_new();

  Job& job_;
  const LineRingSizes sizes_;
  InboxBlock* const block_;
  std::size_t own_index_ = 0;  ///< among the ranks of this host
  std::atomic<std::uint32_t> seen_calls_ = 0;
  std::mutex finding_;
  /// By the sender's index among the ranks of the host, under finding_. There is room for all from the start,
  /// so that a process without memory receives the first message of a sender too.
  std::vector<std::optional<Ring>> owned_;
  std::vector<Ring*> rings_;  ///< has room for all; the first count_ are valid
  std::vector<std::atomic<Ring*>> by_rank_;
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace librma
