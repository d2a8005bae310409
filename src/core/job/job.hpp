#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "core/job/heap_memory.hpp"
#include "core/job/process_cards.hpp"
#include "fabric/rails.hpp"
#include "rma/direct.h"
#include "transport/shm/host_peers.hpp"
#include "util/range_check.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

/// The way from this process to a range of a rank's memory.
struct Path {
  enum class Kind : std::uint8_t {
    direct,   ///< the range is mapped here, at `here`
    foreign,  ///< registered by its owner, all or partly outside its heap: through a transport, or at `here`
              ///< when it is our own
    network,  ///< the rank is not mapped here
    none      ///< the range is neither allocated nor registered
  };
  Kind kind = Kind::none;
  std::byte* here = nullptr;
};

/// Returns RMA_ERR_ADDRESS with a text, for memory to which Job::resolve() returned Path::Kind::none.
[[nodiscard]] Status unreachable(const void* address, std::size_t bytes, int rank);

/// The job as one process sees it: its ranks, their memory as it is mapped here, and the memory of this
/// process.
///
/// A job starts in three steps, so that the folders above can add their shared blocks in between. open()
/// makes this process's memory. provide() sets blocks of it aside. connect() shows them to the other
/// processes and maps theirs.
class Job {
 public:
  /// Starts the launcher and makes this process's memory. Only the launcher's part is collective.
  /// `incarnation` counts the times this process has joined. `given`, unless null, takes the place of a
  /// launcher.
  [[nodiscard]] static Result<std::unique_ptr<Job>> open(const Settings& settings, int incarnation,
                                                         const rma_bootstrap_t* given = nullptr);

  /// Sets a block of `bytes` zeroed bytes aside for `service`. After connect(), every process of this host
  /// can reach it.
  [[nodiscard]] Result<std::byte*> provide(Service service, std::size_t bytes);

