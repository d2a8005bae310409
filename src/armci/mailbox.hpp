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

/// Separates the client's messages from the library's own.
enum class MessageSpace : std::uint32_t { client, library };
struct Label {
  MessageSpace space = MessageSpace::client;
  std::int32_t tag = 0;
  bool operator==(const Label&) const = default;
};

/// Two-sided messages between the members of a team, over one-sided operations. Sends and receives block. A
/// receive matches by source and label, and gets messages of one source and label in the order of sending.
///
/// A message travels as a *node* (message_nodes.hpp) in the sender's heap. The sender pushes the node onto a
/// list whose head is the receiver's *inbox*, one word. The receiver takes the whole list and reads the nodes
/// from the senders' heaps. When it has finished with a node, it pushes the node onto the list of the node's
/// owner. So each process waits at its own inbox only, and each wait takes in everything that has come:
///  - eager messages, whose nodes return to their owner at once;
///  - nodes of longer messages, which the receiver keeps until a receive matches. Then it reads the message
///    from the node, or from the sender's buffer if that is in the heap, and returns the node. For a staged
///    message it returns the node first, and the sender then sends the message in pieces;
///  - pieces for the one receive that asked for them;
///  - the process's own nodes that others return.
///
/// No process waits for ever, for these reasons. A sender without free nodes waits for receivers. A receiver
/// either waits itself, and so takes in eager messages, or computes. A sender of an announced message waits
/// for its receive. A sender of pieces waits for a receiver that is in that receive. As with MPI, two
/// processes that both send long messages before they receive wait for each other.
///
/// The memory does not depend on the number of members, except for one address per member. Only one thread at
/// a time may use a mailbox.
class Mailbox {
 public:
  /// The result of a receive.
  struct Received {
    std::size_t bytes = 0;
    int source = 0;
  };
  static constexpr int kAnySource = -1;

  /// Makes a mailbox. Collective over `team`, which outlives it. RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<Mailbox>> create(rma_team_t team);

  /// Closes the mailbox. Collective over the team, to which nobody sends any more. Messages that were never
  /// received are lost.
  [[nodiscard]] Status close();

  /// Sends a message to member `to`. Returns when `data` may be reused. A message to this process itself is
  /// copied, whatever its length. RMA_ERR_RANK, RMA_ERR_NO_MEMORY, and the errors of transfers.
  [[nodiscard]] Status send(Label label, std::span<const std::byte> data, int to);

  /// Waits for the first message with `label` from member `from`, or from any member, that no receive has
  /// taken. RMA_ERR_RANK; RMA_ERR_SIZE if the message is longer than `room`; and the errors of transfers.
  [[nodiscard]] Result<Received> receive(Label label, std::span<std::byte> room, int from);

 private:
  struct Peer {
    int rank = 0;                    ///< of the world team
    std::uint64_t* inbox = nullptr;  ///< the inbox's address at its owner
  };
  /// A node that came from another member.
  struct Arrival {
    NodeRef ref = 0;
    Node node;

    [[nodiscard]] int source() const { return node_member(ref); }
    [[nodiscard]] Label label() const { return {.space = MessageSpace{node.space}, .tag = node.tag}; }
  };
  /// A message that no receive has taken yet: a copy of it, or its node.
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
    std::size_t got = 0;  ///< bytes of the message that have arrived

    [[nodiscard]] bool wants(Label offered, int source) const {
      return !matched && offered == label && (from == kAnySource || from == source);
    }
    [[nodiscard]] bool complete() const { return matched && got == received.bytes; }
    /// Matches a message. RMA_ERR_SIZE if there is not enough room.
    [[nodiscard]] Status match(int source, std::size_t bytes);
  };

  Mailbox(rma_team_t team, int member, std::vector<Peer> peers, std::uint64_t* inbox);

  [[nodiscard]] Status check_member(int member) const;
  [[nodiscard]] const Peer& peer(int member) const { return peers_[static_cast<std::size_t>(member)]; }

  /// Pushes a node of `owner` onto the list of `to`. `next` is the address of the node's member `next`
  /// at its owner.
  [[nodiscard]] Status push(NodeRef ref, std::uint64_t* next, int owner, int to);
  [[nodiscard]] Status push_own(Node* node, int to);
  [[nodiscard]] Status return_home(NodeRef ref);
  void came_home(Node* node);

  /// Takes in all nodes that have come.
  [[nodiscard]] Status take_in();
  /// Takes in nodes until `condition()` returns true.
  template <typename Condition>
  [[nodiscard]] Status wait(const Condition& condition);

  /// Returns a free node. Waits for one if there is none.
  [[nodiscard]] Result<Node*> take_node(NodePool& pool);
  [[nodiscard]] Status send_self(Label label, std::span<const std::byte> data);
  [[nodiscard]] Status send_in_node(NodePool& pool, Node::Kind kind, Label label,
                                    std::span<const std::byte> data, int to);
  [[nodiscard]] Status send_announced(Label label, std::span<const std::byte> data, int to);
  [[nodiscard]] Status send_pieces(Label label, std::span<const std::byte> data, int to);

  [[nodiscard]] Status deliver(const Arrival& arrival);
  [[nodiscard]] Status deliver_piece(const Arrival& arrival);
  /// Keeps a message that matches no receive yet.
  [[nodiscard]] Status keep(const Arrival& arrival);
  /// Gives a message to the receive that is under way.
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
  std::vector<Arrival> arrivals_;  ///< used by take_in(); a member so that its memory is reused
  Posted* posted_ = nullptr;
  const Node* away_ = nullptr;  ///< the node of an announced message, until the receiver returns it
};

}  // namespace rma::armci
