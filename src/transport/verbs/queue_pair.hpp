#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "transport/transport.hpp"
#include "transport/verbs/handshake.hpp"
#include "transport/verbs/objects.hpp"
#include "util/status.hpp"

namespace librma::transport {

/// Counts how many more work requests may be posted so that the completion queue has room for a completion of
/// each. All queue pairs of one completion queue share it, so the queue never overruns.
class Credits {
 public:
  explicit Credits(std::uint32_t most) : left_(static_cast<std::int64_t>(most)) {}

  [[nodiscard]] bool take(std::uint32_t count) {
    if (left_.fetch_sub(count, std::memory_order_relaxed) >= static_cast<std::int64_t>(count)) return true;
    give(count);
    return false;
  }
  void give(std::uint32_t count) { left_.fetch_add(count, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> left_;
};

/// The id of a work request, which its completion carries: the queue and the number of the request there.
struct RequestId {
  std::uint32_t queue = 0;   ///< the number that SendQueue was given
  std::uint32_t number = 0;  ///< the number of the request, counted from 0, modulo 2^32

  [[nodiscard]] std::uint64_t encode() const { return std::uint64_t{queue} << 32U | number; }
  [[nodiscard]] static RequestId decode(std::uint64_t id) {
    return {.queue = static_cast<std::uint32_t>(id >> 32U), .number = static_cast<std::uint32_t>(id)};
  }
};

/// The sending side of a reliable connection's queue pair. It posts requests in chains. Of unsignaled
/// requests it asks for a completion of every k-th. From each completion it learns which slots of the queue
/// are free again. Thread-safe.
class SendQueue {
 public:
  struct Options {
    std::uint32_t depth = 0;   ///< requests that may be posted and not known to be complete
    std::uint32_t gather = 1;  ///< pieces of one request
    std::uint32_t inline_bytes = 0;
    std::uint32_t scatters = 0;  ///< receives that the queue pair itself holds, of up to `gather` pieces
  };
  /// A request that has ended.
  struct Ended {
    Cookie cookie = 0;
    bool report = false;         ///< the poster waits for its completion
    std::uint32_t requests = 0;  ///< this one and those before it that nobody has reported
  };

  /// Completions of this queue carry `number`.
  SendQueue(std::uint32_t number, const Options& options, Credits& credits)
      : number_(number), options_(options), credits_(credits), ring_(std::bit_ceil(options.depth)) {}

  /// Makes the queue pair, which completes to `completions`. It receives into the buffers of `receives`; if
  /// that is null, into the memory that post_scatter() posts. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status create(ibv_pd* domain, ibv_cq* completions, ibv_srq* receives, const Port& port);

  [[nodiscard]] ibv_qp* handle() const { return queue_pair_.get(); }

  /// Posts as much of `work` as there is room for. RMA_ERR_STATE if that is not all of it.
  [[nodiscard]] rma_status_t post(std::span<const Work> work, std::size_t* posted);
  [[nodiscard]] rma_status_t post_atomic(rma_atomic_op_t op, Remote target, std::uint64_t operand,
                                         std::uint64_t compare, Local old, Cookie cookie);
  [[nodiscard]] rma_status_t post_send(std::span<const Local> pieces, Cookie cookie, PostFlags flags);
  /// Posts a receive. Its completion has the id `id`.
  [[nodiscard]] rma_status_t post_scatter(std::span<const Local> pieces, std::uint64_t id);
  /// Handles the completion of a scatter.
  void retire_scatter();

  /// Handles the completion of request `number`. This request and all before it have ended.
  [[nodiscard]] Ended retire(std::uint32_t number, bool good);

  /// Returns the number of requests that are posted and not known to have ended.
  [[nodiscard]] std::uint32_t outstanding() {
    const std::lock_guard guard(lock_);
    return posted_ - retired_;
  }

  /// Puts the queue pair into its error state. Posted requests complete in error, and later
  /// posts are refused.
  void fail();
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  struct Slot {
    Cookie cookie = 0;
    bool report = false;
  };

  [[nodiscard]] std::uint32_t room() const { return options_.depth - (posted_ - retired_); }
  /// Fills in the fields that all requests have, and the request's slot. The caller holds the lock, and
  /// there is room.
  void prepare(ibv_send_wr& request, std::uint32_t number, Cookie cookie, PostFlags flags);
  [[nodiscard]] rma_status_t submit(ibv_send_wr* first, std::uint32_t count, std::size_t* posted);
  [[nodiscard]] rma_status_t submit_one(ibv_send_wr& request, Cookie cookie, PostFlags flags);

  const std::uint32_t number_;
  Options options_;
  Credits& credits_;
  QueuePair queue_pair_;
  std::mutex lock_;               ///< guards the members below and the order of posting
  std::vector<Slot> ring_;        ///< by request number modulo its size; both this size and 2^32 are
                                  ///< powers of two
  std::uint32_t posted_ = 0;      ///< number of the next request
  std::uint32_t retired_ = 0;     ///< all requests before this one have ended
  std::uint32_t scatters_ = 0;    ///< scatters that are posted and have not ended
  std::uint32_t unsignaled_ = 0;  ///< requests since the last one that asked for a completion
  std::atomic<bool> failed_ = false;
};

}  // namespace librma::transport
