#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "core/job/local_processes.hpp"
#include "core/job/process_card.hpp"
#include "core/job/user_regions.hpp"
#include "core/network/network_card.hpp"
#include "fabric/rails.hpp"
#include "malloc/allocator.hpp"
#include "malloc/backing.hpp"
#include "malloc/region_table.hpp"
#include "malloc/registered_backing.hpp"
#include "malloc/window.hpp"
#include "rma/direct.h"
#include "util/process_identity.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// Says how this process reaches a range of a rank's memory.
struct Path {
  enum class Kind : std::uint8_t {
    direct,   ///< mapped here, at `here`
    foreign,  ///< registered by its owner, outside its heap: reached by a transport, or at `here` if it is
              ///< this process's own
    network,  ///< of a rank that is not mapped here
    none      ///< neither allocated nor registered
  };
  Kind kind = Kind::none;
  std::byte* here = nullptr;
};

/// The job as one process sees it: its processes, their memory as it is mapped here, and this process's own.
///
/// A job comes up in three steps, so that the folders above can add the memory that they share. open() makes
/// this process's memory. provide() sets blocks of it aside. connect() shows them to the other processes and
/// maps theirs.
class Job {
 public:
  /// Joins the launcher's job. `incarnation` counts the times that this process has joined one. If `given` is
  /// not null, it takes the place of the launcher. Collective only in what the launcher does.
  [[nodiscard]] static Result<std::unique_ptr<Job>> open(const Settings& settings, int incarnation,
                                                         const rma_bootstrap_t* given = nullptr);

  /// Sets `bytes` zeroed bytes aside for `service`, reachable by every process of this host after connect().
  [[nodiscard]] Result<std::byte*> provide(Service service, std::size_t bytes);

