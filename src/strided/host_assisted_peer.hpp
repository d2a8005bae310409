#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "channel/posted.hpp"
#include "strided/host_assisted.hpp"
#include "transport/message_endpoint.hpp"

namespace librma {

/// The beginning of each message. In messages that start a transfer the layout follows. This is
/// a wire format.
struct HostAssisted::Header {
  std::uint64_t stream = 0;    ///< the transfer's number, which its initiator chose
  std::uint32_t yours = 0;     ///< 1: the receiver of the message is the initiator
  std::uint32_t granted = 0;   ///< the number of chunks that are granted
  std::int32_t status = 0;     ///< the status of a refusal
  std::uint32_t segments = 0;  ///< the maximum number of segments of one chunk
  std::uint64_t bytes = 0;     ///< the maximum size of one chunk
};

/// A transfer's number, and whether this process is its initiator.
struct HostAssisted::Name {
  std::uint64_t stream = 0;
  bool mine = false;
  bool operator<(const Name& other) const {
    return std::pair(stream, mine) < std::pair(other.stream, other.mine);
  }
};

struct HostAssisted::Inflow {
  Name name;
  std::size_t rail = 0;
  Chunks chunks;
  rma_request_t operation = RMA_REQUEST_NULL;  ///< the operation of a get
  std::vector<std::byte> question = {};        ///< header and layout of a get whose message has not
                                               ///< been sent yet
  std::size_t posted = 0;                      ///< posted scatters that have not ended
  std::uint32_t ungranted = 0;                 ///< posted scatters that the sender does not know of
  rma_status_t status = RMA_SUCCESS;
  std::shared_ptr<RegistrationCache::Use> use = {};
};

struct HostAssisted::Outflow {
  Name name;
  std::size_t rail = 0;
  Chunks chunks;
  rma_request_t operation = RMA_REQUEST_NULL;  ///< the operation of a put
  std::size_t posted = 0;                      ///< gathers that are not known to have ended
  rma_status_t status = RMA_SUCCESS;           ///< a failure means that it was refused: granted chunks
                                               ///< are sent empty
  std::shared_ptr<RegistrationCache::Use> use = {};
};

/// A posted scatter or gather belongs to its peer until it has ended.
struct HostAssisted::Scatter final : public Posted {
  Scatter(PeerState& owner, std::shared_ptr<Inflow> part, std::size_t size)
      : peer(owner), inflow(std::move(part)), expected(size) {}
  void ended(int rank, rma_status_t status, std::uint32_t bytes) override;
  PeerState& peer;
  const std::shared_ptr<Inflow> inflow;
  const std::size_t expected;
  std::list<Scatter>::iterator self;
};

/// A silent gather is reported only if it fails. The next gather that is not silent belongs to the same
/// grant, ends after it, and tells of both. Each report wakes the helper, which takes the processor from the
/// program.
struct HostAssisted::Gather final : public Posted {
  Gather(PeerState& owner, std::shared_ptr<Outflow> part, bool unreported)
      : peer(owner), outflow(std::move(part)), silent(unreported) {}
  void ended(int rank, rma_status_t status, std::uint32_t bytes) override;
  PeerState& peer;
  const std::shared_ptr<Outflow> outflow;
  const bool silent;
  std::list<Gather>::iterator self;
};

struct HostAssisted::PeerState {
  PeerState(HostAssisted& whose, int who) : owner(whose), rank(who) {}

  HostAssisted& owner;
  const int rank;
  std::mutex lock;  ///< guards the members below, and the order of posting and sending
  std::uint64_t streams = 0;
  bool lost = false;
  bool stalled = false;  ///< posting or sending waits for room
  bool crowded = false;  ///< a scatter found no room, and more than half of those posted have not ended
  /// The inflows that have scatters to post. The first one posts; the others follow.
  std::deque<std::shared_ptr<Inflow>> incoming;
  std::map<Name, std::shared_ptr<Inflow>> inflows;
  std::map<Name, std::shared_ptr<Outflow>> outflows;
  struct Grant {
    std::shared_ptr<Outflow> outflow;
    std::uint32_t chunks = 0;
  };
  std::deque<Grant> grants;  ///< grants whose gathers are not posted yet, oldest first
  std::list<Scatter> scatters;
  std::list<Gather> gathers;  ///< in the order of posting
};

}  // namespace librma
