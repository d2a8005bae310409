#include "strided/assisted.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <optional>
#include <utility>

#include "util/statistics.hpp"

namespace rma {
namespace {

/// A chunk has so many bytes at most.
constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 10U;
/// A list that takes more questions than this goes another way: they would wait for credits all at once.
constexpr std::size_t kMostParts = 256;
/// Chunks that one message may grant. No device has so long a queue of scatters.
constexpr std::uint32_t kMostGranted = 65536;

}  // namespace

/// What the messages start with; in those that ask, the layout follows. A wire format.
struct Assisted::Header {
  std::uint64_t stream = 0;    ///< the transfer's number, given by who began it
  std::uint32_t yours = 0;     ///< 1: the receiver of the message began it
  std::uint32_t granted = 0;   ///< chunks
  std::int32_t status = 0;     ///< of a refusal
  std::uint32_t segments = 0;  ///< most of one chunk
  std::uint64_t bytes = 0;     ///< likewise
};

/// A transfer's number, and who began it.
struct Assisted::Name {
  std::uint64_t stream = 0;
  bool mine = false;
  bool operator<(const Name& other) const {
    return std::pair(stream, mine) < std::pair(other.stream, other.mine);
  }
};

struct Assisted::Inflow {
  Name name;
  std::size_t rail = 0;
  Chunks chunks;
  rma_request_t operation = RMA_REQUEST_NULL;  ///< of a get
  std::vector<std::byte> question = {};        ///< of a get that has not been asked for yet: header, layout
  std::size_t posted = 0;                      ///< scatters that have not ended
  rma_status_t status = RMA_SUCCESS;
  std::shared_ptr<RegistrationCache::Use> use = {};
};

struct Assisted::Outflow {
  Name name;
  std::size_t rail = 0;
  Chunks chunks;
  rma_request_t operation = RMA_REQUEST_NULL;  ///< of a put
  std::size_t posted = 0;                      ///< reported gathers that have not ended
  rma_status_t status = RMA_SUCCESS;           ///< not RMA_SUCCESS: refused; what is granted is sent empty
  std::shared_ptr<RegistrationCache::Use> use = {};
};

/// One that is posted belongs to its peer until it has ended.
struct Assisted::Scatter final : public Posted {
  Scatter(Peer& owner, std::shared_ptr<Inflow> part, std::size_t size)
      : peer(owner), inflow(std::move(part)), expected(size) {}
  void ended(int rank, rma_status_t status, std::uint32_t bytes) override;
  Peer& peer;
  const std::shared_ptr<Inflow> inflow;
  const std::size_t expected;
  std::list<Scatter>::iterator self;
};

struct Assisted::Gather final : public Posted {
  Gather(Peer& owner, std::shared_ptr<Outflow> part) : peer(owner), outflow(std::move(part)) {}
  void ended(int rank, rma_status_t status, std::uint32_t bytes) override;
  Peer& peer;
  const std::shared_ptr<Outflow> outflow;
  std::list<Gather>::iterator self;
};

struct Assisted::Peer {
  Peer(Assisted& whose, int who) : owner(whose), rank(who) {}

