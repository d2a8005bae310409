#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "transport/attendants.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/ofi/ofi_lane.hpp"
#include "transport/ofi/ofi_memory.hpp"
#include "transport/ofi/ofi_operations.hpp"
#include "transport/service_thread.hpp"
#include "transport/transport.hpp"
#include "util/system/descriptor.hpp"

namespace librma::transport {

/// Drives a provider: reads its completion queue, which is also what makes most providers send and receive.
/// Every thread that polls does so. While none polls, the service thread sleeps at the queue's descriptor and
/// does it; so a peer's transfers arrive while this process computes or sleeps. Thread-safe.
///
/// While threads of the program drive, the service thread would wake at each packet for nothing. Worse, it
/// would take the provider's lock, which a thread that polls needs all the time; if it loses its processor
/// then, the others wait. So it leaves the provider alone while a thread is inside a wait (Attendants), also
/// if that thread has lost its processor and polls nothing, and while threads poll without waiting. It sleeps
/// by a clock then. If one wait lasts as long as such a nap, it sleeps until the wait is over. It returns to
/// the descriptor when no thread waits or has polled, and when the thread that drives says that it sleeps
/// (rouse()).
class OfiDriver {
 public:
  struct Lanes {
    OfiLane& data;
    OfiLane& messages;
  };
  /// Returns the peer that a message with this mark (mark_of()) comes from; null if it comes from none.
  using Sender = std::function<OfiPeer*(std::uint64_t mark)>;
  /// Called with the memory of a handshake that has arrived (`arrived`: its size) or that was sent (0).
  using HandshakeEnded = std::function<void(const Local& memory, std::size_t arrived)>;

  OfiDriver(std::string name, OfiOperations& operations, const OfiMemory& memory, Lanes lanes, Sender sender)
      : name_(std::move(name)),
        operations_(operations),
        memory_(memory),
        lanes_(lanes),
        sender_(std::move(sender)) {}

  /// The objects that it drives; they outlive its use. `fd` is the queue's descriptor, or -1 if the provider
  /// has none and must be polled.
  struct Objects {
    fid_fabric* fabric = nullptr;
    fid_ep* endpoint = nullptr;
    fid_cq* queue = nullptr;
    int fd = -1;
    std::chrono::milliseconds timeout{
        0};  ///< a peer for which the provider takes nothing for so long is lost
  };
  /// Takes over the objects of the provider. RMA_ERR_SYSTEM.
  [[nodiscard]] Status open(const Objects& objects, HandshakeEnded handshake_ended);
  /// Adds the handlers. `serve` is called on the service thread after it has driven the provider; it returns
  /// whether it wants to be called again soon.
  void watch(ServiceThread& service, std::function<bool()> serve);

  /// See Transport::follow().
  void follow(Attendants& attendants);
  /// Makes the service thread drive the provider, also while threads of the program are inside a wait, until
  /// insist_no_more(). A thread that connects needs this: it waits for handshakes, which the service thread
  /// answers, and may be inside a wait itself.
  void insist() {
    insisted_.fetch_add(1, std::memory_order_seq_cst);
    call_service();
  }
  void insist_no_more() { insisted_.fetch_sub(1, std::memory_order_seq_cst); }

  /// See Transport::watch_writes().
  void watch_writes(std::function<void()> written) {
    written_ = std::move(written);
    watched_.store(true, std::memory_order_release);  // pairs with the load in the handler
  }

  /// Takes in what has ended, unless another thread does it.
  void drive();
  /// Returns how often a thread has done so, modulo 2^32.
  [[nodiscard]] std::uint32_t drives() const { return drives_.load(std::memory_order_relaxed); }
  /// Does the same for a thread that polls.
  void poll();
  /// Says that a thread polls once more and then sleeps. The service thread returns to the queue's
  /// descriptor.
  void rouse();
  /// Makes the service thread call `serve`.
  void call_service();
  /// Returns whether threads of the program drive, and the service thread looks again by its clock or when
  /// they are through.
  [[nodiscard]] bool leaves_it_to_threads() const {
    return service_.load(std::memory_order_seq_cst) !=
           Service::at_queue;  // pairs with the store in prepare()
  }

