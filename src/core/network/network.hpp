#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/copy_fallback.hpp"
#include "core/flights.hpp"
#include "core/network/batch.hpp"
#include "core/network/fragment_pool.hpp"
#include "core/network/remote_memory.hpp"
#include "fabric/bounce_pool.hpp"
#include "fabric/rails.hpp"
#include "fabric/registration_cache.hpp"
#include "util/settings.hpp"

namespace rma {

/// What the network has to know of a rank before it can talk to it.
struct NetworkCard {
  struct Rail {
    std::string name;
    std::vector<std::byte> card;  ///< the transport's
  };
  std::vector<Rail> rails;
  DirectoryPlace directory;
};

/// Memory of ranks that is reached over the network's devices: puts, gets and atomics as RDMA. Thread-safe.
///
/// Order, of blocking operations to one rank: everything that returns before it is complete (small puts,
/// whose data is in the request or in a bounce buffer) goes over the rank's *primary* rail, whose queue pair
/// keeps the order. What is divided among the rails waits for those first, and is complete when it returns.
/// When the primary rail fails, the next one takes over after everything on the failed one has ended.
class Network final : public Mover {
 public:
  using CardSource = std::function<Result<NetworkCard>(int rank)>;
  /// The registration of this process's heap that an address lies in.
  using OwnMemory = std::function<std::optional<Registered>(const std::byte* address)>;

  /// `flights` and `rails` outlive the network.
  Network(const Settings& settings, Flights& flights, Rails& rails, int ranks, CardSource cards,
          OwnMemory own_memory);
  ~Network() override;

  /// Whether put() and get() find all of `rank`'s [address, address + bytes); their errors.
  [[nodiscard]] Status reachable(const void* address, std::size_t bytes, int rank);

  /// Moves [src, src + bytes) to `dst` of the batch's rank, or the other way round; nothing when part of the
  /// rank's side is out of reach. Memory that the devices do not reach is copied by the copy
  /// fallback. RMA_ERR_ADDRESS,
  /// RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY, RMA_ERR_UNSUPPORTED. What fails later is the operation's, or the
  /// next fence's where it belongs to none.
  [[nodiscard]] Status put(Batch& batch, void* dst, const void* src, std::size_t bytes);
  [[nodiscard]] Status get(Batch& batch, void* dst, const void* src, std::size_t bytes);
  [[nodiscard]] Status flush(Batch& batch);
  /// Gives the batch an operation if it has none. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status open(Batch& batch);

  /// Stores `value` to the aligned `flag` of `rank` after everything that this thread has put there.
  [[nodiscard]] Status put_flag(std::uint64_t* flag, std::uint64_t value, int rank);

  /// RMA_FETCH_ADD or RMA_COMPARE_SWAP, by the rank's device, on an aligned word of 8 bytes; returns the
  /// value before.
  [[nodiscard]] Result<std::uint64_t> atomic(rma_atomic_op_t op, std::uint64_t* target, std::uint64_t operand,
                                             std::uint64_t compare, int rank);

  /// For requests to `rank` by messages. reach() connects, and says which rail they take. settle() waits
  /// until all that was put there is there: a message overtakes nothing. loose_request() counts those whose
  /// call has returned (+1) and that are over (-1): transfers wait for them, and what else a request's
  /// execution does not keep in order, by settle_requests().
  [[nodiscard]] Status reach(int rank, std::size_t* rail);
  [[nodiscard]] Status settle(int rank);
  void loose_request(int rank, int change);
  void settle_requests(int rank);

  /// Whether one registration of `rank` holds all of [address, address + bytes).
  [[nodiscard]] bool registered(std::uintptr_t address, std::size_t bytes, int rank);
  /// Registers memory of this process for one use; where RMA_LOCAL_BUFFERS says that buffers are copied, not.
  [[nodiscard]] Result<RegistrationCache::Use> register_local(std::byte* address, std::size_t bytes);

  /// Sets what reaches memory that is not registered. Called before the first transfer. `fallback` outlives the
  /// network's use; null if such memory is out of reach.
  void set_copy_fallback(CopyFallback* fallback) { copy_fallback_ = fallback; }

  /// Whether `rank` still answers: RMA_ERR_PEER_LOST when its device does not know it any more, or nothing
  /// comes back.
  [[nodiscard]] Status probe(int rank);