  /// Maps all processes of this world and host (only this one with RMA_SHM=off). Collective.
  [[nodiscard]] Status connect();
  /// Maps the ranks of an assembly that this process has not met, which are of other worlds. All of its ranks
  /// call it. Thread-safe. RMA_ERR_PEER_LOST, RMA_ERR_UNSUPPORTED.
  [[nodiscard]] Status meet_later(const Assembly& assembly);

  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] int rank() const { return bootstrap_->rank(); }
  /// Returns the number of ranks that the job has or may have.
  [[nodiscard]] int size() const { return bootstrap_->size(); }
  /// Returns the first rank of this process's world, and how many it has (bootstrap.hpp).
  [[nodiscard]] int world_first() const { return bootstrap_->world_first(); }
  [[nodiscard]] int world_size() const { return bootstrap_->world_size(); }
  [[nodiscard]] bool in_world(int rank) const {
    return rank >= world_first() && rank < world_first() + world_size();
  }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] Bootstrap& bootstrap() { return *bootstrap_; }
  /// Returns this process's memory that other ranks may access.
  [[nodiscard]] HeapMemory& memory() { return *memory_; }
  [[nodiscard]] const HeapMemory& memory() const { return *memory_; }
  /// Returns what the processes of the job say about themselves.
  [[nodiscard]] ProcessCards& cards() { return cards_; }
  [[nodiscard]] Rails& rails() { return *rails_; }
  /// Returns whether network devices are open.
  [[nodiscard]] bool has_network() const { return rails_->count() != 0; }
  /// Returns whether the network's device executes all 8-byte atomics, also on memory that is mapped here,
  /// because its atomics are not atomic with respect to the processor's.
  [[nodiscard]] bool atomics_by_device() const { return cards_.own().head.atomics_by_device != 0; }
  [[nodiscard]] const WaitPolicy& wait_policy() const { return wait_policy_; }
  /// Makes threads that wait for other ranks drive `progress` meanwhile. Called before the first such wait.
  /// `progress` outlives all waits.
  void drive_while_waiting(WaitProgress& progress) { wait_policy_.progress = &progress; }
  /// Returns the ranks of this world and host, ascending.
  [[nodiscard]] const std::vector<int>& local_ranks() const { return bootstrap_->local_ranks(); }
  /// Returns how many ranks this host had when this world started, with those of earlier worlds.
  [[nodiscard]] std::size_t local_started() const { return bootstrap_->local_started(); }
  /// Returns the local ranks with those of other worlds that may come.
  [[nodiscard]] const std::vector<int>& local_seats() const { return bootstrap_->local_seats(); }

  /// Returns whether `rank`'s memory is mapped here.
  [[nodiscard]] bool mapped(int rank) const { return direct_[static_cast<std::size_t>(rank)].bytes != 0; }

  /// Returns whether `rank` is a rank of this host, is mapped here, and its process has ended.
  [[nodiscard]] bool ended(int rank) const { return mapped(rank) && host_.ended(rank); }
  /// Returns RMA_ERR_PEER_LOST with a text for a rank that has ended().
  [[nodiscard]] Status lost(int rank) const;

  /// Returns a table with one entry per rank for the inlined path (rma/direct.h).
  [[nodiscard]] std::span<const rma_direct_peer_t> direct_table() const { return direct_; }

  /// Returns the block that `rank`, mapped here, provided for `service`. It is empty if the rank provided
  /// none.
  [[nodiscard]] std::span<std::byte> service(Service service, int rank) const;

  /// Returns the doorbell that threads of `rank`, mapped here, sleep on.
  [[nodiscard]] Doorbell& doorbell(int rank) const {
    return *reinterpret_cast<Doorbell*>(service(Service::doorbell, rank).data());
  }

  /// Returns where `rank`'s heap memory [address, address + bytes) is mapped here, or null if it is not in
  /// that heap.
  [[nodiscard]] std::byte* direct(const void* address, std::size_t bytes, int rank) const {
    const rma_direct_peer_t& peer = direct_[static_cast<std::size_t>(rank)];
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - peer.base;
    if (!range_contains(peer.bytes, offset, bytes)) return nullptr;
    return const_cast<std::byte*>(static_cast<const std::byte*>(address)) + peer.delta;
  }

  /// The parts of a range before, in, and behind a rank's heap, in bytes.
  struct HeapParts {
    std::size_t before = 0;
    std::size_t inside = 0;
    std::size_t behind = 0;
  };
  /// Divides `rank`'s [address, address + bytes), which does not pass the last address. The rank is mapped
  /// here.
  [[nodiscard]] HeapParts heap_parts(const void* address, std::size_t bytes, int rank) const;

  /// Returns the path to `rank`'s [address, address + bytes), which may lie in several regions that touch.
  [[nodiscard]] Path resolve(const void* address, std::size_t bytes, int rank) const;

  /// Returns the process of `rank`, which is mapped here, for a transport of this host.
  [[nodiscard]] const transport::HostPeer& process(int rank) const { return *host_.find(rank); }

 private:
  struct MappedProcess {
    ProcessCard card;
    PeerWindow window;
    RegionView regions;
  };

  Job(const Settings& settings, std::unique_ptr<Bootstrap> bootstrap, std::unique_ptr<HeapMemory> memory);
  /// Returns whether this process maps memory of other processes of its host.
  [[nodiscard]] bool shares_host() const {
    return settings_.shm != ShmSetting::off && local_seats().size() > 1;
  }
  /// Returns whether another process, the first one of this host, measures how this one copies.
  [[nodiscard]] bool copies_by_another() const {
    return settings_.copy == CopySetting::automatic && shares_host() && rank() != local_ranks().front();
  }
  /// Puts the ways to copy into this process's card: those that RMA_COPY says, or the fastest ones.
  [[nodiscard]] Status choose_copies();
  /// Logs why this process has no process heap, and keeps what the network sends out of it.
  void settle_process_heap() const;
  [[nodiscard]] Status open_rails();
  [[nodiscard]] Status start();
  /// Meets the other processes of this host and maps their memory.
  [[nodiscard]] Status map_host();
  [[nodiscard]] Status map_peer(int rank, const ProcessCard& card, transport::HostPeer& process);
  /// Returns the number of bytes that the heap of `rank`, mapped here, uses.
  [[nodiscard]] std::atomic<std::uint64_t>& heap_use(int rank) const;
  /// Enters a rank whose memory begins at `here`.
  void enter(int rank, std::unique_ptr<MappedProcess> peer, std::byte* here);

  const Settings settings_;
  WaitPolicy wait_policy_;
  const std::unique_ptr<Bootstrap> bootstrap_;  // destroyed last, because it leaves the job
  transport::HostPeers host_;                   ///< met are those that are mapped here
  std::unique_ptr<Rails> rails_;
  ProcessCards cards_;
  std::unique_ptr<HeapMemory> memory_;
  /// By rank; null for a rank that is not mapped.
  std::vector<std::unique_ptr<MappedProcess>> mapped_;
  std::vector<rma_direct_peer_t> direct_;
  std::mutex meeting_lock_;  ///< held by a thread that enters a rank of another world
};

}  // namespace librma
