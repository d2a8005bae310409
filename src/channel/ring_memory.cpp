#include "channel/ring_memory.hpp"

#include "util/log.hpp"

namespace librma {

RingMemory::Piece RingMemory::take() {
  if (!spare_.empty()) {
    Piece piece = std::move(spare_.back());
    spare_.pop_back();
    return piece;
  }
  if (made_ >= most_) return nullptr;
  auto piece = BouncePool::create(registrar_, bytes_, 1, writers_);
  if (!piece.ok()) {
    log(LogLevel::info, "no more rings for messages: {}", piece.status().text());
    most_ = made_;  // repeated attempts would cost more than rings are worth
    return nullptr;
  }
  ++made_;
  return std::move(piece).value();
}

void RingMemory::drop(Piece piece) {
  if (piece != nullptr) --made_;
}

}  // namespace librma
