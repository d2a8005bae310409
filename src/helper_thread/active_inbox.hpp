#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "channel/message.hpp"
#include "core/completion/progress_engine.hpp"
#include "helper_thread/active_outbox.hpp"
#include "rings/line_ring.hpp"
#include "transport/service_thread.hpp"
#include "util/status.hpp"
#include "util/system/descriptor.hpp"
#include "util/waiting/spin_lock.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

class Channel;

/// Takes in the active messages that come by rings. Thread-safe.
///
/// One thread at a time takes messages in and runs their handlers: it has the *turn*. Threads of the program
/// look at the rings whenever they poll or wait. The helper thread looks while it polls for messages of the
/// channel, when it is called, and when a nap of it is over:
///  - It *listens* at this process's doorbell (Service::active) if the program does not poll. The first
///    sender that sees it there sends a call, an empty message of the channel, whose arrival wakes it.
///  - It *naps* if messages have come and the program has polled since it looked last: it looks again by the
///    clock, and nobody calls it. A nap in which one of the two did not happen is the last one. So a message
///    to a program that has stopped polling waits for kLongestNap at most, and two ranks that poll make no
///    system calls.
/// Nothing but these rings waits for a nap: messages of the channel wake the helper as always.
///
/// Why no message stays unseen. A thread that begins to listen, or clears `called`, looks at all rings after
/// that (Doorbell::listen()). A message that it does not see was published later, so its sender sees the
/// listener and `called` cleared. While the helper does not listen, a nap is under way.
class ActiveInbox final : public ProgressSource {
 public:
  /// Takes in a message, with the turn. Returns false if no honest rank sends it.
  using TakeIn = std::function<bool(int sender, std::size_t rail, std::span<const std::byte> body)>;

  static constexpr std::chrono::microseconds kShortestNap{50};
  static constexpr std::chrono::microseconds kLongestNap{400};

  /// `doorbell` is this process's own, or null: then there are no rings. The references outlive this.
  ActiveInbox(int ranks, Channel& channel, ActiveOutbox& outbox, ProgressEngine& engine,
              const ActiveRings& rings, Doorbell* doorbell, TakeIn take_in);

  /// Lets the helper thread nap, and look at the rings while it polls for the channel's messages; without
  /// this it always listens, and waits for calls. Called before the thread starts.
  void serve_in(transport::ServiceThread& service);

  /// Takes in what has come by rings, unless another thread does so. Returns whether there was anything.
  bool poll() {
    // Relaxed: the number orders nothing, and may lose polls of threads that poll at once.
    polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return waiting() && poll_waiting();
  }
  /// Takes in the last messages of `rank`, which is lost, and closes its ring.
  void close(int rank);

  bool progress() override;
  void flush(int /*rank*/, CompletionContext& /*context*/) override {}
  void give_up(int /*rank*/) override {
  }  // that of HelperThread gives the channel's peer up, which closes this
  /// Makes senders call the helper, which wakes the program's threads.
  void arm() override;
  void disarm() override { asleep_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  [[nodiscard]] std::string explain(rma_status_t /*code*/, int /*rank*/) const override { return {}; }

 private:
  /// The ring from one rank.
  struct Ring {
    Ring(int from, std::byte* memory, const LineRingSizes& sizes) : sender(from), receiver(memory, sizes) {}
    const int sender;
    LineReceiver receiver;             ///< used with the turn, but for waiting()
    std::atomic<bool> closed = false;  ///< the sender is lost: what it writes is not read any more
  };

  /// Returns whether a ring has a message. The answer may be old.
  [[nodiscard]] bool waiting() const {
    const std::size_t count = count_.load(std::memory_order_acquire);  // pairs with offered()
    for (std::size_t i = 0; i < count; ++i) {
      const Ring& ring = *rings_[i];
      if (ring.receiver.waiting() && !ring.closed.load(std::memory_order_relaxed)) return true;
    }
    return false;
  }
  bool poll_waiting();

  // Handlers of the channel.
  [[nodiscard]] bool offered(const Message& message);
  [[nodiscard]] bool called(const Message& message);
  [[nodiscard]] bool take_channel(const Message& message);
  /// Looks at the rings as the helper, decides whether it listens or naps, and wakes the program's threads.
  void look();
  void end_nap();

  // With the turn.
  /// Takes in at most `most` messages of a ring. Returns whether there was any.
  bool take(Ring& ring, int most);
  /// Takes in one message. Returns false if no honest rank sends it.
  [[nodiscard]] bool take_one(Ring& ring, LineReceiver::Found found, const LineReceiver::Head& head);
  /// Takes in the messages of all rings, some of each. Returns whether there was any.
  bool take_some();
  /// Notes what the helper has seen. Returns whether messages have come and the program has polled.
  [[nodiscard]] bool attended();
  /// Does the same until all rings are empty.
  bool take_all();
  void listen();
  /// Decides whether the helper naps, and begins a nap of this length then.
  [[nodiscard]] bool nap(std::chrono::microseconds length);
  [[nodiscard]] bool start_clock(std::chrono::microseconds length) const;

  Channel& channel_;
  ActiveOutbox& outbox_;
  ProgressEngine& engine_;
  const ActiveRings rings_of_;
  const LineRingSizes sizes_;
  const TakeIn take_in_;
  Doorbell* const doorbell_;
  std::vector<std::unique_ptr<Ring>> rings_;  ///< with room for all ranks; the first count_ are valid
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::uint64_t> polls_ = 0;  ///< of the program's threads
  Descriptor clock_;                      ///< a timerfd that ends naps
  /// A thread of the program sleeps, or is about to. It is set with the turn.
  std::atomic<bool> asleep_ = false;
  bool armed_ = false;  ///< arm() was called, and progress() not yet; used with the engine's lock

  SpinLock turn_;                ///< guards the members below; taken after the channel's turn
  std::vector<std::byte> copy_;  ///< of the message that is taken in, which its sender may change
  bool listening_ = false;
  std::chrono::microseconds nap_ = kShortestNap;
  std::uint64_t taken_ = 0;  ///< how often a thread has taken messages in
  /// Both numbers when the helper looked last.
  std::uint64_t seen_taken_ = 0;
  std::uint64_t seen_polls_ = 0;
};

}  // namespace librma
