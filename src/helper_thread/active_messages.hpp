#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "channel/channel.hpp"
#include "core/completion/pending_operations.hpp"
#include "helper_thread/active_inbox.hpp"
#include "helper_thread/active_outbox.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/wire.hpp"
#include "rma/active_messages.h"
#include "util/statistics.hpp"
#include "util/status.hpp"
#include "util/waiting/wait.hpp"

/// A request whose handler runs. Only the thread that runs it may reply.
struct rma_am_token {
  std::atomic<std::uintptr_t> thread = 0;  ///< this_thread() of the handler's thread, or 0
  int source = -1;
  std::size_t rail = 0;
  bool replied = false;
};

namespace librma {

/// The calling thread runs a handler with this token.
class ActiveHandling {
 public:
  ActiveHandling(rma_am_token& token, int source, std::size_t rail) : token_(token) {
    token.source = source;
    token.rail = rail;
    token.replied = false;
    token.thread.store(this_thread(), std::memory_order_relaxed);
  }
  ~ActiveHandling() { token_.thread.store(0, std::memory_order_relaxed); }
  ActiveHandling(const ActiveHandling&) = delete;
  ActiveHandling& operator=(const ActiveHandling&) = delete;

 private:
  rma_am_token& token_;
};

/// An active message (AM) to be sent.
struct ActiveMessage {
  int handler = -1;
  ActiveForm form =
      ActiveForm::words;  ///< words, medium or long_carried; the last one for every long message
  std::span<const std::uint64_t> words = {};
  std::span<const std::byte> payload = {};
  void* place = nullptr;  ///< of a long one, in the receiver's memory
};

/// The program's active messages (AM, rma/active_messages.h): the table of handlers, requests, replies, and
/// those that arrive. Thread-safe.
///
/// A ring carries each message to a rank of this host, and the channel those to other hosts (ActiveOutbox).
/// The thread that has the inbox's turn takes a message in and runs the handler; so handlers of messages from
/// other ranks run one at a time (ActiveInbox). A message to this rank itself is handled by the thread that
/// sends it, under a lock of its own.
///
/// Flow control. A rank counts its requests to each other rank from the sending until it knows that the
/// handler has run, and waits at kMostOpen. A reply says so of its own request, and of all requests before it
/// that got none. A rank that owes kMostOwed of these without a reply says so in a message of its own. A
/// thread that waits for room handles messages, and replies are kept by the outbox until they can be sent,
/// at most kMostOpen times kReplyParts for each rank. So ranks that flood each other do not wait for each
/// other.
class ActiveMessages {
 public:
  static constexpr std::uint32_t kMostOpen = RMA_AM_OPEN;
  static constexpr std::uint32_t kMostOwed = kMostOpen / 4;
  /// The most messages that the payload of a long reply takes.
  static constexpr std::size_t kReplyParts = 32;

  /// How payloads of long messages reach memory.
  struct Memory {
    /// Returns where memory of a rank is mapped here, or null.
    std::function<std::byte*(const void* address, std::size_t bytes, int rank)> mapped;
    /// Returns whether `peer` may name this memory of this process.
    std::function<bool(std::uintptr_t address, std::size_t bytes, int peer)> in_reach;
    /// Puts data into the memory of a rank and waits until it is there.
    std::function<Status(void* dst, std::span<const std::byte> data, int rank)> put;
    ActiveRings rings = {};  ///< not used in a job that has no channel
  };
  /// The size of a job, and of the part of it that rings may reach.
  struct Ranks {
    int own = 0;
    int all = 1;
    /// Whether all ranks may have rings. Then a poll leaves the channel to the helper for some time.
    bool rings_to_all = false;
  };

  /// `channel` and `client` are null in a job that has no channel. The arguments outlive this.
  ActiveMessages(const Ranks& ranks, PendingOperations& pending, Channel* channel, RpcClient* client,
                 Memory memory);
  /// See ActiveInbox::serve_in().
  void serve_in(transport::ServiceThread& service) {
    if (inbox_) inbox_->serve_in(service);
  }

  /// Registers a handler under the next number. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Result<int> add(rma_am_handler_t handler, void* context);
  /// Returns the most bytes of a medium payload, and of that of a long reply.
  [[nodiscard]] std::size_t most_medium() const { return most_medium_; }
  [[nodiscard]] std::size_t most_long_reply() const { return most_medium_ * kReplyParts; }

