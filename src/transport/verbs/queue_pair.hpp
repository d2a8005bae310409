#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "transport/transport.hpp"
#include "transport/verbs/greeting.hpp"
#include "transport/verbs/objects.hpp"
#include "util/status.hpp"

namespace rma::transport {

/// How many more work requests the completion queue has room for, should each of them complete. Shared by
/// all queue pairs of one completion queue: it never overruns, whatever they do.
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

/// What a queue pair's requests say of themselves in their completions: whose they are, and which.
struct RequestId {
  std::uint32_t queue = 0;   ///< number given to SendQueue
  std::uint32_t number = 0;  ///< of the request, counted from 0, modulo 2^32

  [[nodiscard]] std::uint64_t encode() const { return std::uint64_t{queue} << 32U | number; }
  [[nodiscard]] static RequestId decode(std::uint64_t id) {
    return {.queue = static_cast<std::uint32_t>(id >> 32U), .number = static_cast<std::uint32_t>(id)};
  }
};

/// A reliable connection's queue pair, seen from its sending side: posts requests in chains, asks for a
/// completion of every k-th of those that nobody waits for, and knows from each completion which slots are
/// free again. Thread-safe.
class SendQueue {
 public:
  struct Shape {
    std::uint32_t depth = 0;   ///< requests posted and not known complete
    std::uint32_t gather = 1;  ///< pieces of one request
    std::uint32_t inline_bytes = 0;
    std::uint32_t scatters = 0;  ///< receives of the queue pair's own, of up to `gather` pieces
  };
  /// What one ended request was.
  struct Ended {
    Cookie cookie = 0;
    bool report = false;  ///< someone waits for it
  };

  /// `number` names this queue in its completions.
  SendQueue(std::uint32_t number, const Shape& shape, Credits& credits)
      : number_(number), shape_(shape), credits_(credits), ring_(std::bit_ceil(shape.depth)) {}

  /// Makes the queue pair, which completes to `completions`. It receives from `receives`, or where that is
  /// null, into what post_scatter() posts. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status create(ibv_pd* domain, ibv_cq* completions, ibv_srq* receives, const Port& port);

  [[nodiscard]] ibv_qp* handle() const { return queue_pair_.get(); }

  /// Posts as much of `work` as there is room for; RMA_ERR_STATE when that is not all.
  [[nodiscard]] rma_status_t post(std::span<const Work> work, std::size_t* posted);
  [[nodiscard]] rma_status_t post_atomic(rma_atomic_op_t op, Remote target, std::uint64_t operand,
                                         std::uint64_t compare, Local old, Cookie cookie);
  [[nodiscard]] rma_status_t post_send(std::span<const Local> pieces, Cookie cookie, PostFlags flags);
  /// A receive, whose completion has the id `id`.
  [[nodiscard]] rma_status_t post_scatter(std::span<const Local> pieces, std::uint64_t id);
  /// Takes in the completion of a scatter.
  void retire_scatter();

  /// Takes in the completion of request `number`: it and all before it are over.
  [[nodiscard]] Ended retire(std::uint32_t number, bool good);

  /// Requests posted and not known to be over.
  [[nodiscard]] std::uint32_t outstanding() {
    const std::lock_guard guard(lock_);
    return posted_ - retired_;
  }

  /// Puts the queue pair into its error state: what is posted completes in error, later posts are refused.
  void fail();
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  struct Slot {
    Cookie cookie = 0;
    bool report = false;
  };

  [[nodiscard]] std::uint32_t room() const { return shape_.depth - (posted_ - retired_); }
  /// Fills in the part that all requests have, and the slot. The caller holds the lock, and there is room.
  void prepare(ibv_send_wr& request, std::uint32_t number, Cookie cookie, PostFlags flags);
  [[nodiscard]] rma_status_t submit(ibv_send_wr* first, std::uint32_t count, std::size_t* posted);
  [[nodiscard]] rma_status_t submit_one(ibv_send_wr& request, Cookie cookie, PostFlags flags);

  const std::uint32_t number_;
  Shape shape_;
  Credits& credits_;
  QueuePair queue_pair_;
  std::mutex lock_;               ///< of the following, and of the order of posting
  std::vector<Slot> ring_;        ///< by request number modulo its size, a power of two as 2^32 is
  std::uint32_t posted_ = 0;      ///< number of the next request
  std::uint32_t retired_ = 0;     ///< all requests before this one are over
  std::uint32_t scatters_ = 0;    ///< posted and not over
  std::uint32_t unsignaled_ = 0;  ///< requests since the last that asked for a completion
  std::atomic<bool> failed_ = false;
};

}  // namespace rma::transport
