#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "armci/message_nodes.hpp"
#include "rma/rma.h"
#include "util/status.hpp"

namespace rma::armci {

/// What tells messages of one source apart: the client's tags, and the library's own messages.
enum class MessageSpace : std::uint32_t { client, library };
struct Label {
  MessageSpace space = MessageSpace::client;
  std::int32_t tag = 0;
  bool operator==(const Label&) const = default;
};

/// Two-sided messages between the members of a team, over one-sided operations: blocking, matched by source
/// and label, in the order of sending for each source and label.
///
/// What is sent is a *node* (message_nodes.hpp) in the sender's heap. The sender pushes it onto the list in
/// the receiver's *inbox*, a word; the receiver takes the whole list, and what is in the nodes is read from
/// there. When done with a node the receiver pushes it onto the list of its owner. So each process waits for
/// its own inbox only, whatever it waits for, and each wait takes in everything that has come:
///  - eager messages, whose nodes go home at once;
///  - nodes of longer ones, which the receiver keeps until a receive matches. Then it reads the message from
///    the node, or from where its sender has it if that is in the heap, and returns the node. Or it returns
///    the node first, and the sender then sends the message in pieces;
///  - pieces, for the one receive that asked for them;
///  - nodes of its own that come home.
///
/// Why nobody waits in vain: a sender out of nodes waits for receivers that wait for something themselves,
/// and so take in eager messages, or are busy elsewhere. A sender of an announced message waits for its
/// receive, and one of pieces for a receiver that is in that receive. As with MPI, two that both send long
/// messages before they receive wait for each other.
///
/// Memory does not depend on the number of members, but for one address of each. Used by one thread at a
/// time.
class Mailbox {
 public:
  /// What a receive got.
  struct Received {
    std::size_t bytes = 0;
    int source = 0;
  };
  static constexpr int kAnySource = -1;

  /// Collective over `team`, which outlives it. RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<Mailbox>> create(rma_team_t team);

  /// Ends it: collective over the team, which nobody sends to any more. Messages never received are gone.
  [[nodiscard]] Status close();

  /// Sends to member `to`; returns when `data` may be reused. A message to oneself is copied, however long.
  /// RMA_ERR_RANK, RMA_ERR_NO_MEMORY, and what transfers report.
  [[nodiscard]] Status send(Label label, std::span<const std::byte> data, int to);

  /// Waits for the first message of `label` from member `from`, or from any, that no receive has had.
  /// RMA_ERR_RANK; RMA_ERR_SIZE when it is longer than `room`; and what transfers report.
  [[nodiscard]] Result<Received> receive(Label label, std::span<std::byte> room, int from);

 private:
  struct Peer {
    int rank = 0;                    ///< of the world team
    std::uint64_t* inbox = nullptr;  ///< its own address
  };
  /// A node of another member that came.
  struct Arrival {
    NodeRef ref = 0;
    Node node;

    [[nodiscard]] int source() const { return node_member(ref); }
    [[nodiscard]] Label label() const { return {.space = MessageSpace{node.space}, .tag = node.tag}; }
  };
  /// A message that no receive has had yet: copied here, or its node.
  struct Message {
    Label label;
    int source = 0;
    std::size_t bytes = 0;
    std::unique_ptr<std::byte[]> payload;
    std::optional<Arrival> kept;
  };
  /// The receive that is under way.
  struct Posted {
    Label label;
    int from = kAnySource;
    std::span<std::byte> room;
    bool matched = false;
    Received received = {};
    std::size_t got = 0;  ///< bytes of it that are here

    [[nodiscard]] bool wants(Label offered, int source) const {
      return !matched && offered == label && (from == kAnySource || from == source);
    }
    [[nodiscard]] bool complete() const { return matched && got == received.bytes; }
    /// RMA_ERR_SIZE when there is not enough room.
    [[nodiscard]] Status match(int source, std::size_t bytes);
  };

  Mailbox(rma_team_t team, int member, std::vector<Peer> peers, std::uint64_t* inbox);

  [[nodiscard]] Status check_member(int member) const;
  [[nodiscard]] const Peer& peer(int member) const { return peers_[static_cast<std::size_t>(member)]; }

  /// Pushes a node that `owner` has, whose `next` is at that address there, onto the list of `to`.
  [[nodiscard]] Status push(NodeRef ref, std::uint64_t* next, int owner, int to);
  [[nodiscard]] Status push_own(Node* node, int to);
  [[nodiscard]] Status return_home(NodeRef ref);
  void came_home(Node* node);

  /// Takes in all that has come.
  [[nodiscard]] Status take_in();
  /// Takes in what comes until `condition()`.
  template <typename Condition>
  [[nodiscard]] Status wait(const Condition& condition);

  /// A free node; waits for one.
  [[nodiscard]] Result<Node*> take_node(NodePool& pool);
  [[nodiscard]] Status send_self(Label label, std::span<const std::byte> data);
  [[nodiscard]] Status send_in_node(NodePool& pool, Node::Kind kind, Label label,
                                    std::span<const std::byte> data, int to);
  [[nodiscard]] Status send_announced(Label label, std::span<const std::byte> data, int to);
  [[nodiscard]] Status send_pieces(Label label, std::span<const std::byte> data, int to);

  [[nodiscard]] Status deliver(const Arrival& arrival);
  [[nodiscard]] Status deliver_piece(const Arrival& arrival);
  /// Keeps a message that no receive wants yet.
  [[nodiscard]] Status keep(const Arrival& arrival);
  /// Gives a message to the receive under way.
  [[nodiscard]] Status accept(const Arrival& arrival);
  [[nodiscard]] Status accept(const Message& message);
  /// Reads the node's payload.
  [[nodiscard]] Status read(std::byte* dst, const Arrival& arrival) const;

  const rma_team_t team_;
  const int member_;
  const std::vector<Peer> peers_;
  std::uint64_t* const inbox_;
  NodePool eager_nodes_;
  NodePool large_nodes_;
  std::list<Message> messages_;    ///< in the order of arrival
  std::vector<Arrival> arrivals_;  ///< of one take_in(), kept for its memory
  Posted* posted_ = nullptr;
  const Node* away_ = nullptr;  ///< an announcement, until it comes home
};

}  // namespace rma::armci
