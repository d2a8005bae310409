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

/// How a range of a rank's memory is reached from here.
struct Path {
  enum class Kind : std::uint8_t {
    direct,   ///< mapped here, at `here`
    foreign,  ///< registered by its owner, outside its heap: through a transport, or at `here` when it is our
              ///< own
    network,  ///< of a rank that is not mapped here
    none      ///< neither allocated nor registered
  };
  Kind kind = Kind::none;
  std::byte* here = nullptr;
};

/// The job as one process sees it: who takes part, their memory as it is mapped here, and this process's own.
///
/// It comes up in three steps, so that the folders above can add what they share in between: open() makes
/// this process's memory; provide() sets blocks of it aside; connect() shows them to the others and maps
/// theirs.
class Job {
 public:
  /// Collective only in what the launcher does. `incarnation` counts the times this process has joined;
  /// `given`, unless null, takes the place of a launcher.
  [[nodiscard]] static Result<std::unique_ptr<Job>> open(const Settings& settings, int incarnation,
                                                         const rma_bootstrap_t* given = nullptr);

  /// Sets `bytes` zeroed bytes aside for `service`, reachable by every process of this host after connect().
  [[nodiscard]] Result<std::byte*> provide(Service service, std::size_t bytes);

  /// Collective. Afterwards all processes of this host are mapped (none but this one with RMA_SHM=off).
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
  /// Whether network devices are open.
  [[nodiscard]] bool has_network() const { return rails_->count() != 0; }
  /// 8-byte atomics are for the network's device to execute, also on memory that is mapped here: its atomics
  /// and the processor's do not see each other.
  [[nodiscard]] bool atomics_by_device() const { return card_.head.atomics_by_device != 0; }
  [[nodiscard]] const WaitPolicy& wait_policy() const { return wait_policy_; }
  /// World ranks of this host, ascending.
  [[nodiscard]] const std::vector<int>& local_ranks() const { return bootstrap_->local_ranks(); }

  /// `rank`'s memory is mapped here.
  [[nodiscard]] bool mapped(int rank) const { return direct_[static_cast<std::size_t>(rank)].bytes != 0; }

  /// `rank` is of this host, mapped here, and its process has ended.
  [[nodiscard]] bool ended(int rank) const { return processes_.ended(rank); }
  /// RMA_ERR_PEER_LOST for a rank that has ended().
  [[nodiscard]] Status lost(int rank) const;

  /// One entry per rank for the inlined path (rma/direct.h).
  [[nodiscard]] std::span<const rma_direct_peer_t> direct_table() const { return direct_; }

  /// The block that `rank`, mapped here, provided for `service`; empty when it provided none.
  [[nodiscard]] std::span<std::byte> service(Service service, int rank) const;

  /// Where the block that `rank` provided for `service` begins, by that rank's own address. RMA_ERR_LAUNCH
  /// when the rank's card cannot be had, RMA_ERR_STATE when it provided none.
  [[nodiscard]] Result<std::uintptr_t> service_address(Service service, int rank);

  /// What the network has to know of `rank`. RMA_ERR_LAUNCH, RMA_ERR_VERSION.
  [[nodiscard]] Result<NetworkCard> network_card(int rank);
  /// The card of `rank`, which is on this host, for the transport within the host. RMA_ERR_LAUNCH.
  [[nodiscard]] Result<std::vector<std::byte>> local_card(int rank);
  /// The registration of this process's heap that `address` lies in.
  [[nodiscard]] std::optional<Registered> own_registration(const std::byte* address) const {
    return registered_ != nullptr ? registered_->find(address) : std::nullopt;
  }

  /// Returns whether other ranks may access all of [address, address + bytes) by requests: it lies in memory
  /// of the heap that is registered with the network, or the user has registered it and it is still mapped.
  [[nodiscard]] bool given_out(std::uintptr_t address, std::size_t bytes) const;

  /// The registration, of this process's heap or the user's, that holds all of [address, address + bytes).
  [[nodiscard]] std::optional<Registered> registration_of(std::uintptr_t address, std::size_t bytes) const;

  /// Where threads of `rank`, mapped here, sleep.
  [[nodiscard]] Doorbell& doorbell(int rank) const {
    return *reinterpret_cast<Doorbell*>(service(Service::doorbell, rank).data());
  }

  /// `rank`'s heap memory [address, address + bytes) as mapped here; null when it is not inside that heap.
  [[nodiscard]] std::byte* direct(const void* address, std::size_t bytes, int rank) const {
    const rma_direct_peer_t& peer = direct_[static_cast<std::size_t>(rank)];
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - peer.base;
    if (bytes > peer.bytes || offset > peer.bytes - bytes) return nullptr;
    return const_cast<std::byte*>(static_cast<const std::byte*>(address)) + peer.delta;
  }

  /// The path to `rank`'s [address, address + bytes).
  [[nodiscard]] Path resolve(const void* address, std::size_t bytes, int rank) const;

  /// RMA_ERR_ADDRESS with a text for what resolve() answered with Path::Kind::none.
  [[nodiscard]] static Status unreachable(const void* address, std::size_t bytes, int rank);

  /// The process that a transport of this host reaches `rank` by.
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
  /// Asks the launcher, once for each rank.
  [[nodiscard]] Result<ProcessCard> card_of(int rank);

  const Settings settings_;
  WaitPolicy wait_policy_;
  const std::unique_ptr<Bootstrap> bootstrap_;  // ends last: leaving the job is the last thing a process does
  std::unique_ptr<Rails> rails_;
  Window window_;
  std::unique_ptr<RegionTable> regions_;
  std::unique_ptr<Backing> backing_;
  RegisteredBacking* registered_ = nullptr;  // backing_, where there is a network
  std::unique_ptr<Allocator> allocator_;
  std::unique_ptr<UserRegions> user_regions_;
  ProcessCard card_;
  /// By rank; null where not mapped, and for this process.
  std::vector<std::unique_ptr<MappedProcess>> mapped_;
  std::vector<rma_direct_peer_t> direct_;
  LocalProcesses processes_;          ///< those that are mapped, but for this one
  std::mutex cards_lock_;             // the launcher is asked by one thread at a time
  std::map<int, ProcessCard> cards_;  // of other hosts' ranks, once they were needed
};

}  // namespace rma