  /// Posts an operation by `issue(context)`, which returns what libfabric returns. RMA_ERR_STATE if the peer
  /// has `most` operations of this kind, if there is no memory for another one, or if the provider takes no
  /// more now; RMA_ERR_PEER_LOST.
  template <typename Issue>
  [[nodiscard]] rma_status_t post(const OfiPurpose& wanted, std::uint32_t most, const Issue& issue) {
    OfiPeer& peer = *wanted.peer;
    std::atomic<std::uint32_t>& posted = peer.count(wanted.kind);
    if (posted.fetch_add(1, std::memory_order_relaxed) >= most) {
      posted.fetch_sub(1, std::memory_order_relaxed);
      if (wanted.confirms) end_confirmation(peer);
      return peer.failed.load(std::memory_order_relaxed) ? RMA_ERR_PEER_LOST : RMA_ERR_STATE;
    }
    OfiPurpose purpose = wanted;
    OfiOperation* const operation = take(purpose);
    if (operation == nullptr) return refuse(purpose);
    long error = -FI_EAGAIN;
    for (int tries = 0; tries < kTries; ++tries) {
      error = issue(static_cast<void*>(&operation->context));
      if (error != -FI_EAGAIN) break;
      drive();  // the provider connects, or has no room
    }
    if (error != 0) return withdraw(purpose, operation, error);
    peer.refused_since.store(0, std::memory_order_relaxed);
    return RMA_SUCCESS;
  }
  /// Adds a write without data that need not be posted (see OfiOrder). Returns false if it must be.
  [[nodiscard]] bool ride(OfiPeer& peer, Cookie cookie);
  /// Posts a receive from any peer, or a handshake.
  template <typename Issue>
  [[nodiscard]] long post_free(const OfiPurpose& wanted, const Issue& issue) {
    OfiOperation* const operation = operations_.take(wanted);
    if (operation == nullptr) return -FI_ENOMEM;
    const long error = issue(static_cast<void*>(&operation->context));
    if (error != 0) operations_.give(operation);
    return error;
  }
  /// Returns whether a message to the peer that is about to be posted shall ask for a confirmation that it
  /// and all messages before it have arrived. One is under way at a time. While threads poll, the service
  /// thread asks for it after each of its naps, because an answer to each message would cost as much as a
  /// message.
  [[nodiscard]] bool confirms_next(OfiPeer& peer) {
    if (napping()) return false;
    if (peer.confirming.exchange(true, std::memory_order_seq_cst)) return false;
    peer.unconfirmed.store(false, std::memory_order_seq_cst);  // it confirms those before it
    return true;
  }
  /// Records that a message to the peer was posted that asks for no confirmation. One that will be asked for
  /// covers it.
  void add_unconfirmed(OfiPeer& peer);
  /// Posts a buffer for messages.
  [[nodiscard]] long post_buffer(const Local& buffer, Cookie cookie);

  /// Gives a peer up.
  void fail(OfiPeer& peer);

 private:
  /// Attempts to post while the provider says "try again" and is driven.
  static constexpr int kTries = 256;
  /// The sleeps of the service thread while another thread polls.
  static constexpr std::chrono::microseconds kShortestNap{50};
  static constexpr std::chrono::microseconds kLongestNap{1600};
  static constexpr std::chrono::microseconds kSoon{200};

