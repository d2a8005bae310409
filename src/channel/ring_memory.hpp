#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fabric/bounce_pool.hpp"
#include "fabric/registrar.hpp"

namespace librma {

/// Registered memory for rings, or for images of rings, in pieces of one size. A piece is made when it is
/// first needed, and kept for the next use. For one thread at a time.
class RingMemory {
 public:
  using Piece = std::unique_ptr<BouncePool>;

  /// @param most     the most pieces that exist at the same time
  /// @param writers  peers for rings; this process alone for images
  RingMemory(Registrar& registrar, std::size_t bytes, std::size_t most, BouncePool::Writers writers)
      : registrar_(registrar), bytes_(bytes), most_(most), writers_(writers) {
    spare_.reserve(most);  // give() allocates nothing
  }

  /// Takes a piece. Returns null if all are taken, or if no more can be registered.
  [[nodiscard]] Piece take();
  void give(Piece piece) { spare_.push_back(std::move(piece)); }
  /// Deregisters the piece and gives its memory back to the system. No other process's device can reach it
  /// any more.
  void drop(Piece piece);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] static std::span<std::byte> memory(const Piece& piece) {
    return {piece->registered().address, piece->registered().bytes};
  }

 private:
  Registrar& registrar_;
  const std::size_t bytes_;
  std::size_t most_;
  const BouncePool::Writers writers_;
  std::size_t made_ = 0;
  std::vector<Piece> spare_;
};

}  // namespace librma
