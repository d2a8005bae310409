#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "channel/message.hpp"
#include "core/completion/pending_operations.hpp"
#include "core/network/network.hpp"
#include "core/one_sided/layout.hpp"
#include "strided/chunks.hpp"
#include "transport/transport.hpp"

namespace librma {

class Channel;

/// Host-assisted zero-copy transfers (Tipparaju et al., "Host-Assisted Zero-Copy Remote Memory Access
/// Communication on InfiniBand", IPDPS 2004). The receiving side posts scatters (receives into several
/// segments) for chunks of its layout. The sending side gathers chunks of its own layout into them. The
/// target's helper only posts; it copies nothing.
///
/// Put: the initiator sends the layout to be received (scatter message). The target posts scatters and grants
/// as many chunks. The initiator posts as many gathers.
///
/// Get: the initiator posts scatters, and sends the layout to be read and the number of chunks that it grants
/// (gather message). The target posts as many gathers. More grants follow.
///
/// A connection uses its scatters in the order in which they were posted, and matches gathers to them in the
/// order in which those were posted. So each side posts the scatters of one transfer after those of the one
/// before. It grants them by messages, which keep their order, in the order of posting. The other side posts
/// gathers in the order of grants. A get that is refused is answered with an empty gather for each chunk that
/// was granted. Thread-safe.
class HostAssisted {
 public:
  /// Returns the registration of this process's memory that contains all of [address, address + bytes).
  using Registrations = std::function<std::optional<Registered>(std::uintptr_t address, std::size_t bytes)>;

  /// Kinds of messages (MessageHeader::kind).
  static constexpr std::uint16_t kScatterMessage = 16;
  static constexpr std::uint16_t kGatherMessage = 17;
  static constexpr std::uint16_t kGrantMessage = 18;
  static constexpr std::uint16_t kRefuseMessage = 19;

  /// Registers handlers with `channel`. The arguments outlive this, and nobody polls the channel after its
  /// end.
  HostAssisted(Registrations own, PendingOperations& pending, Network& network, Channel& channel);
  ~HostAssisted();

  struct Transfer {
    transport::Direction direction = transport::Direction::write;  ///< write: a put
    int rank = -1;
    std::shared_ptr<const Layout> remote;
    std::shared_ptr<const Layout> local;  ///< with the same sizes of segments
    rma_request_t operation = RMA_REQUEST_NULL;
  };
  /// Starts a transfer, as parts of its operation. Returns RMA_ERR_UNSUPPORTED, and has started nothing, if
  /// the memory of one side is not registered as the protocol needs it.
  [[nodiscard]] Status start(const Transfer& transfer);

 private:
  struct Inflow;   ///< chunks to be received
  struct Outflow;  ///< chunks to be sent
  struct Scatter;
  struct Gather;
  struct PeerState;
  struct Header;
  struct Name;

  /// A range of a layout's bytes: the first, and how many.
  using Range = std::pair<std::size_t, std::size_t>;

  [[nodiscard]] Status start_parts(const Transfer& transfer, std::span<const Range> parts, std::size_t rail);
  [[nodiscard]] Chunks::Keys given_keys(std::size_t rail) const;

  [[nodiscard]] static std::optional<Header> read_header(const Message& message);
  /// Returns the header and the layout of a message that starts a transfer; no value if they are invalid.
  [[nodiscard]] static std::optional<std::pair<Header, Layout>> read_question(const Message& message,
                                                                              std::uint32_t gather);
  [[nodiscard]] bool asked_to_scatter(const Message& message);
  [[nodiscard]] bool asked_to_gather(const Message& message);
  [[nodiscard]] bool granted(const Message& message);
  [[nodiscard]] bool refused(const Message& message);
  void lost(int rank);
  bool advance();

  /// The caller of the functions below holds the peer's lock.
  void pump_in(PeerState& state);
  void pump_out(PeerState& state);
  void stall(PeerState& state);
  void tell(PeerState& state, std::size_t rail, std::uint16_t kind, const Header& header,
            std::span<const std::byte> layout);
  /// Grants the chunks whose scatters are posted.
  void tell_granted(PeerState& state, Inflow& inflow);
  /// These end a part that has nothing more to do.
  void finish(PeerState& state, Inflow& inflow);
  void finish(PeerState& state, Outflow& outflow);

  [[nodiscard]] PeerState& state_of(int rank);

  const Registrations own_;
  PendingOperations& pending_;
  Network& network_;
  Channel& channel_;
  std::mutex peers_lock_;
  std::map<int, std::unique_ptr<PeerState>> peers_;
  std::atomic<bool> stalled_ = false;  ///< some peer waits for room
};

}  // namespace librma
