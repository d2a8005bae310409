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

/// The network devices that this process uses together, each a rail: it talks to the rail of the same name of
/// another process (RailMatch). Memory is registered with all of them.
class Rails final : public Registrar {
 public:
  /// Opens the usable devices that the settings allow, at most kMaxRails, by the provider that RMA_NETWORK
  /// names. RMA_ERR_UNSUPPORTED when there is none, RMA_ERR_SETTING, RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<std::unique_ptr<Rails>> open(const Settings& settings, int rank, int ranks);
  /// Rails over transports that are open already.
  explicit Rails(std::vector<std::unique_ptr<transport::Transport>> transports)
      : transports_(std::move(transports)) {}
  ~Rails() override;

  /// The thread that answers those who connect, once it is started. Null for rails that were open already.
  [[nodiscard]] transport::ServiceThread* service() { return service_.get(); }

  [[nodiscard]] std::size_t count() const { return transports_.size(); }
  [[nodiscard]] transport::Transport& operator[](std::size_t rail) { return *transports_[rail]; }
  [[nodiscard]] const transport::Transport& operator[](std::size_t rail) const { return *transports_[rail]; }
  /// Every rail can do at least this.
  [[nodiscard]] std::uint32_t max_inline() const;

  /// Registers the library's own buffers, once: early, so that a limit of locked memory that is reached later
  /// leaves every transfer a way. Where even these cannot be registered, there are none.
  void make_buffers(const Settings& settings);
  /// Of RMA_BOUNCE bytes each; null where there are none.
  [[nodiscard]] BouncePool* buffers() { return buffers_.get(); }
  /// For the results of atomics; likewise.
  [[nodiscard]] BouncePool* words() { return words_.get(); }

  [[nodiscard]] Result<Registered> add(std::byte* address, std::size_t bytes) override;
  void remove(const Registered& registered) override;
  /// From the rail that wants to be asked for it, if one does.
  [[nodiscard]] Result<std::byte*> take_peer_memory(std::size_t bytes) override;
  void give_peer_memory(std::byte* memory, std::size_t bytes) override;

 private:
  /// Null when any memory will do.
  [[nodiscard]] transport::PeerMemory* peer_memory();

  std::vector<std::unique_ptr<transport::Transport>> transports_;
  std::unique_ptr<BouncePool> buffers_;
  std::unique_ptr<BouncePool> words_;
  std::unique_ptr<transport::ServiceThread> service_;  ///< serves the transports, so it ends first
};

/// log2(ranks) * k + b, rounded up: how many receives a shared queue has room for (Shipman et al.,
/// Infiniband scalability in Open MPI, 2006).
[[nodiscard]] std::uint32_t receive_count(int ranks, std::uint64_t factor, std::uint64_t base);

}  // namespace rma