  Assisted& owner;
  const int rank;
  std::mutex lock;  ///< of the following, and of the order of posting and telling
  std::uint64_t streams = 0;
  bool lost = false;
  bool stalled = false;  ///< something waits for room
  /// Those that have scatters to post: the first does, the others follow.
  std::deque<std::shared_ptr<Inflow>> incoming;
  std::map<Name, std::shared_ptr<Inflow>> inflows;
  std::map<Name, std::shared_ptr<Outflow>> outflows;
  struct Grant {
    std::shared_ptr<Outflow> outflow;
    std::uint32_t chunks = 0;
  };
  std::deque<Grant> grants;  ///< whose gathers are not posted, oldest first
  std::list<Scatter> scatters;
  std::list<Gather> gathers;
};

void Assisted::Scatter::ended(int rank, rma_status_t status, std::uint32_t bytes) {
  Peer& its = peer;
  // With it the connection has failed: the rank is lost, as what else was posted may never be told of.
  if (status != RMA_SUCCESS) its.owner.helper_.channel().fail(rank);
  const std::lock_guard guard(its.lock);
  const std::shared_ptr<Inflow> part = inflow;
  --part->posted;
  if (status == RMA_SUCCESS && bytes != expected) status = RMA_ERR_ADDRESS;
  if (part->status == RMA_SUCCESS) part->status = status;
  its.scatters.erase(std::list<Scatter>::iterator(self));  // and this with it
  its.owner.pump_in(its);
  its.owner.finish(its, *part);
}

void Assisted::Gather::ended(int rank, rma_status_t status, std::uint32_t /*bytes*/) {
  Peer& its = peer;
  if (status != RMA_SUCCESS) its.owner.helper_.channel().fail(rank);
  const std::lock_guard guard(its.lock);
  const std::shared_ptr<Outflow> part = outflow;
  --part->posted;
  if (part->status == RMA_SUCCESS) part->status = status;
  its.gathers.erase(std::list<Gather>::iterator(self));
  its.owner.pump_out(its);
  its.owner.finish(its, *part);
}

std::optional<Assisted::Header> Assisted::read_header(const Message& message) {
  Header header;
  if (message.body.size() < sizeof header) return {};
  std::memcpy(&header, message.body.data(), sizeof header);
  return header;
}

std::optional<std::pair<Assisted::Header, Layout>> Assisted::read_question(const Message& message,
                                                                           std::uint32_t gather) {
  const auto header = read_header(message);
  if (!header || header->segments == 0 || header->segments > gather || header->bytes == 0) return {};
  std::span<const std::byte> rest = message.body.subspan(sizeof *header);
  auto part = Layout::decode(rest);
  if (!part || !rest.empty() || part->from != 0 || part->bytes != part->layout.bytes() || part->bytes == 0) {
    return {};
  }
  return std::pair(*header, std::move(part->layout));
}

Assisted::Assisted(Registrations own, Helper& helper) : own_(std::move(own)), helper_(helper) {
  helper.on_message(kScatterMessage, [this](const Message& message) { return asked_to_scatter(message); });
  helper.on_message(kGatherMessage, [this](const Message& message) { return asked_to_gather(message); });
  helper.on_message(kGrantMessage, [this](const Message& message) { return granted(message); });
  helper.on_message(kRefuseMessage, [this](const Message& message) { return refused(message); });
  helper.on_loss([this](int rank) { lost(rank); });
  helper.on_room([this] { return advance(); });
}

Assisted::~Assisted() = default;

Assisted::Peer& Assisted::peer(int rank) {
  const std::lock_guard guard(peers_lock_);
  std::unique_ptr<Peer>& its = peers_[rank];
  if (its == nullptr) its = std::make_unique<Peer>(*this, rank);
  return *its;
}

Chunks::Keys Assisted::given_keys(std::size_t rail) const {
  return [this, rail](std::uintptr_t address, std::size_t bytes) -> std::optional<std::uint32_t> {
    const auto found = own_(address, bytes);
    if (!found) return std::nullopt;
    return found->local[rail];
  };
}

void Assisted::tell(Peer& its, std::size_t rail, std::uint16_t kind, const Header& header,
                    std::span<const std::byte> layout) {
  helper_.channel().send(its.rank, rail, kind, {reinterpret_cast<const std::byte*>(&header), sizeof header},
                         layout);
}

void Assisted::tell_granted(Peer& its, Inflow& inflow, std::uint32_t chunks) {
  if (!inflow.question.empty()) {
    Header header;
    std::memcpy(&header, inflow.question.data(), sizeof header);
    header.granted = chunks;
    tell(its, inflow.rail, kGatherMessage, header, std::span(inflow.question).subspan(sizeof header));
    inflow.question.clear();
    return;
  }
  tell(its, inflow.rail, kGrantMessage,
       {.stream = inflow.name.stream, .yours = inflow.name.mine ? 0U : 1U, .granted = chunks}, {});
}

void Assisted::stall(Peer& its) {
  its.stalled = true;
  stalled_.store(true, std::memory_order_relaxed);
}

void Assisted::pump_in(Peer& its) {
  std::vector<transport::Local> pieces;
  while (!its.incoming.empty() && !its.lost) {
    const std::shared_ptr<Inflow> inflow = its.incoming.front();
    transport::HelperLane& lane = helper_.channel().lane(inflow->rail);
    std::uint32_t posted = 0;
    bool full = false;
    while (!inflow->chunks.over() && inflow->status == RMA_SUCCESS) {
      std::size_t bytes = 0;
      if (!inflow->chunks.peek(pieces, bytes)) {
        inflow->status = RMA_ERR_ADDRESS;  // taken away meanwhile: the sender is told below
        break;
      }
      const auto scatter = its.scatters.emplace(its.scatters.end(), its, inflow, bytes);
      scatter->self = scatter;
      const rma_status_t status = lane.post_scatter(its.rank, pieces, scatter->cookie());
      if (status != RMA_SUCCESS) {
        its.scatters.erase(scatter);
        full = status == RMA_ERR_STATE;
        if (!full) helper_.channel().fail(its.rank);
        break;
      }
      ++inflow->posted;
      ++posted;
      inflow->chunks.take(bytes);
    }
    if (posted != 0) tell_granted(its, *inflow, posted);
    if (full) stall(its);
    if (!inflow->chunks.over() && inflow->status == RMA_SUCCESS) return;
    if (inflow->status != RMA_SUCCESS && !inflow->chunks.over()) {
      inflow->chunks.end();
      if (inflow->question.empty()) {
        tell(its, inflow->rail, kRefuseMessage,
             {.stream = inflow->name.stream,
              .yours = inflow->name.mine ? 0U : 1U,
              .status = static_cast<std::int32_t>(inflow->status)},
             {});
      }
    }
    its.incoming.pop_front();
    finish(its, *inflow);
  }
}

void Assisted::pump_out(Peer& its) {
  std::vector<transport::Local> pieces;
  while (!its.grants.empty() && !its.lost) {
    Peer::Grant& grant = its.grants.front();
    const std::shared_ptr<Outflow> outflow = grant.outflow;
    while (grant.chunks > 0) {
      std::size_t bytes = 0;
      pieces.clear();
      if (outflow->status == RMA_SUCCESS && !outflow->chunks.peek(pieces, bytes)) {
        outflow->status = RMA_ERR_ADDRESS;
        pieces.clear();
        bytes = 0;
      }
      const auto gather = its.gathers.emplace(its.gathers.end(), its, outflow);
      gather->self = gather;
      const rma_status_t status =
          helper_.channel().lane(outflow->rail).post_gather(its.rank, pieces, gather->cookie(), {});
      if (status != RMA_SUCCESS) {
        its.gathers.erase(gather);
        if (status == RMA_ERR_STATE) {
          stall(its);
        } else {
          helper_.channel().fail(its.rank);
        }
        return;
      }
      ++outflow->posted;
      outflow->chunks.take(bytes);
      --grant.chunks;
    }
    its.grants.pop_front();
  }
}

void Assisted::finish(Peer& its, Inflow& inflow) {
  if (!inflow.chunks.over() || inflow.posted != 0) return;
  if (its.inflows.erase(Name(inflow.name)) == 0) return;  // its peer is lost, and it has ended
  inflow.use.reset();
  if (inflow.name.mine) helper_.flights().end(its.rank, inflow.operation, inflow.status);
}

void Assisted::finish(Peer& its, Outflow& outflow) {
  if (outflow.posted != 0 || (!outflow.chunks.over() && outflow.status == RMA_SUCCESS)) return;
  for (const Peer::Grant& grant : its.grants) {
    if (grant.outflow.get() == &outflow) return;
  }
  if (its.outflows.erase(Name(outflow.name)) == 0) return;
  outflow.use.reset();
  if (outflow.name.mine) helper_.flights().end(its.rank, outflow.operation, outflow.status);
}

Status Assisted::start(const Transfer& transfer) {
  Peer& its = peer(transfer.rank);
  const auto lost_already = [&] {
    const std::lock_guard guard(its.lock);
    return its.lost;
  };
  if (lost_already()) return {RMA_ERR_PEER_LOST, helper_.explain(RMA_ERR_PEER_LOST, transfer.rank)};
  Network& network = helper_.network();
  std::size_t rail = 0;
  if (Status status = network.reach(transfer.rank, &rail); !status.ok()) return status;
  // Scatters and gathers go by the rail that tells of them.
  if (const rma_status_t open = helper_.channel().open(transfer.rank, &rail); open != RMA_SUCCESS) {
    return {open, helper_.explain(open, transfer.rank)};
  }
  if (Status status = network.settle(transfer.rank); !status.ok()) return status;
  // The devices move the data while requests that came before may still be waiting to be served.
  network.settle_requests(transfer.rank);
  // What one message has room to describe is one transfer; a long list becomes several.
  const std::size_t room = helper_.channel().max_body() - sizeof(Header);
  std::vector<Range> parts;
  std::size_t from = 0;
  std::size_t at = 0;
  std::size_t entries = 0;
  const std::size_t most_entries = (room - 64) / sizeof(Layout::Segment);
  if (transfer.remote->encoded_bytes(0, transfer.remote->bytes()) <= room) {
    parts.emplace_back(0, transfer.remote->bytes());
  } else {
    transfer.remote->visit(0, transfer.remote->bytes(), [&](std::uintptr_t /*address*/, std::size_t bytes) {
      at += bytes;
      if (++entries == most_entries) {
        parts.emplace_back(from, at - from);
        from = at;
        entries = 0;
      }
      return true;
    });
    if (at != from) parts.emplace_back(from, at - from);
  }
  if (parts.size() > kMostParts) return {RMA_ERR_UNSUPPORTED, "a list that takes too many messages"};
  return start_parts(transfer, parts, rail);
}

Status Assisted::start_parts(const Transfer& transfer, std::span<const Range> parts, std::size_t rail) {
  Network& network = helper_.network();
  transport::HelperLane& lane = helper_.channel().lane(rail);
  const Cut cut = {.segments = std::min(lane.limits().gather, lane.gather_of(transfer.rank)),
                   .bytes = kChunkBytes};
  if (cut.segments == 0) return {RMA_ERR_UNSUPPORTED, "the rank takes no gathers"};
  std::shared_ptr<RegistrationCache::Use> use;
  Chunks::Keys keys = given_keys(rail);
  if (!Chunks(*transfer.local, cut, keys).registered()) {
    const Layout::Extent& extent = transfer.local->extent();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): memory of this process
    auto made = network.register_local(reinterpret_cast<std::byte*>(extent.low), extent.bytes());
    if (!made.ok()) return {RMA_ERR_UNSUPPORTED, std::string(made.status().text())};
    use = std::make_shared<RegistrationCache::Use>(std::move(made).value());
    keys = [key = use->registered().local[rail]](std::uintptr_t, std::size_t) { return std::optional(key); };
  }
  Peer& its = peer(transfer.rank);
  const bool put = transfer.direction == transport::Direction::write;
  const std::lock_guard guard(its.lock);
  if (its.lost) return {RMA_ERR_PEER_LOST, helper_.explain(RMA_ERR_PEER_LOST, transfer.rank)};
  for (const auto& [from, bytes] : parts) {
    const Header header = {.stream = ++its.streams, .segments = cut.segments, .bytes = cut.bytes};
    const Name name = {.stream = header.stream, .mine = true};
    std::vector<std::byte> question(sizeof header + transfer.remote->encoded_bytes(from, bytes));
    std::memcpy(question.data(), &header, sizeof header);
    transfer.remote->encode(from, bytes, std::span(question).subspan(sizeof header));
    Chunks chunks(transfer.local->part(from, bytes), cut, keys);
    helper_.flights().begin(transfer.rank);
    helper_.flights().add_part(transfer.operation);
    if (put) {
      its.outflows[name] = std::make_shared<Outflow>(Outflow{.name = name,
                                                             .rail = rail,
                                                             .chunks = std::move(chunks),
                                                             .operation = transfer.operation,
                                                             .use = use});
      tell(its, rail, kScatterMessage, header, std::span(question).subspan(sizeof header));
    } else {
      const auto inflow = std::make_shared<Inflow>(Inflow{.name = name,
                                                          .rail = rail,
                                                          .chunks = std::move(chunks),
                                                          .operation = transfer.operation,
                                                          .question = std::move(question),
                                                          .use = use});
      its.inflows[name] = inflow;
      its.incoming.push_back(inflow);
    }
  }
  count(put ? Counter::put_assisted : Counter::get_assisted);
  pump_in(its);
  return {};
}

