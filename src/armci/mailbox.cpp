#include "armci/mailbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "armci/outcome.hpp"

namespace rma::armci {
namespace {

/// An eager node has two pages, so that no sender waits for the receive of a message of a few kilobytes. A
/// process allocates 64 KiB of them when it first sends, and at most 16 MiB.
constexpr std::size_t kEagerBytes = 8192 - offsetof(Node, front);
constexpr std::size_t kEagerAtOnce = 8;
constexpr std::size_t kEagerMost = 2048;
/// Large nodes are for messages of up to this size, and for pieces. There are enough of them that sender and
/// receiver copy at the same time. Each is large enough to make the cost of a push negligible, and small
/// enough that its payload is still in a cache when the receiver copies it.
constexpr std::size_t kLargeBytes = 65536 - offsetof(Node, front);
constexpr std::size_t kLargeNodes = 4;

std::uint64_t read_acquire(std::uint64_t& word) {
  // Pairs with the compare-and-swap in Mailbox::push.
  return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_acquire);
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

void name(Node& node, Label label, Node::Kind kind, std::size_t bytes) {
  node.kind = kind;
  node.space = static_cast<std::uint32_t>(label.space);
  node.tag = label.tag;
  node.bytes = bytes;
}

}  // namespace

Result<std::unique_ptr<Mailbox>> Mailbox::create(rma_team_t team) {
  int member = 0;
  int size = 0;
  if (Status status = outcome(rma_team_info(team, &member, &size)); !status.ok()) return status;
  if (static_cast<std::uint64_t>(size) > kMostMembers) {
    return Status(RMA_ERR_SIZE, fmt::format("the job has {} processes, and at most {} can use messages", size,
                                            kMostMembers));
  }
  std::vector<void*> addresses(static_cast<std::size_t>(size));
  void* mine = nullptr;
  // The inbox has a cache line of its own, because others write there all the time.
  Status status = outcome(rma_malloc(team, alignof(Node), alignof(Node), addresses.data(), &mine));
  if (!status.ok()) return status;
  auto* const inbox = static_cast<std::uint64_t*>(mine);
  *inbox = 0;
  std::vector<Peer> peers(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    Peer& peer = peers[static_cast<std::size_t>(i)];
    peer.inbox = static_cast<std::uint64_t*>(addresses[static_cast<std::size_t>(i)]);
    status = outcome(rma_team_world_rank(team, i, &peer.rank));
    if (!status.ok()) return status;
  }
  // Nobody pushes before every inbox is empty.
  if (status = outcome(rma_barrier(team)); !status.ok()) return status;
  return std::unique_ptr<Mailbox>(new Mailbox(team, member, std::move(peers), inbox));
}

Mailbox::Mailbox(rma_team_t team, int member, std::vector<Peer> peers, std::uint64_t* inbox)
    : team_(team),
      member_(member),
      peers_(std::move(peers)),
      inbox_(inbox),
      eager_nodes_(kEagerBytes, kEagerAtOnce, kEagerMost),
      large_nodes_(kLargeBytes, kLargeNodes, kLargeNodes) {}

Status Mailbox::close() {
  // rma_free performs a barrier. After it nobody reads this member's nodes or writes to its inbox any more.
  return outcome(rma_free(team_, inbox_));
}

Status Mailbox::check_member(int member) const {
  if (member >= 0 && static_cast<std::size_t>(member) < peers_.size()) return {};
  return {RMA_ERR_RANK,
          fmt::format("there is no process {}: the job has 0 .. {}", member, peers_.size() - 1)};
}

// ---- Nodes on their way

Status Mailbox::push(NodeRef ref, std::uint64_t* next, int owner, int to) {
  // Start with the most frequent case: the list is empty.
  std::uint64_t below = 0;
  while (true) {
    Status status;
    if (owner == member_) {
      std::atomic_ref<std::uint64_t>(*next).store(below, std::memory_order_relaxed);
    } else {
      status = outcome(rma_put(next, &below, sizeof below, peer(owner).rank));
    }
    std::uint64_t found = 0;
    if (status.ok()) {
      // Makes the node visible to the process that takes the list, and wakes it.
      status = outcome(rma_atomic64(RMA_COMPARE_SWAP, peer(to).inbox, ref, below, &found, peer(to).rank));
    }
    if (!status.ok() || found == below) return status;
    below = found;
  }
}

Status Mailbox::push_own(Node* node, int to) {
  return push(node_ref(member_, address_of(node)), &node->next, member_, to);
}

Status Mailbox::return_home(NodeRef ref) {
  const int owner = node_member(ref);
  return push(ref, reinterpret_cast<std::uint64_t*>(node_address(ref) + offsetof(Node, next)), owner, owner);
}

Status Mailbox::take_in() {
  if (read_acquire(*inbox_) == 0) return {};
  NodeRef ref = 0;
  Status status = outcome(rma_atomic64(RMA_SWAP, inbox_, 0, 0, &ref, peer(member_).rank));
  arrivals_.clear();
  while (status.ok() && ref != 0) {
    if (node_member(ref) == member_) {
      auto* const node = reinterpret_cast<Node*>(node_address(ref));
      ref = read_acquire(node->next);
      came_home(node);
      continue;
    }
    Arrival& arrival = arrivals_.emplace_back();
    arrival.ref = ref;
    status = outcome(rma_get(&arrival.node, reinterpret_cast<const void*>(node_address(ref)), sizeof(Node),
                             peer(node_member(ref)).rank));
    ref = arrival.node.next;
  }
  // The latest node is first on the list, so deliver in reverse order.
  for (auto arrival = arrivals_.rbegin(); status.ok() && arrival != arrivals_.rend(); ++arrival) {
    status = deliver(*arrival);
  }
  return status;
}

void Mailbox::came_home(Node* node) {
  switch (node->kind) {
    case Node::Kind::eager:
      eager_nodes_.give_back(node);
      break;
    case Node::Kind::buffered:
    case Node::Kind::piece:
      large_nodes_.give_back(node);
      break;
    case Node::Kind::direct:
    case Node::Kind::staged:
      away_ = nullptr;
      break;
  }
}

template <typename Condition>
Status Mailbox::wait(const Condition& condition) {
  while (true) {
    if (Status status = take_in(); !status.ok()) return status;
    if (condition()) return {};
    if (Status status = outcome(rma_wait_until(inbox_, RMA_NE, 0, nullptr)); !status.ok()) return status;
  }
}

// ---- Sending

Result<Node*> Mailbox::take_node(NodePool& pool) {
  if (!pool.any_free()) {
    if (Status status = take_in(); !status.ok()) return status;
  }
  auto node = pool.take();
  if (!node.ok() || node.value() != nullptr) return node;
  if (Status status = wait([&] { return pool.any_free(); }); !status.ok()) return status;
  return pool.take();
}

Status Mailbox::send(Label label, std::span<const std::byte> data, int to) {
  if (Status status = check_member(to); !status.ok()) return status;
  if (to == member_) return send_self(label, data);
  if (data.size() <= kEagerBytes) return send_in_node(eager_nodes_, Node::Kind::eager, label, data, to);
  if (data.size() <= kLargeBytes) return send_in_node(large_nodes_, Node::Kind::buffered, label, data, to);
  return send_announced(label, data, to);
}

Status Mailbox::send_self(Label label, std::span<const std::byte> data) {
  // No receive is under way, because only this thread could have made it.
  Message message = {.label = label, .source = member_, .bytes = data.size(), .payload = {}, .kept = {}};
  message.payload = std::make_unique_for_overwrite<std::byte[]>(data.size());
  std::copy(data.begin(), data.end(), message.payload.get());
  // Messages that others sent to this member before come first.
  if (Status status = take_in(); !status.ok()) return status;
  messages_.push_back(std::move(message));
  return {};
}

Status Mailbox::send_in_node(NodePool& pool, Node::Kind kind, Label label, std::span<const std::byte> data,
                             int to) {
  auto taken = take_node(pool);
  if (!taken.ok()) return std::move(taken).status();
  Node* const node = taken.value();
  name(*node, label, kind, data.size());
  node->data = address_of(payload_of(node));
  std::copy(data.begin(), data.end(), payload_of(node));
  return push_own(node, to);
}

Status Mailbox::send_announced(Label label, std::span<const std::byte> data, int to) {
  auto taken = take_node(eager_nodes_);
  if (!taken.ok()) return std::move(taken).status();
  Node* const node = taken.value();
  void* here = nullptr;
  const bool readable = rma_map(data.data(), data.size(), peer(member_).rank, &here) == RMA_SUCCESS;
  name(*node, label, readable ? Node::Kind::direct : Node::Kind::staged, data.size());
  node->data = address_of(data.data());
  away_ = node;
  if (Status status = push_own(node, to); !status.ok()) return status;
  if (Status status = wait([&] { return away_ == nullptr; }); !status.ok()) return status;
  eager_nodes_.give_back(node);
  return readable ? Status() : send_pieces(label, data, to);
}

Status Mailbox::send_pieces(Label label, std::span<const std::byte> data, int to) {
  for (std::size_t offset = 0; offset < data.size(); offset += kLargeBytes) {
    auto taken = take_node(large_nodes_);
    if (!taken.ok()) return std::move(taken).status();
    Node* const node = taken.value();
    const auto piece = data.subspan(offset, std::min(kLargeBytes, data.size() - offset));
    name(*node, label, Node::Kind::piece, piece.size());
    node->offset = offset;
    node->data = address_of(payload_of(node));
    std::copy(piece.begin(), piece.end(), payload_of(node));
    if (Status status = push_own(node, to); !status.ok()) return status;
  }
  return {};
}

// ---- Receiving

Result<Mailbox::Received> Mailbox::receive(Label label, std::span<std::byte> room, int from) {
  if (from != kAnySource) {
    if (Status status = check_member(from); !status.ok()) return status;
  }
  Posted posted = {.label = label, .from = from, .room = room};
  const auto waiting = std::find_if(messages_.begin(), messages_.end(), [&](const Message& message) {
    return posted.wants(message.label, message.source);
  });
  posted_ = &posted;
  Status status;
  if (waiting != messages_.end()) {
    status = accept(*waiting);
    messages_.erase(waiting);
  }
  if (status.ok()) status = wait([&] { return posted.complete(); });
  posted_ = nullptr;
  if (!status.ok()) return status;
  return posted.received;
}

Status Mailbox::Posted::match(int source, std::size_t bytes) {
  if (bytes > room.size()) {
    return {RMA_ERR_SIZE, fmt::format("the message with tag {} from process {} has {} bytes, and the buffer "
                                      "for it only {}",
                                      label.tag, source, bytes, room.size())};
  }
  matched = true;
  received = {.bytes = bytes, .source = source};
  return {};
}

Status Mailbox::accept(const Message& message) {
  if (message.kept) return accept(*message.kept);
  if (Status status = posted_->match(message.source, message.bytes); !status.ok()) return status;
  std::copy_n(message.payload.get(), message.bytes, posted_->room.data());
  posted_->got = message.bytes;
  return {};
}

Status Mailbox::accept(const Arrival& arrival) {
  if (Status status = posted_->match(arrival.source(), arrival.node.bytes); !status.ok()) return status;
  if (arrival.node.kind != Node::Kind::staged) {
    if (Status status = read(posted_->room.data(), arrival); !status.ok()) return status;
    posted_->got = arrival.node.bytes;
  }
  return return_home(arrival.ref);
}

Status Mailbox::deliver(const Arrival& arrival) {
  if (arrival.node.kind == Node::Kind::piece) return deliver_piece(arrival);
  const bool wanted = posted_ != nullptr && posted_->wants(arrival.label(), arrival.source());
  return wanted ? accept(arrival) : keep(arrival);
}

Status Mailbox::deliver_piece(const Arrival& arrival) {
  // A sender sends pieces only to a receive that has matched and waits for them.
  const Node& node = arrival.node;
  if (Status status = read(posted_->room.data() + node.offset, arrival); !status.ok()) return status;
  posted_->got += node.bytes;
  return return_home(arrival.ref);
}

Status Mailbox::keep(const Arrival& arrival) {
  Message message = {.label = arrival.label(),
                     .source = arrival.source(),
                     .bytes = arrival.node.bytes,
                     .payload = {},
                     .kept = {}};
  if (arrival.node.kind == Node::Kind::eager) {
    message.payload = std::make_unique_for_overwrite<std::byte[]>(message.bytes);
    if (Status status = read(message.payload.get(), arrival); !status.ok()) return status;
    messages_.push_back(std::move(message));
    return return_home(arrival.ref);
  }
  message.kept = arrival;
  messages_.push_back(std::move(message));
  return {};
}

Status Mailbox::read(std::byte* dst, const Arrival& arrival) const {
  const Node& node = arrival.node;
  if (node.bytes <= Node::kFrontBytes && node.kind != Node::Kind::direct) {
    std::copy_n(node.front.data(), node.bytes, dst);
    return {};
  }
  return outcome(
      rma_get(dst, reinterpret_cast<const void*>(node.data), node.bytes, peer(arrival.source()).rank));
}

}  // namespace rma::armci