  /// Takes an operation with all the memory that its end needs: the provider cannot be told to wait then.
  /// Returns null if there is no memory, or if the peer has failed.
  [[nodiscard]] OfiOperation* take(OfiPurpose& purpose);
  /// Ends the counts of an operation that take() has refused. Returns the reason.
  [[nodiscard]] rma_status_t refuse(const OfiPurpose& purpose);
  [[nodiscard]] rma_status_t withdraw(const OfiPurpose& purpose, OfiOperation* operation, long error);
  /// Returns whether the provider has taken nothing for the peer for the whole timeout: some say "try again"
  /// for ever if a peer has ended.
  [[nodiscard]] bool refused_for_long(OfiPeer& peer) const;
  /// If there is need, sends an empty write, whose completion says that all messages to the peer have
  /// arrived.
  void confirm(OfiPeer& peer);
  void confirm_later(OfiPeer& peer);
  void confirm_waiting();
  /// Records that no confirmation is under way. If there is need of another one, it is asked for later: by
  /// drive(), or after the service thread's nap.
  void end_confirmation(OfiPeer& peer);
  /// Ends the counts of an operation that the provider does not have any more.
  void uncount(const OfiPurpose& purpose);
  /// Ends an operation of the kind `data` among those of its peer, and the empty writes behind it.
  void end_in_order(const OfiPurpose& purpose);
  using Entries = std::array<fi_cq_msg_entry, 32>;
  [[nodiscard]] ServiceThread::Sleep prepare();
  /// Returns whether a thread of the program is inside a wait and drives the provider, or will when it runs.
  [[nodiscard]] bool attended(Attendants::Look look) const {
    return Attendants::any(look) && sleeper_.load(std::memory_order_seq_cst) == Sleeper::none &&
           insisted_.load(std::memory_order_seq_cst) == 0;
  }
  [[nodiscard]] Attendants::Look look() const {
    return attendants_ != nullptr ? attendants_->look() : Attendants::Look{0};
  }
  /// Makes the service thread rely on those who wait: it need not wake before they are through. Returns
  /// false if others wait than at the look `now`, or none.
  [[nodiscard]] bool rely(Attendants::Look now);
  /// Ends that.
  void rely_no_more();
  /// Drives the queue for the service thread when it wakes, unless a thread of the program does.
  void serve_queue();
  [[nodiscard]] bool napping() const { return service_.load(std::memory_order_relaxed) == Service::naps; }
  /// Says whether the queue's descriptor will be readable when there is something to do.
  enum class Quiet : std::uint8_t { yes, no, another_drives };
  [[nodiscard]] Quiet may_sleep();
  /// Ends the operations that a read of the queue has found. Returns whether there may be more.
  bool take_in(const Entries& entries, ssize_t read);
  void read_error();
  /// Gives up the peers of the operations that have failed.
  void end_failed();
  void end(OfiOperation& operation, const fi_cq_msg_entry& entry);
  void end_receive(const OfiPurpose& ended, const fi_cq_msg_entry& entry);
  /// Posts a buffer again into which nothing has come that anybody waits for.
  void post_again(const OfiPurpose& ended);
  [[nodiscard]] OfiLane& lane_of(OfiKind kind) {
    return kind == OfiKind::data ? lanes_.data : lanes_.messages;
  }

  const std::string name_;
  OfiOperations& operations_;
  const OfiMemory& memory_;
  const Lanes lanes_;
  const Sender sender_;
  Objects objects_;
  HandshakeEnded handshake_ended_;
  std::function<bool()> serve_;
  std::function<void()> written_;
  std::atomic<bool> watched_ = false;  ///< `written_` is set
  std::mutex queue_lock_;              ///< held by the thread that reads the queue
  OfiOperation* failed_ = nullptr;     ///< a list for end_failed(); by queue_lock_
  bool signaled_ = false;  ///< something has ended since the service thread went to sleep; by queue_lock_
  Descriptor call_;        ///< wakes the service thread
  std::atomic<OfiPeer*> to_confirm_ = nullptr;  ///< a list of peers for confirm_waiting()
  /// How often a thread has polled; threads that count at the same time may lose counts.
  std::atomic<std::uint64_t> polls_ = 0;
  std::atomic<std::uint32_t> drives_ = 0;
  /// The thread of the program that sleeps for completions: `about` to look for the last time, or `asleep`.
  enum class Sleeper : std::uint8_t { none, about, asleep };
  std::atomic<Sleeper> sleeper_ = Sleeper::none;
  std::atomic<int> insisted_ = 0;  ///< see insist()
  /// The service thread sleeps at the queue's descriptor, by the clock, or until a wait is over.
  enum class Service : std::uint8_t { at_queue, naps, relies };
  std::atomic<Service> service_ = Service::at_queue;
  /// A nap is over, and threads drive: the next of them asks for the confirmations that are due.
  std::atomic<bool> confirm_due_ = false;
  Attendants* attendants_ = nullptr;
  // The rest belongs to the service thread.
  std::uint64_t polls_seen_ = 0;
  Attendants::Look look_seen_ = 0;
  std::chrono::microseconds nap_ = kShortestNap;
  bool soon_ = false;
};

}  // namespace librma::transport
