#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "rings/piece_claims.hpp"
#include "rings/ring_line.hpp"

namespace librma {

/// Says how the receiver gets the data of a rendezvous, and what follows the RendezvousHead.
enum class RendezvousForm : std::uint64_t {
  plain = 0,    ///< nothing: a rank of this host may read the data at `address`
  inlined = 1,  ///< the data
  keyed = 2,    ///< RailKeys: the remote keys of the data, one for each rail of the sender, which may be read
  laid_out = 3,  ///< an encoded Layout: a rank of this host may read the data there
  piped = 4,     ///< the first bytes of the data: the sender writes the others to pieces that are `ready`
  opaque = 5     ///< nothing: the receiver can only ask for the data in fragments
};
inline constexpr auto kLastForm = RendezvousForm::opaque;

/// Request to send (RTS): a rank has `bytes` bytes to send. The receiver answers when a receive matches: it
/// takes the data itself and says `finished`, or asks for the data by `clear` or `ready`.
struct RendezvousHead {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< of contiguous data, in the sender's address space
  std::uint64_t sender = 0;   ///< the sender's name for the operation
  RendezvousForm form = RendezvousForm::plain;
};
static_assert(sizeof(RendezvousHead) == 32);

/// Clear to send (CTS): the receiver asks for a part of announced data in fragments.
struct ClearHead {
  std::uint64_t sender = 0;
  std::uint64_t receiver = 0;  ///< the receiver's name for the operation
  std::uint64_t begin = 0;     ///< the receiver wants the bytes [begin, end) of the message
  std::uint64_t end = 0;
};
/// A part of the data that the receiver has asked for. The bytes follow.
struct FragmentHead {
  std::uint64_t receiver = 0;
  std::uint64_t offset = 0;  ///< of the fragment in the message
};
/// Finished (FIN): the receiver has the announced data, or has given up. The sender may reuse its buffer.
struct FinishedHead {
  std::uint64_t sender = 0;
  std::int64_t status = 0;  ///< an rma_status_t
};
/// Tells the sender of unexpected messages how much of their cost the receiver has given back.
struct ReleasedHead {
  std::uint64_t cost = 0;  ///< the sum since the first message; see UnexpectedWindow
};
/// Ready to receive (RTR): the receiver has registered a piece of its buffer, and the sender may write it.
struct ReadyHead {
  std::uint64_t sender = 0;
  std::uint64_t receiver = 0;
  std::uint64_t offset = 0;  ///< of the piece in the message
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< of the piece in the receiver's address space
};
/// The receiver's half of a copy that both processes make (SharedCopy).
struct ShareHead {
  static constexpr std::size_t kPage = 4096;
  std::uint64_t sender = 0;
  std::uint64_t receiver = 0;
  std::uint64_t address = 0;   ///< of the data in the receiver's address space
  std::uint64_t bytes = 0;     ///< that the receiver wants
  std::uint32_t transfer = 0;  ///< the number of the transfer in PieceClaims
  std::uint32_t pages = 0;     ///< the size of a piece

  [[nodiscard]] std::size_t piece_bytes() const { return pages * kPage; }
  [[nodiscard]] std::uint32_t pieces() const {
    return static_cast<std::uint32_t>(bytes / piece_bytes() + (bytes % piece_bytes() != 0 ? 1 : 0));
  }
  /// Returns where a piece begins and its size.
  [[nodiscard]] std::pair<std::size_t, std::size_t> piece(std::uint32_t number) const {
    const std::size_t begin = number * piece_bytes();
    return {begin, std::min(piece_bytes(), static_cast<std::size_t>(bytes) - begin)};
  }
  /// Returns whether an honest rank may send this.
  [[nodiscard]] bool valid() const {
    return bytes != 0 && pages != 0 && bytes / piece_bytes() < PieceClaims::kMostPieces;
  }
};
/// Answers a ShareHead: the sender has copied pieces. It comes only if there is at least one.
struct HelpedHead {
  std::uint64_t receiver = 0;
  std::uint64_t pieces = 0;  ///< how many the sender has copied
  std::int64_t status = 0;   ///< an rma_status_t: whether all of them could be copied
};
/// Answers a ReadyHead: the sender has written the piece, or could not.
struct WrittenHead {
  std::uint64_t receiver = 0;
  std::uint64_t offset = 0;
  std::int64_t status = 0;  ///< an rma_status_t: whether all of the piece was written
};

/// Asks the receiver to forget an announcement that no receive has matched. It follows the announcement on
/// the same path. A receiver for which it comes too late does not answer, because the message ends as any
/// other.
struct RetractHead {
  std::uint64_t sender = 0;  ///< as in the RendezvousHead
  Envelope envelope = {};    ///< of the announcement
};
/// Answers a RetractHead: the receiver has forgotten the announcement, and the send ends as cancelled.
struct RetractedHead {
  std::uint64_t sender = 0;
};

/// Says that the sender will neither send in a context nor receive what is sent there (Messages::revoke).
struct RevokedHead {
  std::uint32_t context = 0;  ///< the receiver's number of the context
  std::uint32_t lost = 0;     ///< the rank, plus 1, that the sender has lost; 0: it names none
};

/// The steps by which numbers of contexts return to their owner (ContextNumbers).
struct NumbersHead {
  enum class Step : std::uint32_t {
    flush = 1,     ///< answer when this comes: one number, which names the flush
    flushed = 2,   ///< the answer
    returned = 3,  ///< to the owner: nothing of the sender is under way under these any more
    renew = 4,     ///< of the owner: no message under these can arrive any more
    renewed = 5    ///< the answer: the sender may get them in new objects
  };
  Step step = Step::flush;
  std::uint32_t count = 0;
  std::uint32_t members = 0;                  ///< of `returned`: how many ranks return each of these numbers
  std::array<std::uint32_t, 7> numbers = {};  ///< the first `count`, in ascending order
};
static_assert(sizeof(NumbersHead) == 40);

/// A message as it arrives. The body is valid only while it is being handled.
struct Arrival {
  int source = -1;
  MessageType type = MessageType::eager;
  Envelope envelope;
  std::span<const std::byte> body;
};

}  // namespace librma
