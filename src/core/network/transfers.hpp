#pragma once

#include <cstddef>
#include <cstdint>

#include "core/network/bounce_copy.hpp"
#include "core/network/copy_fallback.hpp"
#include "core/network/inline_put.hpp"
#include "core/network/posting.hpp"
#include "core/network/remote_keys.hpp"
#include "core/network/request_order.hpp"
#include "core/network/zero_copy.hpp"
#include "fabric/registrar.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace librma {

/// Puts and gets. Looks up the remote memory, cuts a transfer where registrations end, and chooses the
/// protocol of each part:
///
/// | the part | protocol |
/// |---|---|
/// | is a put of at most RMA_INLINE bytes | InlinePut |
/// | has local memory in this process's heap | ZeroCopy, with the heap's keys |
/// | has at most RMA_BOUNCE bytes, or RMA_LOCAL_BUFFERS=bounce | BounceCopy |
/// | any other | ZeroCopy, registers by the cache or a pipeline; BounceCopy if that fails |
/// | has remote memory that is not registered | CopyFallback, if there is one |
///
/// Thread-safe.
class Transfers {
 public:
  /// All of these outlive this object.
  Transfers(const Settings& settings, OwnMemory own_memory, RequestOrder& requests, RemoteKeys& keys,
            Posting& posting, ConnectionManager& connections, InlinePut& inline_put, BounceCopy& bounce,
            ZeroCopy& zero_copy);

  /// Sets what reaches memory that is not registered. Not thread-safe; called before the first transfer.
  /// `fallback` outlives the network's use; null if such memory is out of reach.
  void set_copy_fallback(CopyFallback* fallback) { copy_fallback_ = fallback; }

  /// Moves [src, src + bytes) to `dst` of the batch's rank, or the other way round; nothing if part of the
  /// rank's memory is out of reach. The copy fallback moves what the devices do not reach. RMA_ERR_ADDRESS,
  /// RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY, RMA_ERR_UNSUPPORTED. The batch's operation reports later failures,
  /// or the next fence those of transfers that belong to no operation. Posting::flush() posts what is left in
  /// the batch.
  [[nodiscard]] Status put(Batch& batch, void* dst, const void* src, std::size_t bytes);
  [[nodiscard]] Status get(Batch& batch, void* dst, const void* src, std::size_t bytes);
  /// Returns whether put() and get() find all of `rank`'s [address, address + bytes); their errors.
  [[nodiscard]] Status reachable(const void* address, std::size_t bytes, int rank);
  /// Returns whether one registration of `rank` holds all of [address, address + bytes).
  [[nodiscard]] bool registered(std::uintptr_t address, std::size_t bytes, int rank);

 private:
  [[nodiscard]] Status transfer(Batch& batch, transport::Direction direction, std::uintptr_t remote,
                                std::byte* local, std::size_t bytes);
  /// Chooses the protocol of a transfer whose remote memory lies in one registration. Uses `span` up.
  [[nodiscard]] Status post(Batch& batch, NetworkPeer& peer, Span& span);
  /// Lets the copy fallback move data that the devices do not reach. Returns `refused` if it cannot.
  [[nodiscard]] Status fall_back_to_copy(Batch& batch, transport::Direction direction, std::uintptr_t remote,
                                         std::byte* local, std::size_t bytes, Status refused);

  const Settings& settings_;
  const OwnMemory own_memory_;
  RequestOrder& requests_;
  RemoteKeys& keys_;
  Posting& posting_;
  ConnectionManager& connections_;
  InlinePut& inline_put_;
  BounceCopy& bounce_;
  ZeroCopy& zero_copy_;
  CopyFallback* copy_fallback_ = nullptr;
};

}  // namespace librma
