#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/network/network.hpp"
#include "fabric/rail_match.hpp"

namespace rma {

/// What the network knows of one rank.
struct Network::Peer {
  std::mutex lock;                            ///< of connecting, and of changing the primary rail
  std::atomic<bool> ready = false;            ///< stored with release when what follows is filled in
  std::vector<std::vector<std::byte>> cards;  ///< per rail of this process; none where the rank has no match
  RailMatch rails;
  std::uint32_t unmatched = 0;  ///< rails that the rank has none for, as bits
  std::unique_ptr<RemoteMemory> memory;
  std::atomic<std::uint32_t> connected = 0;  ///< rails, as bits
  std::atomic<std::uint32_t> dead = 0;       ///< rails that failed or have no match, as bits
  std::atomic<std::size_t> primary_rail = 0;
  std::atomic<std::size_t> next_rail = 0;         ///< for the next part of a divided transfer
  std::atomic<std::uint32_t> loose = 0;           ///< pieces under way of puts that have returned
  std::atomic<std::uint32_t> loose_requests = 0;  ///< messages under way whose calls have returned
  std::atomic<bool> trailing = false;             ///< unreported puts may be under way

  /// A rail has failed.
  [[nodiscard]] bool failed() const { return (dead.load(std::memory_order_acquire) & ~unmatched) != 0; }
  [[nodiscard]] bool alive(std::size_t rail) const {
    const std::uint32_t bit = 1U << rail;
    return (connected.load(std::memory_order_acquire) & bit) != 0 &&
           (dead.load(std::memory_order_acquire) & bit) == 0;
  }
};

inline Network::Peer& Network::peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

/// Reads a rank's directory over its primary rail, after what `batch` has not posted yet: that may hold the
/// very buffers that reading waits for.
class Network::DirectoryReader final : public RemoteMemory::Reader {
 public:
  DirectoryReader(Network& network, Batch& batch, const RailKeys& keys)
      : network_(network), batch_(batch), keys_(keys) {}
  [[nodiscard]] Status read(std::byte* to, std::uintptr_t address, std::size_t bytes) override {
    if (Status status = network_.flush(batch_); !status.ok()) return status;
    return network_.read_raw(batch_.rank(), to, address, keys_, bytes);
  }

 private:
  Network& network_;
  Batch& batch_;
  const RailKeys& keys_;
};

}  // namespace rma
