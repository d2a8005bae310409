#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "transport/attendants.hpp"
#include "util/status.hpp"

// The contract between the runtime and the devices that carry its bytes. It follows verbs: a process posts
// work to a peer, and learns by polling that the work is complete. A transport does not know what ranks,
// messages and memory mean to the job. It has no policy: it refuses work that is too large, and returns
// RMA_ERR_STATE if it has no room for the work now.

namespace librma::transport {

/// The limits of a device. They are read when it is opened and never assumed.
struct Limits {
  std::uint64_t max_message = 0;      ///< most bytes of one write or read
  std::uint32_t max_gather = 1;       ///< most local pieces of one write or read
  std::uint32_t max_inline = 0;       ///< most bytes that a write copies at posting, which frees its source
  std::uint32_t max_outstanding = 0;  ///< most operations to one peer that may be posted and not yet polled
  bool atomics64 = false;             ///< fetch-and-add and compare-and-swap on 8 bytes
  bool completes_at_once = false;     ///< operations are complete when they are posted
  bool ordered_bytes = true;          ///< the bytes of a write are placed in the order of their addresses
  bool late_transfers = false;        ///< a peer that was given up may take part in what was posted before
  bool needs_polling = false;         ///< nothing wakes a thread that sleeps; see Transport::event_fd()
};

/// The transport's name for a registered range: its remote key, which goes to peers, or its local descriptor,
/// which may be a pointer. Only the transport interprets it. 0 is never the remote key of a range that peers
/// can reach.
using Key = std::uint64_t;

struct Registration {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  Key local = 0;   ///< for Local::key
  Key remote = 0;  ///< for Remote::key in peers
};

/// A piece of this process's memory.
struct Local {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  Key key = 0;
};

/// A place in a peer's memory, by the peer's own address.
struct Remote {
  std::uintptr_t address = 0;
  Key key = 0;
};

/// The name of the operation that a completion belongs to. The poster chooses it, below 2^63. 0 names no
/// operation, and is for unsignaled work. A completion with 0 is always a failure, either of such work or of
/// the whole connection to the peer.
using Cookie = std::uint64_t;

/// Options of one operation.
struct PostFlags {
  bool inline_data = false;  ///< copy the source now; at most Limits::max_inline bytes
  bool unsignaled = false;   ///< report no success; a failure is always reported
  /// of a message: raise an event at a peer that has armed for solicited events only (verbs:
  /// IBV_SEND_SOLICITED)
  bool solicited = false;
};

enum class Direction : std::uint8_t { write, read };

/// An operation to be posted: `pieces` go to `remote`, or come from there, in their order.
struct Work {
  Direction direction = Direction::write;
  Remote remote;
  std::span<const Local> pieces;
  Cookie cookie = 0;
  PostFlags flags;
};

/// The end of one posted operation, or of a receive.
struct Completion {
  Cookie cookie = 0;
  int peer = -1;
  rma_status_t status = RMA_SUCCESS;
  std::uint32_t bytes = 0;  ///< size of a received message
};

class MessageEndpoint;

/// Allocates memory that peers can write to, for a transport that cannot use just any memory
/// for this. Thread-safe.
class PeerMemory {
 public:
  PeerMemory() = default;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  virtual ~PeerMemory() = default;

  /// Returns zeroed whole pages. RMA_ERR_NO_MEMORY.
  [[nodiscard]] virtual Result<std::byte*> take(std::size_t bytes) = 0;
  virtual void give(std::byte* memory, std::size_t bytes) = 0;
};

/// An open device. Peers are small numbers that the caller gives to connect(). Thread-safe unless said
/// otherwise.
class Transport {
 public:
  virtual ~Transport() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual const Limits& limits() const = 0;

  /// Makes [address, address + bytes) usable as local pieces and by peers. RMA_ERR_NO_MEMORY is an ordinary
  /// result (a limit is reached). The caller then reaches the memory in another way.
  [[nodiscard]] virtual Result<Registration> register_memory(std::byte* address, std::size_t bytes) = 0;
  virtual void deregister_memory(const Registration& registration) = 0;
  /// Returns the source of memory that post_message_write() of peers' endpoints can reach, or null if any
  /// registered memory will do.
  [[nodiscard]] virtual PeerMemory* peer_memory() { return nullptr; }

