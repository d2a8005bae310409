#include "armci/message_nodes.hpp"

#include <algorithm>
#include <new>

#include "armci/outcome.hpp"

namespace rma::armci {

NodePool::~NodePool() {
  for (void* const chunk : chunks_) static_cast<void>(rma_free_local(chunk));
}

Result<Node*> NodePool::take() {
  if (free_.empty() && made_ < most_) {
    const std::size_t node_bytes = std::max(sizeof(Node), offsetof(Node, front) + payload_);
    const std::size_t count = std::min(at_once_, most_ - made_);
    void* chunk = nullptr;
    Status made = outcome(rma_malloc_local(count * node_bytes, alignof(Node), &chunk));
    if (!made.ok() && made_ == 0) return std::move(made).within("room for messages to send");
    if (made.ok()) {
      chunks_.push_back(chunk);
      for (std::size_t i = 0; i < count; ++i) {
        free_.push_back(new (static_cast<std::byte*>(chunk) + i * node_bytes) Node);
      }
      made_ += count;
    }
  }
  if (free_.empty()) return static_cast<Node*>(nullptr);
  Node* const node = free_.back();
  free_.pop_back();
  return node;
}

}  // namespace rma::armci
