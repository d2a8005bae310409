#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/bounce_pool.hpp"
#include "fabric/registrar.hpp"
#include "transport/service_thread.hpp"
#include "transport/shm/host_peers.hpp"
#include "transport/transport.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace librma {

/// The transports that this process uses together: the network devices, each of which is a rail, and the
/// transport to the ranks of this host. A rail talks to the rail of the same name of another process (see
/// RailMatch). Memory is registered with all rails. The transport within the host needs no registration, and
/// carries messages only: mapped memory is accessed without it.
class Rails final : public Registrar {
 public:
  /// Names the transports that open() opens.
  struct Wanted {
    int rank = 0;
    int ranks = 1;
    bool network = false;     ///< open network devices
    std::vector<int> locals;  ///< the ranks of this host, ascending; with fewer than two, no local transport
    transport::HostPeers* host =
        nullptr;  ///< their processes; needed for the local transport, and outlives it
  };
  /// Opens the wanted transports. For the network these are the usable devices that the settings allow, at
  /// most kMaxRails, by the provider that RMA_NETWORK names. RMA_ERR_UNSUPPORTED if there is no usable
  /// device, RMA_ERR_SETTING, RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM. If the local transport cannot be opened,
  /// there is none.
  [[nodiscard]] static Result<std::unique_ptr<Rails>> open(const Settings& settings, const Wanted& wanted);
  /// Makes rails of transports that are already open. `local` may be null.
  explicit Rails(std::vector<std::unique_ptr<transport::Transport>> transports,
                 std::unique_ptr<transport::Transport> local = nullptr)
      : transports_(std::move(transports)), local_(std::move(local)) {}
  ~Rails() override;

  /// Returns the thread that answers peers that connect. The caller starts it. Returns null for transports
  /// that were already open.
  [[nodiscard]] transport::ServiceThread* service() { return service_.get(); }

  /// Returns the number of network devices.
  [[nodiscard]] std::size_t count() const { return transports_.size(); }
  /// Returns which network they belong to; off if none was opened.
  [[nodiscard]] NetworkSetting network() const { return network_; }
  [[nodiscard]] bool has_local() const { return local_ != nullptr; }
  /// Returns a rail by its number, or the local transport for kLocalRail, if there is one.
  [[nodiscard]] transport::Transport& operator[](std::size_t rail) {
    return rail == kLocalRail ? *local_ : *transports_[rail];
  }
  [[nodiscard]] const transport::Transport& operator[](std::size_t rail) const {
    return rail == kLocalRail ? *local_ : *transports_[rail];
  }
  /// Returns the smallest inline limit of all rails, in bytes.
  [[nodiscard]] std::uint32_t max_inline() const;

  /// Registers the library's own buffers, if it has not done so yet. This happens early: if the limit on
  /// locked memory is reached later, each transfer can still go through these buffers. If even they cannot be
  /// registered, there are none.
  void make_buffers(const Settings& settings);
  /// Returns the bounce buffers, of RMA_BOUNCE bytes each, or null if there are none.
  [[nodiscard]] BouncePool* buffers() { return buffers_.get(); }
  /// Returns the buffers for the results of atomics, or null if there are none.
  [[nodiscard]] BouncePool* words() { return words_.get(); }

  [[nodiscard]] Result<Registered> add(std::byte* address, std::size_t bytes) override;
  void remove(const Registered& registered) override;
  [[nodiscard]] bool late_transfers() const override;
  /// Takes the memory from the transport that has a PeerMemory, if any has.
  [[nodiscard]] Result<std::byte*> take_peer_memory(std::size_t bytes) override;
  void give_peer_memory(std::byte* memory, std::size_t bytes) override;

 private:
  /// Opens the network devices.
  [[nodiscard]] Status open_network(const Settings& settings, const Wanted& wanted);
  void open_local(const Settings& settings, const Wanted& wanted);
  /// Returns the PeerMemory of the transport that has one; null if none has, so that any memory will do.
  [[nodiscard]] transport::PeerMemory* peer_memory();

  std::vector<std::unique_ptr<transport::Transport>> transports_;
  NetworkSetting network_ = NetworkSetting::off;
  std::unique_ptr<transport::Transport> local_;  ///< null if this process is alone on its host
  std::unique_ptr<BouncePool> buffers_;
  std::unique_ptr<BouncePool> words_;
  std::unique_ptr<transport::ServiceThread> service_;  ///< calls into the transports, so it is destroyed
                                                       ///< before them
};

/// Returns the number of receives that a shared queue has room for: log2(ranks), rounded up, times `factor`,
/// plus `base` (Shipman et al., Infiniband scalability in Open MPI, 2006).
[[nodiscard]] std::uint32_t receive_count(int ranks, std::uint64_t factor, std::uint64_t base);

}  // namespace librma
