#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/requests.hpp"
#include "transport/transport.hpp"
#include "util/status.hpp"

namespace rma {

/// An opened transport in use by one process of the job: cuts transfers to what the device can do, waits when
/// its queues are full, and turns completions into the ends of operations. Thread-safe.
class Device {
 public:
  /// The card of `rank` for the transport; asked for at the first operation to it.
  using CardSource = std::function<Result<std::vector<std::byte>>(int rank)>;

  Device(std::unique_ptr<transport::Transport> transport, int ranks, CardSource cards);

  [[nodiscard]] std::string_view name() const { return transport_->name(); }

  /// A new operation to `rank`, with the issuer's own part pending (see RequestTable). RMA_REQUEST_NULL when
  /// too many are open.
  [[nodiscard]] rma_request_t open(int rank) { return requests_.open(rank); }

  /// Posts [local, local + bytes) -> `to` of the operation's target (or the other way round for read), in as
  /// many pieces as the device needs. A failure is the operation's.
  void write(rma_request_t operation, transport::Remote to, transport::Local from);
  void read(rma_request_t operation, transport::Local to, transport::Remote from);

  /// The issuer has posted everything and waits for the end.
  [[nodiscard]] Status finish(rma_request_t operation);
  /// The issuer has posted everything and will wait() for the handle.
  void detach(rma_request_t operation) { requests_.finish_part(operation, RMA_SUCCESS); }
  /// The issuer has posted everything; fence() will wait for it and report its failure.
  void leave(rma_request_t operation);

  [[nodiscard]] bool known(rma_request_t request) const { return requests_.known(request); }
  /// Takes completions in; true when the operation is complete.
  [[nodiscard]] bool test(rma_request_t request);
  /// Waits for a detached operation and closes it.
  [[nodiscard]] Status wait(rma_request_t request);
  /// Waits for everything posted to `rank`; returns the first failure of operations left to it since the last
  /// fence.
  [[nodiscard]] Status fence(int rank);
  /// fence() of every rank that something was posted to since; costs nothing when there is none.
  [[nodiscard]] Status fence_all();

 private:
  struct Peer {
    std::mutex connect_lock;
    std::atomic<bool> connected = false;
    std::atomic<std::uint32_t> outstanding = 0;       ///< posted and not completed, and transfers that post
    std::atomic<bool> unfenced = false;               ///< listed in unfenced_
    std::atomic<rma_status_t> failure = RMA_SUCCESS;  ///< of operations left to the fence
  };
  enum class Direction : std::uint8_t { write, read };

  void note_unfenced(int rank);
  void transfer(Direction direction, rma_request_t operation, transport::Remote remote,
                transport::Local local);
  [[nodiscard]] rma_status_t connect(int rank);
  void progress();
  void ended(const transport::Completion& completion);
  void close_left(rma_request_t operation);
  [[nodiscard]] Status failure(rma_status_t code, int rank) const;

  const std::unique_ptr<transport::Transport> transport_;
  const CardSource cards_;
  RequestTable requests_;
  std::vector<Peer> peers_;
  std::mutex fence_all_lock_;
  std::mutex unfenced_lock_;   ///< taken after fence_all_lock_
  std::vector<int> unfenced_;  ///< ranks whose Peer::unfenced was set since the last fence_all
  std::atomic<bool> any_unfenced_ = false;
  std::mutex poll_lock_;  ///< one thread takes completions in; others look at what it finds
};

}  // namespace rma