bool Assisted::asked_to_scatter(const Message& message) {
  auto asked = read_question(message, helper_.channel().lane(message.rail).limits().gather);
  if (!asked) return false;
  auto& [header, part] = *asked;
  Peer& its = peer(message.peer);
  const std::lock_guard guard(its.lock);
  const Name name = {.stream = header.stream, .mine = false};
  if (its.inflows.contains(name)) return false;
  Chunks chunks(std::move(part), {.segments = header.segments, .bytes = header.bytes},
                given_keys(message.rail));
  if (!chunks.begins_registered()) {
    tell(its, message.rail, kRefuseMessage, {.stream = header.stream, .yours = 1, .status = RMA_ERR_ADDRESS},
         {});
    return true;
  }
  const auto inflow =
      std::make_shared<Inflow>(Inflow{.name = name, .rail = message.rail, .chunks = std::move(chunks)});
  its.inflows[name] = inflow;
  its.incoming.push_back(inflow);
  pump_in(its);
  return true;
}

bool Assisted::asked_to_gather(const Message& message) {
  auto asked = read_question(message, helper_.channel().lane(message.rail).limits().gather);
  if (!asked) return false;
  auto& [header, part] = *asked;
  Peer& its = peer(message.peer);
  const std::lock_guard guard(its.lock);
  const Name name = {.stream = header.stream, .mine = false};
  if (its.outflows.contains(name) || header.granted > kMostGranted) return false;
  const auto outflow = std::make_shared<Outflow>(
      Outflow{.name = name,
              .rail = message.rail,
              .chunks = Chunks(std::move(part), {.segments = header.segments, .bytes = header.bytes},
                               given_keys(message.rail))});
  if (!outflow->chunks.begins_registered()) {
    outflow->status = RMA_ERR_ADDRESS;
    tell(its, message.rail, kRefuseMessage, {.stream = header.stream, .yours = 1, .status = RMA_ERR_ADDRESS},
         {});
  }
  its.outflows[name] = outflow;
  its.grants.push_back({.outflow = outflow, .chunks = header.granted});
  pump_out(its);
  return true;
}

