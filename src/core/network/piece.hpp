#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "core/requests.hpp"
#include "fabric/registrar.hpp"
#include "fabric/registration_cache.hpp"
#include "transport/transport.hpp"

namespace rma {

/// A contiguous transfer between this process's memory and a part of a rank's that lies in one registration.
struct Span {
  transport::Direction direction = transport::Direction::write;
  std::uintptr_t remote = 0;
  std::byte* local = nullptr;
  std::size_t bytes = 0;
  RailKeys remote_keys = {};
  RailKeys local_keys = {};  ///< valid where the local part is registered

  /// The first `count` bytes, which are taken off this span.
  [[nodiscard]] Span split(std::size_t count) {
    Span first = *this;
    first.bytes = count;
    remote += count;
    local += count;
    bytes -= count;
    return first;
  }
};

class BouncePool;

/// One posted request whose end is reported: what is to be done then, and what it needs until then.
struct Piece {
  int rank = -1;
  Span span = {};
  rma_request_t operation = RMA_REQUEST_NULL;  ///< it is part of; none for a put that has returned already
  BouncePool* pool = nullptr;                  ///< where `buffer` goes back to
  std::byte* buffer = nullptr;
  std::byte* copy_to = nullptr;                           ///< where a get's data goes from the buffer
  std::shared_ptr<RegistrationCache::Use> use = nullptr;  ///< the local memory's registration
  bool movable = false;  ///< another rail may take it over: nobody can have seen its effect yet
};

/// Pieces are reused, and stay where they are: a request's cookie is its piece's address. Thread-safe.
class PiecePool {
 public:
  [[nodiscard]] Piece& take() {
    const std::lock_guard guard(lock_);
    if (free_.empty()) return pieces_.emplace_back();
    Piece* const piece = free_.back();
    free_.pop_back();
    return *piece;
  }
  void give(Piece& piece) {
    piece.use.reset();
    const std::lock_guard guard(lock_);
    free_.push_back(&piece);
  }

 private:
  std::mutex lock_;
  std::deque<Piece> pieces_;
  std::vector<Piece*> free_;
};

}  // namespace rma
