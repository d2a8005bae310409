#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/network/completions.hpp"
#include "core/network/connection_manager.hpp"
#include "fabric/registration_cache.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace librma {

/// A piece of this process's memory that the devices may read and write as long as the object lives.
struct DeviceMemory {
  RailKeys local = {};
  RailKeys remote = {};
  std::shared_ptr<RegistrationCache::Use> use = nullptr;  ///< null for memory of the heap
};

/// Reads and writes of memory for which its owner has sent the keys, as a rendezvous does (UCX: rkey). Never
/// waits, so a handler of a message may start a transfer; progress posts it. Thread-safe.
class KeyedTransfers {
 public:
  /// All of these outlive this object.
  KeyedTransfers(const Settings& settings, OwnMemory own_memory, RegistrationCache& cache,
                 ConnectionManager& connections, Completions& completions)
      : settings_(settings),
        own_memory_(std::move(own_memory)),
        cache_(cache),
        connections_(connections),
        completions_(completions) {}

  /// Makes [address, address + bytes) of this process usable by the devices. If `keep`, the registration
  /// cache is asked first, and keeps the registration afterwards; otherwise memory outside the heap is
  /// registered for this use alone. RMA_ERR_UNSUPPORTED and RMA_ERR_NO_MEMORY if the memory cannot be
  /// registered, or RMA_LOCAL_BUFFERS says that it is copied.
  [[nodiscard]] Result<DeviceMemory> prepare(std::byte* address, std::size_t bytes, bool keep);

  /// Returns whether start() works for `rank`: this process has connected with it. A handler of a message
  /// must not connect. Two processes whose handlers connect with each other would wait for each other,
  /// because neither takes in messages meanwhile.
  [[nodiscard]] bool connected(int rank) {
    return connections_.peer(rank).ready.load(
        std::memory_order_acquire);  // pairs with the store in connect_first()
  }

  /// Returns whether a transfer of `bytes` bytes would be divided among more rails if connect_rails() were
  /// called. `rank` is connected().
  [[nodiscard]] bool wants_rails(int rank, std::size_t bytes);
  /// Connects all rails with `rank`, which is connected(). Waits, so no handler of a message calls it.
  void connect_rails(int rank) { static_cast<void>(connections_.connect_all(connections_.peer(rank))); }

  /// Starts to read `bytes` bytes at `remote` of `rank` into `local`, or to write them there, as parts of
  /// `operation`. `keys` are the rank's remote keys in the order of its rails, and `memory` is what prepare()
  /// returned for `local`. Transfers of RMA_STRIPE bytes and more are divided among the
  /// rails that are connected. Nobody may look at the data before the
  /// operation is complete. The rank is connected(). RMA_ERR_PEER_LOST.
  [[nodiscard]] Status start(transport::Direction direction, int rank, std::uintptr_t remote,
                             const RailKeys& keys, std::byte* local, std::size_t bytes,
                             const DeviceMemory& memory, rma_request_t operation);

  /// Starts to write nothing to `rank`, which is connected(), as a part of `operation`. The rank's device
  /// answers even while its program computes. The part ends with RMA_ERR_PEER_LOST if the rank's process is
  /// gone.
  void probe(int rank, rma_request_t operation);

 private:
  const Settings& settings_;
  const OwnMemory own_memory_;
  RegistrationCache& cache_;
  ConnectionManager& connections_;
  Completions& completions_;
};

}  // namespace librma
