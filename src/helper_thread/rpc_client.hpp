#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "channel/channel.hpp"
#include "core/completion/pending_operations.hpp"
#include "core/network/network.hpp"
#include "fabric/bounce_pool.hpp"
#include "helper_thread/wire.hpp"
#include "util/status.hpp"
#include "util/tables/slot_table.hpp"

namespace librma {

/// Receives an answer. The thread that takes the answer in calls it, before the operation of the request
/// ends. It does not wait. Returns the status with which this part of the operation ends.
using Answered = std::function<rma_status_t(rma_status_t status, std::span<const std::byte> body)>;

/// A request to another rank's helper.
struct RpcRequest {
  int rank = -1;
  RequestKind kind = RequestKind::count_;
  std::span<const std::byte> head = {};  ///< the body is `head` and then `tail`, or is in the buffer
  std::span<const std::byte> tail = {};
  std::byte* buffer = nullptr;     ///< from RpcClient::take_buffer(), freed after the answer; or null
  std::size_t buffered_bytes = 0;  ///< bytes of the body in the buffer
  std::size_t reply_room = 0;      ///< most bytes of the answer; a long answer goes to the buffer
  rma_request_t operation = RMA_REQUEST_NULL;  ///< waits for the answer; if null, the next fence does
  CompletionContext* context = nullptr;        ///< ask() sets it: of that fence
  Answered answered = {};                      ///< may be empty
};

/// Sends this process's requests to other ranks' helpers and takes in the answers. Thread-safe.
///
/// Each request is a part of its operation (PendingOperations). It ends with the answer's status, or with
/// RMA_ERR_PEER_LOST if the rank is lost. A rank executes the requests of this process in the order of
/// sending. Data that was put there by RDMA before a request is in place when the request is executed.
class RpcClient {
 public:
  /// `network` is null in a job without one. The arguments outlive this.
  RpcClient(PendingOperations& pending, Network* network, Channel& channel, Rails& rails,
            std::size_t buffer_bytes, std::size_t buffers);

  /// Returns whether requests to `rank` stay within this host.
  [[nodiscard]] bool local(int rank) const { return channel_.local(rank); }

  /// Returns the most bytes of a body, or of an answer, that need no buffer.
  [[nodiscard]] std::size_t most_in_message() const { return most_in_message_; }
  [[nodiscard]] std::size_t most_in_reply() const { return most_in_reply_; }
  /// Returns the size of a buffer, or most_in_message() if no buffers could be registered.
  [[nodiscard]] std::size_t buffer_bytes() const;
  [[nodiscard]] bool has_buffers() const { return pool() != nullptr; }
  /// Takes a buffer. Makes progress of `rank` and waits until one is free. Returns null if lost ranks may
  /// still write to all of them.
  [[nodiscard]] std::byte* take_buffer(int rank);
  void give_buffer(std::byte* buffer) { pool()->give(buffer); }

  /// Sends a request. Waits first while kMostOpenRequests to the rank are open. If it returns an error, the
  /// request was not sent and will not be answered, and its buffer is given back. RMA_ERR_PEER_LOST,
  /// RMA_ERR_UNSUPPORTED, RMA_ERR_LAUNCH. Throws std::bad_alloc, which means the same.
  [[nodiscard]] Status ask(RpcRequest request);
  /// Connects, waits for the data that was put to `rank`, and stores the rail for messages into `*rail`. The
  /// errors of ask().
  [[nodiscard]] Status reach(int rank, std::size_t* rail);

 private:
  // Handlers of the channel.
  [[nodiscard]] bool receive(const Message& message);
  [[nodiscard]] bool receive_done(const Message& message);
  void lost(int rank);

  /// Returns the buffers for requests, or null if they could not be registered. The first call makes them.
  [[nodiscard]] BouncePool* pool() const;

  struct OpenRequest {
    explicit OpenRequest(std::uint64_t own_name) : name(own_name) {}
    const std::uint64_t name;  ///< the token
    RpcRequest request;
  };
  [[nodiscard]] Status unsent(rma_status_t status, int rank) const;
  /// Opens a request and stores its token. Returns false and leaves the request untouched if
  /// kMostOpenRequests are open.
  [[nodiscard]] bool open(RpcRequest& request, std::uint64_t& token);
  /// Takes out an open request of `rank`. Returns false if there is none with this token.
  [[nodiscard]] bool take(std::uint64_t token, int rank, RpcRequest& request);
  void close(RpcRequest& request, rma_status_t status, std::span<const std::byte> body);

  PendingOperations& pending_;
  Network* const network_;
  Channel& channel_;
  const std::size_t most_in_message_;
  const std::size_t most_in_reply_;
  Rails& rails_;
  const std::size_t pool_bytes_;  ///< bytes of one buffer
  const std::size_t pool_count_;
  mutable std::once_flag made_pool_;
  mutable std::unique_ptr<BouncePool> pool_;
  SlotTable<OpenRequest> open_requests_;
  std::mutex lock_;                    ///< guards the member below
  std::map<int, std::size_t> opened_;  ///< number of open requests, by rank
};

}  // namespace librma
