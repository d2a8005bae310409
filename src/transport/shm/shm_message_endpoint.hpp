#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "transport/message_endpoint.hpp"
#include "transport/shm/cma_transport.hpp"
#include "transport/shm/ended_operations.hpp"
#include "transport/shm/host_peers.hpp"
#include "transport/shm/posted_buffers.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/shm_peer.hpp"
#include "transport/shm/wakeup.hpp"

namespace librma::transport {

struct ShmOptions {
  HostPeers* host =
      nullptr;   ///< the processes of this host, which are met before any is connected; outlives all
  int rank = 0;  ///< rank of this process; peers are named by their ranks
  std::vector<int> locals;  ///< ranks of all processes of the host, ascending
  std::chrono::milliseconds connect_timeout{10'000};
  bool cma = true;  ///< transfers by cross memory attach are allowed
  /// The maximum memory that this process offers to others. It costs only addresses until it is used.
  std::size_t segment_bytes = std::size_t{1} << 30U;
};

/// The message endpoint between processes of one host. A process writes its messages into queues that lie in
/// the receivers' segments, one for each pair. The thread that polls copies them from there into posted
/// buffers, where a dishonest peer cannot change them any more. Transfers to and from a peer's segment are
/// copies; those of other memory use cross memory attach. There are no scatters. A posted operation has ended
/// when the call returns.
///
/// A queue has as many slots as its sender may have credits: one for each buffer that was posted before the
/// first connection, which may be lent to any peer, and one for each buffer that was set aside for this peer.
/// A slot has room for the longest message that these buffers have room for.
///
/// When a peer has ended, or left, poll() returns one completion with RMA_ERR_PEER_LOST and the cookie 0,
/// after all messages that the peer has sent. Thread-safe.
class ShmMessageEndpoint final : public MessageEndpoint {
 public:
  /// Makes an endpoint, and offers its memory to the processes of the host. RMA_ERR_NO_MEMORY,
  /// RMA_ERR_SYSTEM, RMA_ERR_LAUNCH if the ranks are invalid.
  [[nodiscard]] static Result<std::unique_ptr<ShmMessageEndpoint>> create(const ShmOptions& options);
  ~ShmMessageEndpoint() override;

  [[nodiscard]] const ShmCard& card() const { return card_; }
  [[nodiscard]] Segment& segment() { return *segment_; }
  /// Connects as Transport::connect() does. While it waits, it answers other processes that connect.
  [[nodiscard]] Status connect(int peer, std::span<const std::byte> card);
  void fail(int peer);

  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] rma_status_t post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                          PostFlags flags) override;
  [[nodiscard]] rma_status_t post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                PostFlags flags) override;
  [[nodiscard]] rma_status_t post_buffer(Local buffer, Cookie cookie) override;
  void set_buffer_source(BufferSource source) override { source_ = std::move(source); }
  [[nodiscard]] std::uint32_t buffers_of(int peer) override;
  [[nodiscard]] std::uint32_t gather_of(int /*peer*/) override { return 0; }
  [[nodiscard]] rma_status_t post_transfer(int peer, const Work& work) override;
  [[nodiscard]] rma_status_t post_gather(int peer, std::span<const Local> pieces, Cookie cookie,
                                         PostFlags flags) override;
  [[nodiscard]] rma_status_t post_scatter(int peer, std::span<const Local> pieces, Cookie cookie) override;
  [[nodiscard]] std::size_t poll(std::span<Completion> completions) override;
  [[nodiscard]] int event_fd() const override { return wakeup_->event_fd(); }
  [[nodiscard]] bool arm(Events events) override;

 private:
  ShmMessageEndpoint(const ShmOptions& options, std::size_t seat, std::unique_ptr<Segment> segment,
                     std::unique_ptr<Wakeup> wakeup, const ShmCard& card);

  // shm_connecting.cpp. The first two: with connect_lock_ held.
  [[nodiscard]] Result<ShmPeer*> admit(std::size_t seat, const ShmCard& card);
  /// Answers the process that has called at `seat`, if one has.
  void answer(std::size_t seat);
  /// Answers all processes that have called since the last time.
  void answer_calls();
  [[nodiscard]] Status wait_for(ShmPeer& peer);

  [[nodiscard]] ShmPeer* find(int peer) const;

  // shm_polling.cpp: with poll_lock_ held.
  /// Takes in the messages of `peer`. Returns how many of `completions` it has filled.
  [[nodiscard]] std::size_t take_messages(ShmPeer& peer, std::span<Completion> completions);
  /// Looks for peers that have ended or left.
  void look_for_ends();

  const std::size_t my_seat_;  ///< the processes of a host have seats in the order of their ranks
  const std::vector<int> locals_;
  HostPeers& host_;
  const std::chrono::milliseconds timeout_;
  const std::unique_ptr<Segment> segment_;
  const std::unique_ptr<Wakeup> wakeup_;
  const ShmCard card_;
  CmaTransport moves_;  ///< names peers by their seats
  const Limits limits_;
  BufferSource source_;

  std::mutex connect_lock_;  ///< guards the members below; taken before the other locks
  std::vector<std::unique_ptr<ShmPeer>> owned_;
  std::vector<bool> answered_;                ///< by seat
  std::vector<std::atomic<ShmPeer*>> peers_;  ///< by seat; written under the lock
  std::atomic<std::uint32_t> calls_seen_ = 0;

  std::mutex poll_lock_;  ///< guards the members below, `wakeup_`, and the members of ShmPeer for polling
  std::vector<ShmPeer*> receiving_;
  std::size_t first_ = 0;    ///< index of the peer that the next poll looks at first
  std::uint32_t polls_ = 0;  ///< polls since the last look for ends
  std::uint32_t sleeps_ = 0;
  std::vector<std::size_t> ends_;

  EndedOperations ended_;  ///< its lock also guards the completions of moves_
  PostedBuffers buffers_;
};

}  // namespace librma::transport