  /// Returns the data that a peer needs to connect here, of any length. The peer's transport checks it before
  /// use.
  [[nodiscard]] virtual std::span<const std::byte> card() const = 0;
  /// Connects with `peer`. Does nothing if it is connected already. RMA_ERR_PEER_LOST if it does not answer.
  [[nodiscard]] virtual Status connect(int peer, std::span<const std::byte> card) = 0;
  /// Gives `peer` up: all posted operations to it end with RMA_ERR_PEER_LOST, and so does every later post.
  virtual void fail(int peer) = 0;

  /// Posts work to one peer, in one go if the device can. Operations to one peer take effect in the order of
  /// posting; a transport over a fabric that reorders them restores the order. `*posted` is the number of
  /// operations that were taken; the others have no completion. The caller may reuse `work` at return, and
  /// the memory that its pieces point to after the completion. Each operation keeps to the limits.
  /// RMA_ERR_STATE: max_outstanding is reached; poll and post the rest. RMA_ERR_PEER_LOST: the peer is gone.
  [[nodiscard]] virtual rma_status_t post(int peer, std::span<const Work> work, std::size_t* posted) = 0;

  [[nodiscard]] rma_status_t post_write(int peer, Remote to, std::span<const Local> pieces, Cookie cookie,
                                        PostFlags flags) {
    const Work work = {
        .direction = Direction::write, .remote = to, .pieces = pieces, .cookie = cookie, .flags = flags};
    std::size_t posted = 0;
    return post(peer, {&work, 1}, &posted);
  }
  [[nodiscard]] rma_status_t post_read(int peer, std::span<const Local> pieces, Remote from, Cookie cookie,
                                       PostFlags flags) {
    const Work work = {
        .direction = Direction::read, .remote = from, .pieces = pieces, .cookie = cookie, .flags = flags};
    std::size_t posted = 0;
    return post(peer, {&work, 1}, &posted);
  }
  /// Returns the number of operations to `peer` that are posted and not known to be complete.
  [[nodiscard]] virtual std::uint32_t outstanding(int peer) = 0;
  /// Posts an RMA_FETCH_ADD or RMA_COMPARE_SWAP on 8 aligned bytes. The device stores the old value into
  /// `old`, of 8 bytes.
  [[nodiscard]] virtual rma_status_t post_atomic(int peer, rma_atomic_op_t op, Remote target,
                                                 std::uint64_t operand, std::uint64_t compare, Local old,
                                                 Cookie cookie) = 0;
  /// Returns the endpoint for messages, or null if the device has none.
  [[nodiscard]] virtual MessageEndpoint* message_endpoint() { return nullptr; }

  /// Fills `completions` from the front. Returns how many it has filled.
  [[nodiscard]] virtual std::size_t poll(std::span<Completion> completions) = 0;

  /// Makes the transport call `written` after peers may have written to this process's memory, if it takes
  /// part in that; a device writes without a word. Called once. The service thread calls `written`.
  virtual void watch_writes(const std::function<void()>& /*written*/) {}

  /// Says which threads of the program wait, to a transport that needs them to drive it: while some do, its
  /// service thread has nothing to do. Called once, before the first wait; `attendants` outlives the service
  /// thread.
  virtual void follow(Attendants& /*attendants*/) {}

  /// event_fd() and arm() let a thread sleep. After arm(), event_fd() becomes readable at the next
  /// completion. If arm() returns false, there is a completion already. A completion from before arm() may
  /// not make event_fd() readable, so the caller polls once more before it sleeps. event_fd() returns -1 if
  /// operations are complete when they are posted. A transport whose network needs to be driven drives it
  /// from the service thread (Provider), so it does not depend on calls from above. If its network raises no
  /// events (Limits::needs_polling), the service thread asks it by the clock, and raises event_fd() itself.
  [[nodiscard]] virtual int event_fd() const = 0;
  [[nodiscard]] virtual bool arm() = 0;
};

}  // namespace librma::transport
