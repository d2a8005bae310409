#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "channel/channel.hpp"
#include "core/completion/pending_operations.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/wire.hpp"
#include "rma/active_messages.h"
#include "util/status.hpp"

/// A request whose handler runs. Only the thread that runs it may reply.
struct rma_am_token {
  std::atomic<std::uintptr_t> thread = 0;  ///< this_thread() of the handler's thread, or 0
  int source = -1;
  std::size_t rail = 0;
  bool replied = false;
};

namespace librma {

/// An active message to be sent.
struct ActiveMessage {
  int handler = -1;
  ActiveForm form =
      ActiveForm::words;  ///< words, medium or long_carried; the last one for every long message
  std::span<const std::uint64_t> words = {};
  std::span<const std::byte> payload = {};
  void* place = nullptr;  ///< of a long one, in the receiver's memory
};

/// The program's active messages (rma/active_messages.h): the table of handlers, requests, replies, and those
/// that arrive. Thread-safe.
///
/// A message of the channel carries each. The thread that has the channel's turn takes it in and runs the
/// handler; so handlers of messages from other ranks run one at a time. A message to this rank itself is
/// handled by the thread that sends it, under a lock of its own.
///
/// Flow control. A rank counts its requests to each other rank from the sending until it knows that the
/// handler has run, and waits at kMostOpen. A reply says so of its own request, and of all requests before it
/// that got none. A rank that owes kMostOwed of these without a reply says so in a message of its own. A
/// thread that waits for room handles messages, and replies are kept by the channel until they can be sent,
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
  };

  /// `channel` and `client` are null in a job that has no channel. The arguments outlive this.
  ActiveMessages(int rank, int ranks, PendingOperations& pending, Channel* channel, RpcClient* client,
                 Memory memory);

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
  /// Waits until `met` is true, or `rank` is lost (-1: none).
  [[nodiscard]] Status wait(const std::function<bool()>& met, int rank);

 private:
  struct Handler {
    rma_am_handler_t run = nullptr;
    void* context = nullptr;
  };
  struct Peer {
    std::atomic<std::uint32_t> open = 0;  ///< requests to it that may not have been handled
    std::atomic<std::int32_t> rail = -1;  ///< of messages to it, once one was sent
    std::atomic<bool> lost = false;
    std::uint32_t owed = 0;  ///< requests of it that were handled without a reply; used with the turn
  };
  /// The front of a message: header, words, place.
  struct Front;

  [[nodiscard]] Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Status check(const ActiveMessage& message, std::size_t most_long) const;
  [[nodiscard]] Status lost(int rank) const;

  // Sending.
  [[nodiscard]] Status reach(int rank, std::size_t& rail);
  [[nodiscard]] Status admit(int rank);
  /// Brings the payload of a long request into place, unless the message carries it. Sets `form`.
  [[nodiscard]] Status place_payload(int rank, const ActiveMessage& message, ActiveForm& form);
  [[nodiscard]] Status post(int rank, std::size_t rail, const ActiveMessage& message, ActiveForm form);
  void send_parts(const rma_am_token_t& token, const ActiveMessage& message, std::size_t from);
  void send_reply(const rma_am_token_t& token, const ActiveMessage& message);

  // Receiving: handlers of the channel, with the turn. False: no honest rank sends that.
  [[nodiscard]] bool receive(const Message& message);
  [[nodiscard]] bool settle(int rank, std::uint32_t count);
  [[nodiscard]] bool take_place(const Message& message, ActiveForm form, std::span<const std::byte>& body,
                                std::span<std::byte>& payload);
  void handle(rma_am_token_t* token, const rma_am_message_t& message) const;
  void owe(int rank, std::size_t rail);

  // Messages to this rank.
  void handle_own(rma_am_token_t* token, const ActiveMessage& message) const;

  const int rank_;
  PendingOperations& pending_;
  Channel* const channel_;
  RpcClient* const client_;
  const Memory memory_;
  const std::size_t most_medium_;
  std::vector<Peer> peers_;  ///< by rank
  std::mutex adding_;
  std::array<Handler, RMA_AM_HANDLERS> handlers_;
  std::atomic<int> handler_count_ = 0;  ///< release: publishes the handlers below it
  rma_am_token turn_token_;             ///< of the message that is taken in with the turn
  std::mutex own_lock_;                 ///< held while a request to this rank is handled
  rma_am_token own_token_;
};

}  // namespace librma