  [[nodiscard]] const Rails& rails() const { return rails_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  /// Why the registration cache is off; empty when it is on.
  [[nodiscard]] const std::string& why_no_cache() const { return cache_->why_off(); }

  bool progress() override;
  void flush(int rank) override;
  void give_up(int rank) override;
  void arm() override;
  [[nodiscard]] std::span<const int> event_fds() const override { return event_fds_; }
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const override;

 private:
  struct Peer;
  class DirectoryReader;
  using Direction = transport::Direction;

  [[nodiscard]] Status connect(int rank, Peer** connected);
  /// connect(), and waits for loose requests.
  [[nodiscard]] Status start(int rank, Peer** connected);
  [[nodiscard]] Status match(Peer& peer, int rank, const NetworkCard& card);
  [[nodiscard]] Status connect_rail(Peer& peer, int rank, std::size_t rail);
  /// The first rail that connects, or is connected, of those that have not failed.
  [[nodiscard]] Status connect_any(Peer& peer, int rank, std::size_t* rail);
  [[nodiscard]] Status rail_for_atomics(Peer& peer, int rank, std::size_t* rail);
  /// The rail for what must keep its order. RMA_ERR_PEER_LOST when none is left.
  [[nodiscard]] Status primary(Peer& peer, int rank, std::size_t* rail);
  void rail_failed(int rank, std::size_t rail);
  [[nodiscard]] std::size_t live_rails(Peer& peer, int rank);
  [[nodiscard]] static std::size_t next_rail(Peer& peer);

  [[nodiscard]] Status transfer(Batch& batch, Direction direction, std::uintptr_t remote, std::byte* local,
                                std::size_t bytes);
  /// The registrations that all of the rank's [address, address + bytes) lies in, in order.
  [[nodiscard]] Status find(Batch& batch, Peer& peer, std::uintptr_t address, std::size_t bytes,
                            std::vector<RemoteRange>& ranges);
  [[nodiscard]] Status fall_back_to_copy(Batch& batch, Direction direction, std::uintptr_t remote,
                                         std::byte* local, std::size_t bytes, Status refused);
  [[nodiscard]] Status transfer_within(Batch& batch, Peer& peer, const Span& span);
  [[nodiscard]] Status put_inline(Batch& batch, std::size_t rail, const Span& span);
  [[nodiscard]] Status bounce(Batch& batch, Peer& peer, Span span);
  [[nodiscard]] Status bounce_one(Batch& batch, Peer& peer, std::size_t rail, Span part, std::byte* buffer);
  [[nodiscard]] Status post_registered(Batch& batch, Peer& peer, Span span,
                                       const std::shared_ptr<RegistrationCache::Use>& use);
  [[nodiscard]] Status register_and_post(Batch& batch, Peer& peer, Span span);
  [[nodiscard]] Status add(Batch& batch, std::size_t rail, const transport::Work& work,
                           const transport::Local& local);
  [[nodiscard]] Result<std::byte*> take_buffer(Batch& batch, BouncePool* pool);
  [[nodiscard]] rma_status_t post(int rank, std::size_t rail, std::span<const transport::Work> work,
                                  std::size_t* posted);
  [[nodiscard]] Fragment& new_fragment(Peer& peer, int rank, const Span& span, rma_request_t operation);
  [[nodiscard]] Status drain(Batch& batch, Peer& peer);
  [[nodiscard]] Status read_raw(int rank, std::byte* to, std::uintptr_t address, const RailKeys& keys,
                                std::size_t bytes);
  void post_nothing(Peer& peer, int rank, std::size_t rail, rma_request_t operation);
  void ended(std::size_t rail, const transport::Completion& completion);
  void close(Fragment& fragment, rma_status_t status);
  [[nodiscard]] bool take_over(Fragment& fragment);
  [[nodiscard]] bool retry();
  [[nodiscard]] Peer& peer(int rank);
  [[nodiscard]] Status lost(int rank) const { return {RMA_ERR_PEER_LOST, explain(RMA_ERR_PEER_LOST, rank)}; }

  const Settings settings_;
  Flights& flights_;
  Rails& rails_;
  const CardSource cards_;
  const OwnMemory own_memory_;
  const std::uint32_t inline_bytes_;
  std::vector<int> event_fds_;
  std::unique_ptr<RegistrationCache> cache_;
  FragmentPool fragments_;
  CopyFallback* copy_fallback_ = nullptr;
  std::unique_ptr<Peer[]> peers_;  // NOLINT(modernize-avoid-c-arrays): of a type that is known elsewhere
  std::mutex retry_lock_;
  std::vector<Fragment*> retries_;  ///< fragments for another rail; guarded by retry_lock_
};

}  // namespace rma
