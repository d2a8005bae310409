#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace librma {

/// The purposes of messages between two ranks. The numbers are a wire format.
enum class MessageType : std::uint8_t {
  eager = 1,       ///< the data follow
  rendezvous = 2,  ///< RTS: a RendezvousHead follows, then what its form says
  clear = 3,       ///< CTS: a ClearHead follows: the receiver asks for the data in fragments
  fragment = 4,    ///< a FragmentHead follows, then data
  finished = 5,    ///< FIN: a FinishedHead follows: the sender may reuse its buffer
  released = 6,    ///< a ReleasedHead follows: the receiver has room for unexpected messages again
  ready = 7,       ///< a ReadyHead follows: the receiver has registered a piece of its buffer
  written = 8,     ///< a WrittenHead follows: the sender has written the piece, or cannot
  share = 9,    ///< a ShareHead follows: the receiver copies the data and lets the sender copy pieces of them
  helped = 10,  ///< a HelpedHead follows: the sender has copied pieces
  revoked = 11,    ///< a RevokedHead follows: the sender uses a context no more
  retract = 12,    ///< a RetractHead follows: the sender wants an announcement back
  retracted = 13,  ///< a RetractedHead follows: the receiver has forgotten the announcement
  numbers = 14     ///< a NumbersHead follows: a step in the return of numbers of contexts
};
inline constexpr auto kLastType = MessageType::numbers;

/// The envelope of a message (MPI 4.1, section 3.2.3). The path that it came by adds the source.
struct Envelope {
  std::uint32_t context = 0;
  std::int32_t tag = 0;
};
static_assert(sizeof(Envelope) == 8);

/// A cache line of a ring (rings/line_ring.hpp): a message of at most kBody bytes, or the
/// announcement of a longer one, whose body lies in the ring's slots.
struct alignas(64) RingLine {
  static constexpr std::size_t kBody = 48;
  std::atomic<std::uint64_t> control = 0;  ///< number (low 32 bits), size (27), restart (1), type (high 4)
  Envelope envelope;
  std::byte body[kBody] = {};  // NOLINT(cppcoreguidelines-avoid-c-arrays): the layout is what matters
};
static_assert(sizeof(RingLine) == 64);

namespace line_ring_detail {
constexpr unsigned kSizeShift = 32;
/// Beside the size: the body lies at the beginning of the slots, although it may fit behind the last one.
constexpr std::uint64_t kRestart = std::uint64_t{1} << 27U;
constexpr unsigned kTypeShift = 60;
}  // namespace line_ring_detail

}  // namespace librma