  /// Maps the memory of all processes of this host, or of this one alone with RMA_SHM=off. Collective.
  [[nodiscard]] Status connect();

  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] int rank() const { return bootstrap_->rank(); }
  [[nodiscard]] int size() const { return bootstrap_->size(); }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] Bootstrap& bootstrap() { return *bootstrap_; }
  [[nodiscard]] Allocator& allocator() { return *allocator_; }
  [[nodiscard]] UserRegions& user_regions() { return *user_regions_; }
  [[nodiscard]] Rails& rails() { return *rails_; }
  /// Returns whether network devices are open.
  [[nodiscard]] bool has_network() const { return rails_->count() != 0; }
  /// Returns whether the network's device executes all 8-byte atomics, also those on memory that is mapped
  /// here. Its atomics and the processor's are not atomic to each other.
  [[nodiscard]] bool atomics_by_device() const { return card_.head.atomics_by_device != 0; }
  [[nodiscard]] const WaitPolicy& wait_policy() const { return wait_policy_; }
  /// Returns the world ranks of this host, ascending.
  [[nodiscard]] const std::vector<int>& local_ranks() const { return bootstrap_->local_ranks(); }

  /// Returns whether the memory of `rank` is mapped here.
  [[nodiscard]] bool mapped(int rank) const { return direct_[static_cast<std::size_t>(rank)].bytes != 0; }

  /// Returns whether `rank` is on this host and mapped here, and its process has ended.
  [[nodiscard]] bool ended(int rank) const { return processes_.ended(rank); }
  /// Returns RMA_ERR_PEER_LOST, with a text for a rank that has ended().
  [[nodiscard]] Status lost(int rank) const;

  /// Returns the table of the inlined path (rma/direct.h): one entry per rank.
  [[nodiscard]] std::span<const rma_direct_peer_t> direct_table() const { return direct_; }

  /// Returns the block that `rank`, which is mapped here, provided for `service`; empty if it provided none.
  [[nodiscard]] std::span<std::byte> service(Service service, int rank) const;

  /// Returns the address of the block that `rank` provided for `service`, in that rank's own addresses.
  /// RMA_ERR_LAUNCH if the launcher has no card of the rank, RMA_ERR_STATE if the rank provided no block.
  [[nodiscard]] Result<std::uintptr_t> service_address(Service service, int rank);

  /// Returns the card of `rank` for the network. RMA_ERR_LAUNCH, RMA_ERR_VERSION.
  [[nodiscard]] Result<NetworkCard> network_card(int rank);
  /// Returns the card of `rank`, which is on this host, for the transport within the host. RMA_ERR_LAUNCH.
  [[nodiscard]] Result<std::vector<std::byte>> local_card(int rank);
  /// Returns the registration of this process's heap that `address` lies in, if there is one.
  [[nodiscard]] std::optional<Registered> own_registration(const std::byte* address) const {
    return registered_ != nullptr ? registered_->find(address) : std::nullopt;
  }

  /// Returns whether other ranks may access all of [address, address + bytes) by requests: it lies in memory
  /// of the heap that is registered with the network, or the user has registered it and it is still mapped.
  [[nodiscard]] bool given_out(std::uintptr_t address, std::size_t bytes) const;

  /// Returns the registration of this process's heap, or of the user's memory, that holds all of
  /// [address, address + bytes), if there is one.
  [[nodiscard]] std::optional<Registered> registration_of(std::uintptr_t address, std::size_t bytes) const;

  /// Returns the doorbell at which threads of `rank`, which is mapped here, sleep.
  [[nodiscard]] Doorbell& doorbell(int rank) const {
    return *reinterpret_cast<Doorbell*>(service(Service::doorbell, rank).data());
  }

  /// Returns the heap memory [address, address + bytes) of `rank` as it is mapped here; null if it does not
  /// lie in that heap.
  [[nodiscard]] std::byte* direct(const void* address, std::size_t bytes, int rank) const {
    const rma_direct_peer_t& peer = direct_[static_cast<std::size_t>(rank)];
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - peer.base;
    if (bytes > peer.bytes || offset > peer.bytes - bytes) return nullptr;
    return const_cast<std::byte*>(static_cast<const std::byte*>(address)) + peer.delta;
  }

  /// Returns the path to [address, address + bytes) of `rank`.
  [[nodiscard]] Path resolve(const void* address, std::size_t bytes, int rank) const;

  /// Returns RMA_ERR_ADDRESS, with a text for a range to which resolve() found no path.
  [[nodiscard]] static Status unreachable(const void* address, std::size_t bytes, int rank);

  /// Returns the process of `rank`, which is on this host.
  [[nodiscard]] ProcessIdentity process(int rank) const;
  [[nodiscard]] static ProcessIdentity process(const ProcessCard& card);

 private:
  struct MappedProcess {
    ProcessCard card;
    PeerWindow window;
    RegionView regions;
  };

  Job(const Settings& settings, std::unique_ptr<Bootstrap> bootstrap, Window window);
  [[nodiscard]] Status open_rails();
  [[nodiscard]] Status start();
  [[nodiscard]] Status start_memory();
  [[nodiscard]] Status map_peer(int rank);
  /// Returns the card of `rank`. Asks the launcher for it once.
  [[nodiscard]] Result<ProcessCard> card_of(int rank);

  const Settings settings_;
  WaitPolicy wait_policy_;
  const std::unique_ptr<Bootstrap> bootstrap_;  // ends last, because leaving the job is a process's last act
  std::unique_ptr<Rails> rails_;
  Window window_;
  std::unique_ptr<RegionTable> regions_;
  std::unique_ptr<Backing> backing_;
  RegisteredBacking* registered_ = nullptr;  // backing_, where there is a network
  std::unique_ptr<Allocator> allocator_;
  std::unique_ptr<UserRegions> user_regions_;
  ProcessCard card_;
  /// By rank. Null for a rank that is not mapped.
  std::vector<std::unique_ptr<MappedProcess>> mapped_;
  std::vector<rma_direct_peer_t> direct_;
  LocalProcesses processes_;          ///< the other processes that are mapped
  std::mutex cards_lock_;             // one thread at a time asks the launcher
  std::map<int, ProcessCard> cards_;  // those that were asked for
};

}  // namespace rma
