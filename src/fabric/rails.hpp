#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/bounce_pool.hpp"
#include "fabric/registrar.hpp"
#include "transport/service_thread.hpp"
#include "transport/transport.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace rma {

/// The network devices that this process uses together. Each is a rail, and talks to the rail of the same
/// name of another process (see RailMatch). Memory is registered with all of them.
class Rails final : public Registrar {
 public:
  /// Opens the usable devices that the settings allow, at most kMaxRails, by the provider
  /// that RMA_NETWORK names. RMA_ERR_UNSUPPORTED if there is no usable device,
  /// RMA_ERR_SETTING, RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<std::unique_ptr<Rails>> open(const Settings& settings, int rank, int ranks);
  /// Makes rails of transports that are already open.
  explicit Rails(std::vector<std::unique_ptr<transport::Transport>> transports)
      : transports_(std::move(transports)) {}
  ~Rails() override;

  /// Returns the thread that answers peers that connect. The caller starts it. Null for transports that
  /// were already open.
  [[nodiscard]] transport::ServiceThread* service() { return service_.get(); }

  [[nodiscard]] std::size_t count() const { return transports_.size(); }
  [[nodiscard]] transport::Transport& operator[](std::size_t rail) { return *transports_[rail]; }
  [[nodiscard]] const transport::Transport& operator[](std::size_t rail) const { return *transports_[rail]; }
  /// Returns the smallest inline limit of all rails, in bytes.
  [[nodiscard]] std::uint32_t max_inline() const;

  /// Registers the library's own buffers, if it has not done so yet. This happens early: if the limit on
  /// locked memory is reached later, each transfer can still go through these buffers. If even they cannot be
  /// registered, there are none.
  void make_buffers(const Settings& settings);
  /// Returns the bounce buffers, of RMA_BOUNCE bytes each; null if there are none.
  [[nodiscard]] BouncePool* buffers() { return buffers_.get(); }
  /// Returns the buffers for the results of atomics; null if there are none.
  [[nodiscard]] BouncePool* words() { return words_.get(); }

  [[nodiscard]] Result<Registered> add(std::byte* address, std::size_t bytes) override;
  void remove(const Registered& registered) override;
  /// Takes the memory from the rail that has a PeerMemory, if any has.
  [[nodiscard]] Result<std::byte*> take_peer_memory(std::size_t bytes) override;
  void give_peer_memory(std::byte* memory, std::size_t bytes) override;

 private:
  /// Returns the PeerMemory of the rail that has one; null if no rail has, so that any memory will do.
  [[nodiscard]] transport::PeerMemory* peer_memory();

  std::vector<std::unique_ptr<transport::Transport>> transports_;
  std::unique_ptr<BouncePool> buffers_;
  std::unique_ptr<BouncePool> words_;
  std::unique_ptr<transport::ServiceThread> service_;  ///< calls into the transports, so it is destroyed
                                                       ///< before them
};

/// Returns the number of receives that a shared queue has room for: log2(ranks), rounded up, times `factor`,
/// plus `base` (Shipman et al., Infiniband scalability in Open MPI, 2006).
[[nodiscard]] std::uint32_t receive_count(int ranks, std::uint64_t factor, std::uint64_t base);

}  // namespace rma
