#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "core/completion/pending_operations.hpp"
#include "core/network/connection_manager.hpp"
#include "core/network/fragment.hpp"
#include "core/network/peer.hpp"
#include "fabric/rails.hpp"

namespace librma {

/// The fragments that are under way. Takes in the completions of the devices, ends each fragment by its
/// completion, and posts a fragment again on another rail if its rail has failed and nobody can have seen its
/// effect. Thread-safe; one thread at a time calls progress().
class Completions {
 public:
  Completions(PendingOperations& pending, Rails& rails, ConnectionManager& connections)
      : pending_(pending), rails_(rails), connections_(connections) {}

  /// Begins a fragment of `operation`. The caller adds what the fragment needs and posts it. Each fragment is
  /// ended once.
  [[nodiscard]] Fragment& begin(NetworkPeer& peer, const Span& span, rma_request_t operation);
  /// Begins a fragment of a put that will have returned, in `context`.
  [[nodiscard]] Fragment& begin(NetworkPeer& peer, const Span& span, CompletionContext& context);
  /// Ends a fragment. A failure is reported by its operation, or by the next fence if it has none.
  void end(Fragment& fragment, rma_status_t status);
  /// Lets progress() post a fragment as soon as a rail has room, for a caller that must not wait. The
  /// fragment is movable.
  void post_later(Fragment& fragment);
  /// Deals with a fragment that its rail did not take: posts it on another rail, or ends it.
  void end_unposted(Fragment& fragment, rma_status_t status);

  /// Takes in completions. Returns whether it took in or posted anything. Ends the process if it runs out of
  /// memory.
  bool progress() noexcept;

 private:
  void take_in(std::size_t rail, const transport::Completion& completion);
  /// Ends a fragment that holds no buffer any more.
  void report_end(Fragment& fragment, rma_status_t status);
  /// Queues the fragment to be posted again. Returns false if it may not be, or no rail is left.
  [[nodiscard]] bool queue_retry(Fragment& fragment);
  [[nodiscard]] bool post_retries();
  void add_retry(Fragment& fragment);

  PendingOperations& pending_;
  Rails& rails_;
  ConnectionManager& connections_;
  FragmentPool fragments_;
  std::mutex retry_lock_;
  /// Fragments for another rail, or of post_later(); guarded by retry_lock_.
  FragmentQueue retries_;
  /// There are some. Every poll asks. Questions and stores of `true` are sequentially consistent, so a
  /// fragment that was added before another thread asks is seen, as with the lock.
  std::atomic<bool> any_retries_ = false;
};

}  // namespace librma
