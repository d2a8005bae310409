#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/status.hpp"

namespace rma::armci {

/// What travels between mailboxes: one step of one message. Lies in its sender's heap, where the receiver
/// reads it, and is followed by its payload where that is not elsewhere.
struct alignas(64) Node {
  enum class Kind : std::uint32_t {
    eager,     ///< a whole message, which the receiver copies at once
    buffered,  ///< a whole message, which the receiver reads, and returns the node, when it is asked for it
    direct,    ///< the same, but the message is where its sender's program has it
    staged,    ///< announces a message that is sent in pieces once the node has been returned
    piece      ///< a piece of it
  };
  /// Payload in front, which is read together with what is before it.
  static constexpr std::size_t kFrontBytes = 192;

  std::uint64_t next = 0;  ///< the node below in the list that it is on, a NodeRef; 0 for none
  Kind kind = Kind::eager;
  std::uint32_t space = 0;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;   ///< of the message; of a piece, its own
  std::uint64_t offset = 0;  ///< of a piece in its message
  std::uint64_t data = 0;    ///< where the payload lies in the sender's memory, unless staged
  std::array<std::byte, 16> unused = {};
  std::array<std::byte, kFrontBytes> front = {};
};
static_assert(offsetof(Node, front) == 64 && sizeof(Node) == 256);

/// A node of any process as one word: the member that owns it, and its address. 0 is none.
using NodeRef = std::uint64_t;

inline constexpr unsigned kNodeAddressBits = 48;
inline constexpr unsigned kNodeAlignmentBits = 6;
/// The most members that a NodeRef tells apart.
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

/// Nodes of this process's heap, each with `payload` bytes, made a chunk at a time as they are wanted.
class NodePool {
 public:
  /// At most `most` nodes, `at_once` made at a time.
  NodePool(std::size_t payload, std::size_t at_once, std::size_t most)
      : payload_(payload), at_once_(at_once), most_(most) {}
  ~NodePool();
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;

  [[nodiscard]] std::size_t payload() const { return payload_; }
  /// A free node, making some more where there is none and the limits and the heap allow; null else: then one
  /// comes back some time. RMA_ERR_NO_MEMORY when there is not even one.
  [[nodiscard]] Result<Node*> take();
  /// Whether take() would have one.
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

/// Where a node's own payload lies.
inline std::byte* payload_of(Node* node) { return node->front.data(); }

}  // namespace rma::armci
