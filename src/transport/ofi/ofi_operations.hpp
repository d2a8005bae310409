#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "transport/ofi/libfabric.hpp"
#include "transport/ofi/ofi_order.hpp"
#include "transport/transport.hpp"

namespace librma::transport {

/// What an operation is. The first four are counted for each peer, because their numbers are limited.
enum class OfiKind : std::uint8_t { data, message, transfer, scatter, buffer, hello_sent, hello_awaited };
inline constexpr std::size_t kOfiCounted = 4;

/// A peer that this process is connected with, or is about to be.
struct OfiPeer {
  OfiPeer(int rank_given, std::uint32_t ticket_given) : rank(rank_given), ticket(ticket_given) {}

  const int rank;
  const std::uint32_t ticket;  ///< the peer's messages carry it

  // These are written before `bound`.
  fi_addr_t address = FI_ADDR_UNSPEC;
  std::uint64_t mark = 0;         ///< the tag of this process's gathers to the peer: see mark_of()
  std::array<Local, 2> trailers;  ///< the marks of messages to the peer; the second one of solicited messages
  Remote empty;                   ///< the place of writes without data
  std::uint32_t buffers = 0;
  std::uint32_t gather = 0;

  std::atomic<bool> bound = false;   ///< the store releases the members above
  std::atomic<bool> failed = false;  ///< written with the lock of the operations
  std::array<std::atomic<std::uint32_t>, kOfiCounted> posted = {};
  OfiOrder order;  ///< of the operations of kind `data`
  /// An operation of kind `message` is under way that is complete when it is delivered, and with it all
  /// messages before it.
  std::atomic<bool> confirming = false;
  /// A message was posted since the last such operation.
  std::atomic<bool> unconfirmed = false;
  std::atomic<bool> awaits_confirmation = false;  ///< the driver has noted to ask for one
  OfiPeer* next_to_confirm = nullptr;             ///< in the driver's list of these
  /// Since when the provider takes nothing for the peer, in nanoseconds of the steady clock; 0: it does.
  std::atomic<std::int64_t> refused_since = 0;

  [[nodiscard]] std::atomic<std::uint32_t>& count(OfiKind kind) {
    return posted[static_cast<std::size_t>(kind)];
  }
};

/// The mark of a message or gather: the ticket that the receiver gave to the sender, and the sender's rank. A
/// gather has it as its tag, and a message as its last bytes. As data beside a message (FI_REMOTE_CQ_DATA) it
/// would cost a receiver by TCP another system call.
[[nodiscard]] constexpr std::uint64_t mark_of(std::uint32_t ticket, int sender) {
  return std::uint64_t{ticket} << 32U | static_cast<std::uint32_t>(sender);
}

/// The bit of a message's mark that says that the message is solicited. No rank has it.
inline constexpr std::uint64_t kSolicited = std::uint64_t{1} << 31U;

/// What an operation is for.
struct OfiPurpose {
  OfiKind kind = OfiKind::data;
  bool report = false;      ///< the poster waits for the completion, also if it is a success
  OfiPeer* peer = nullptr;  ///< null for receives from any peer and for handshakes
  Cookie cookie = 0;
  Local memory;              ///< of `buffer` and the handshakes
  std::uint64_t number = 0;  ///< of `data`: see OfiOrder
  bool confirms = false;     ///< of `message`: see OfiPeer::confirming
};

/// An operation that libfabric has, or is about to have. Its address is the operation's context there.
struct OfiOperation {
  fi_context2 context;  ///< for the provider; the first member
  OfiPurpose purpose;
  bool over = false;  ///< the poster has been told the end; the provider has not ended the operation yet
  bool live = false;
  OfiOperation* next = nullptr;  ///< of the free ones, or of those that have failed
};

/// The operations under way. A provider has an operation until it reports its end, which may be long after
/// its peer was given up. So an operation's memory is never freed before. Thread-safe.
class OfiOperations {
 public:
  /// Makes kOfiSpare operations for a new peer. Returns false if there is no memory for all of them.
  [[nodiscard]] bool make_room() noexcept;
  /// Returns an operation; null if its peer has failed, or if there is no memory.
  [[nodiscard]] OfiOperation* take(const OfiPurpose& purpose) noexcept;
  /// Takes an operation back. Returns whether its poster has been told the end already.
  bool give(OfiOperation* operation);

  /// Records that `peer` has failed. Calls `ended` for each of its operations whose poster waits.
  template <typename Ended>
  void fail(OfiPeer& peer, const Ended& ended) {
    const std::lock_guard guard(lock_);
    if (peer.failed.exchange(true, std::memory_order_acq_rel)) return;
    for (OfiOperation& ofi : all_) {
      if (!ofi.live || ofi.purpose.peer != &peer || ofi.over) continue;
      ofi.over = true;
      ended(ofi);
    }
  }

 private:
  /// Makes a free operation. Returns false if there is no memory.
  [[nodiscard]] bool add_free() noexcept;
  void give_locked(OfiOperation* operation) {
    operation->live = false;
    operation->next = free_;
    free_ = operation;
  }

  std::mutex lock_;
  std::deque<OfiOperation> all_;  ///< never moves an element
  OfiOperation* free_ = nullptr;
};

}  // namespace librma::transport
