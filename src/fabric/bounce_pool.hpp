#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "fabric/registrar.hpp"
#include "util/status.hpp"

namespace librma {

/// Registered buffers of one size. Data whose own memory is not registered is copied
/// through them. Thread-safe.
class BouncePool {
 public:
  /// The writers of the buffers: only this process and its device, or peers as well.
  enum class Writers : std::uint8_t { self, peers };
  /// Makes `count` buffers of `bytes` bytes. RMA_ERR_NO_MEMORY if they cannot be allocated or registered.
  [[nodiscard]] static Result<std::unique_ptr<BouncePool>> create(Registrar& registrar, std::size_t bytes,
                                                                  std::size_t count,
                                                                  Writers writers = Writers::self);
  ~BouncePool();
  BouncePool(const BouncePool&) = delete;
  BouncePool& operator=(const BouncePool&) = delete;

  /// Returns null if all buffers are taken.
  [[nodiscard]] std::byte* take();
  void give(std::byte* buffer);
  /// Gives a buffer back whose transfer has ended because the peer was lost. If the transfer may still take
  /// place, nobody gets the buffer any more; a spare one takes its place.
  void give_lost(std::byte* buffer);
  /// Returns the number of buffers that are in use or may be taken.
  [[nodiscard]] std::size_t usable();

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] const Registered& registered() const { return registered_; }

 private:
  BouncePool(Registrar& registrar, std::size_t bytes, Writers writers, std::byte* memory, std::size_t total)
      : registrar_(registrar), bytes_(bytes), writers_(writers), memory_(memory), total_(total) {}

  Registrar& registrar_;
  const std::size_t bytes_;
  const Writers writers_;
  std::byte* const memory_;  ///< mapped
  const std::size_t total_;
  Registered registered_;
  std::mutex lock_;
  std::vector<std::byte*> free_;
  std::size_t usable_ = 0;  ///< the number of buffers that are in use or free
  std::size_t spares_ = 0;  ///< the number of those that take the place of lost ones; the last ones
};

}  // namespace librma