bool Assisted::granted(const Message& message) {
  const auto header = read_header(message);
  if (!header || header->granted > kMostGranted) return false;
  Peer& its = peer(message.peer);
  const std::lock_guard guard(its.lock);
  const auto found = its.outflows.find({.stream = header->stream, .mine = header->yours != 0});
  // A grant for what has failed here is late: its scatters are used up all the same.
  auto outflow =
      found != its.outflows.end()
          ? found->second
          : std::make_shared<Outflow>(Outflow{
                .name = {}, .rail = message.rail, .chunks = Chunks({}, {}, {}), .status = RMA_ERR_ADDRESS});
  its.grants.push_back({.outflow = std::move(outflow), .chunks = header->granted});
  pump_out(its);
  return true;
}

bool Assisted::refused(const Message& message) {
  const auto header = read_header(message);
  if (!header || header->status <= RMA_SUCCESS || header->status > RMA_ERR_VERSION) return false;
  const auto status = static_cast<rma_status_t>(header->status);
  Peer& its = peer(message.peer);
  const std::lock_guard guard(its.lock);
  const Name name = {.stream = header->stream, .mine = header->yours != 0};
  if (const auto found = its.outflows.find(name); found != its.outflows.end()) {
    const std::shared_ptr<Outflow> outflow = found->second;
    if (outflow->status == RMA_SUCCESS) outflow->status = status;
    finish(its, *outflow);
    return true;
  }
  const auto found = its.inflows.find(name);
  if (found == its.inflows.end()) return true;  // it has failed here as well
  const std::shared_ptr<Inflow> inflow = found->second;
  if (inflow->status == RMA_SUCCESS) inflow->status = status;
  inflow->chunks.end();
  std::erase(its.incoming, inflow);
  pump_in(its);
  finish(its, *inflow);
  return true;
}

void Assisted::lost(int rank) {
  Peer& its = peer(rank);
  const std::lock_guard guard(its.lock);
  its.lost = true;
  its.incoming.clear();
  its.grants.clear();
  // What is posted is told of its end later, and finds its transfer gone.
  for (const auto& [name, inflow] : std::exchange(its.inflows, {})) {
    if (name.mine) helper_.flights().end(rank, inflow->operation, RMA_ERR_PEER_LOST);
  }
  for (const auto& [name, outflow] : std::exchange(its.outflows, {})) {
    if (name.mine) helper_.flights().end(rank, outflow->operation, RMA_ERR_PEER_LOST);
  }
}

bool Assisted::advance() {
  if (!stalled_.exchange(false, std::memory_order_relaxed)) return false;
  std::vector<Peer*> all;
  {
    const std::lock_guard guard(peers_lock_);
    for (const auto& [rank, its] : peers_) all.push_back(its.get());
  }
  for (Peer* const its : all) {
    const std::lock_guard guard(its->lock);
    if (!std::exchange(its->stalled, false)) continue;
    pump_in(*its);
    pump_out(*its);
  }
  return false;
}

}  // namespace rma
