#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/status.hpp"

namespace rma::armci {

/// One step of one message between mailboxes. It lies in its sender's heap, where the receiver reads it. Its
/// payload follows it, unless the payload lies elsewhere.
struct alignas(64) Node {
  enum class Kind : std::uint32_t {
    eager,     ///< a whole message, which the receiver copies at once
    buffered,  ///< a whole message; the receiver reads it and returns the node when a receive matches
    direct,    ///< the same, but the message lies in the buffer of the sender's program
    staged,    ///< announces a message that is sent in pieces after the node has been returned
    piece      ///< a piece of a staged message
  };
  /// The first bytes of the payload, which are read together with the members before them.
  static constexpr std::size_t kFrontBytes = 192;

  std::uint64_t next = 0;  ///< the next node on the list, a NodeRef; 0 for none
  Kind kind = Kind::eager;
  std::uint32_t space = 0;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;   ///< the size of the message, or of the piece
  std::uint64_t offset = 0;  ///< the offset of a piece in its message
  std::uint64_t data = 0;    ///< the address of the payload in the sender's memory, unless staged
  std::array<std::byte, 16> unused = {};
  std::array<std::byte, kFrontBytes> front = {};
};
static_assert(offsetof(Node, front) == 64 && sizeof(Node) == 256);

/// Names a node of any process by one word: the member that owns it, and its address. 0 means none.
using NodeRef = std::uint64_t;

inline constexpr unsigned kNodeAddressBits = 48;
inline constexpr unsigned kNodeAlignmentBits = 6;
/// The maximum number of members that a NodeRef can distinguish.
inline constexpr std::uint64_t kMostMembers = std::uint64_t{1}
                                              << (64 - (kNodeAddressBits - kNodeAlignmentBits));
static_assert(alignof(Node) == 1U << kNodeAlignmentBits && kMostMembers == std::uint64_t{4} << 20U);

constexpr NodeRef node_ref(int member, std::uint64_t address) {
  return static_cast<std::uint64_t>(member) << (kNodeAddressBits - kNodeAlignmentBits) |
         address >> kNodeAlignmentBits;
}
constexpr int node_member(NodeRef ref) {
  return static_cast<int>(ref >> (kNodeAddressBits - kNodeAlignmentBits));
}
constexpr std::uint64_t node_address(NodeRef ref) {
  return (ref & ((std::uint64_t{1} << (kNodeAddressBits - kNodeAlignmentBits)) - 1)) << kNodeAlignmentBits;
}
static_assert(node_member(node_ref(5, 0x7fff'1234'5640)) == 5);
static_assert(node_address(node_ref(5, 0x7fff'1234'5640)) == 0x7fff'1234'5640);

/// Nodes of this process's heap, each with `payload` bytes. The pool allocates them in chunks, when
/// they are needed.
class NodePool {
 public:
  /// The pool has at most `most` nodes, and allocates `at_once` nodes at a time.
  NodePool(std::size_t payload, std::size_t at_once, std::size_t most)
      : payload_(payload), at_once_(at_once), most_(most) {}
  ~NodePool();
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;

  [[nodiscard]] std::size_t payload() const { return payload_; }
  /// Returns a free node. If there is none, allocates more if the limit and the heap allow it. Else returns
  /// null; a node will be returned later. RMA_ERR_NO_MEMORY if the pool cannot allocate its first node.
  [[nodiscard]] Result<Node*> take();
  /// Returns whether a node is free.
  [[nodiscard]] bool any_free() const { return !free_.empty(); }
  void give_back(Node* node) { free_.push_back(node); }

 private:
  const std::size_t payload_;
  const std::size_t at_once_;
  const std::size_t most_;
  std::size_t made_ = 0;
  std::vector<void*> chunks_;
  std::vector<Node*> free_;
};

/// Returns the address of a node's own payload.
inline std::byte* payload_of(Node* node) { return node->front.data(); }

}  // namespace rma::armci