  /// Returns whether the calling thread is in a handler.
  [[nodiscard]] bool handling() const;
  /// Sends a request; waits for room. RMA_ERR_ARGUMENT (no such handler), RMA_ERR_SIZE, RMA_ERR_STATE,
  /// RMA_ERR_PEER_LOST, the errors of a put.
  [[nodiscard]] Status request(int rank, const ActiveMessage& message);
  /// Sends a reply. Does not wait. The same errors.
  [[nodiscard]] Status reply(rma_am_token_t* token, const ActiveMessage& message);
  /// Takes in what has come, and runs the handlers. `policy` says whether it lets other ranks run if there is
  /// nothing. RMA_ERR_STATE.
  [[nodiscard]] Status poll(const WaitPolicy& policy);
  /// Does the same for messages of rings only. Returns whether there were any.
  bool poll_rings() { return inbox_ && inbox_->poll(); }
  /// Waits until `met` is true, or `rank` is lost (-1: none).
  [[nodiscard]] Status wait(const WaitPolicy& policy, const std::function<bool()>& met, int rank);

 private:
  struct Handler {
    rma_am_handler_t run = nullptr;
    void* context = nullptr;
  };
  struct ActivePeer {
    std::atomic<std::uint32_t> open = 0;  ///< requests to it that may not have been handled
    std::atomic<std::int32_t> rail = -1;  ///< of messages to it, once one was sent
    std::atomic<bool> lost = false;
    std::uint32_t owed = 0;  ///< requests of it that were handled without a reply; used with the turn
  };

  [[nodiscard]] ActivePeer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Status check(const ActiveMessage& message, std::size_t most_long) const;
  [[nodiscard]] Status lost(int rank) const;

  // Sending.
  [[nodiscard]] Status reach(int rank, std::size_t& rail);
  [[nodiscard]] Status admit(int rank);
  /// Brings the payload of a long request into place, unless the message carries it. Sets `form` then.
  [[nodiscard]] Status place_payload(int rank, const ActiveMessage& message, ActiveForm& form);
  /// Sends a short message, if its words fit a line and the ring has one.
  [[nodiscard]] bool send_at_once(int rank, const ActiveMessage& message, ActiveHeader header);
  [[nodiscard]] Status post(int rank, std::size_t rail, const ActiveMessage& message, ActiveForm form);
  void send_parts(const rma_am_token_t& token, const ActiveMessage& message, std::size_t from);
  void send_reply(const rma_am_token_t& token, const ActiveMessage& message);

  /// Takes messages from rings while it polls, until `condition` holds. Returns whether it does.
  template <typename Condition>
  [[nodiscard]] bool poll_rings_until(const WaitPolicy& policy, const Condition& condition);

  // Receiving, with the inbox's turn. These return false if no honest rank sends such a message.
  [[nodiscard]] bool receive(int source, std::size_t rail, std::span<const std::byte> body);
  [[nodiscard]] bool settle(int rank, std::uint32_t count);
  [[nodiscard]] bool take_place(int source, ActiveForm form, std::span<const std::byte>& body,
                                std::span<std::byte>& payload);
  void handle(rma_am_token_t* token, const rma_am_message_t& message) const;
  void owe(int rank, std::size_t rail);

  // Messages to this rank.
  void handle_own(rma_am_token_t* token, const ActiveMessage& message) const;

  const int rank_;
  const bool rings_to_all_;
  PendingOperations& pending_;
  RpcClient* const client_;
  const Memory memory_;
  const std::size_t most_medium_;
  std::vector<ActivePeer> peers_;  ///< by rank
  std::mutex adding_;
  std::array<Handler, RMA_AM_HANDLERS> handlers_;
  std::atomic<int> handler_count_ = 0;  ///< release: publishes the handlers below it
  rma_am_token turn_token_;             ///< of the message that is taken in with the turn
  std::mutex own_lock_;                 ///< held while a request to this rank is handled
  rma_am_token own_token_;
  std::atomic<unsigned> empty_polls_ = 0;  ///< since the last look at the channel; threads may lose counts
  std::optional<ActiveOutbox> outbox_;     ///< this and the next have no value without a channel
  std::optional<ActiveInbox> inbox_;
};

}  // namespace librma
