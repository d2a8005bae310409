#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "transport/message_endpoint.hpp"
#include "transport/ofi/ofi_driver.hpp"
#include "transport/ofi/ofi_lane.hpp"
#include "transport/ofi/ofi_memory.hpp"
#include "transport/ofi/ofi_operations.hpp"

namespace librma::transport {

/// Writes and reads through libfabric.
class OfiTransfers {
 public:
  OfiTransfers(OfiDriver& driver, const OfiMemory& memory) : driver_(driver), memory_(memory) {}
  void open(fid_ep* endpoint) { endpoint_ = endpoint; }

  /// Posts one write or read of the given kind. `more`: another one follows at once. `most`: see
  /// OfiDriver::post(). Work without pieces is a write of no bytes.
  [[nodiscard]] rma_status_t post(OfiPeer& peer, OfiKind kind, const Work& work, std::uint32_t most);

 private:
  OfiDriver& driver_;
  const OfiMemory& memory_;
  fid_ep* endpoint_ = nullptr;
};

/// The second way to peers, with the same endpoint of libfabric as the first. Messages go to receives that
/// take any peer's. A gather is a tagged message; the tag names the sender, so that it takes the oldest of
/// the scatters for this sender. Thread-safe.
///
/// A provider may lose messages that it had taken, and connect again without a word. So after each message,
/// or some that follow each other closely, this asks for a confirmation that they have arrived. A failure of
/// it is the end of the connection.
class OfiMessageEndpoint final : public MessageEndpoint {
 public:
  /// Returns a connected peer, or null.
  using Peers = std::function<OfiPeer*(int rank)>;

  OfiMessageEndpoint(OfiDriver& driver, const OfiMemory& memory, OfiLane& lane, Peers peers)
      : driver_(driver), memory_(memory), transfers_(driver, memory), lane_(lane), peers_(std::move(peers)) {}

  void open(fid_ep* endpoint, const Limits& limits);
  /// Sets message buffers aside for `peer`, to which a connection is being made. Returns how many.
  [[nodiscard]] std::uint32_t admit(int peer) { return source_ ? source_(peer) : 0; }

  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] rma_status_t post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                          PostFlags flags) override;
  [[nodiscard]] rma_status_t post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                PostFlags flags) override;
  [[nodiscard]] rma_status_t post_buffer(Local buffer, Cookie cookie) override;
  void set_buffer_source(BufferSource source) override { source_ = std::move(source); }
  [[nodiscard]] std::uint32_t buffers_of(int peer) override;
  [[nodiscard]] std::uint32_t gather_of(int peer) override;
  [[nodiscard]] rma_status_t post_transfer(int peer, const Work& work) override;
  [[nodiscard]] rma_status_t post_gather(int peer, std::span<const Local> pieces, Cookie cookie,
                                         PostFlags flags) override;
  [[nodiscard]] rma_status_t post_scatter(int peer, std::span<const Local> pieces, Cookie cookie) override;
  [[nodiscard]] std::size_t poll(std::span<Completion> completions) override;
  [[nodiscard]] int event_fd() const override { return lane_.event_fd(); }
  [[nodiscard]] bool arm(Events events) override;
  [[nodiscard]] bool asks_by_clock() const override { return driver_.leaves_it_to_threads(); }

 private:
  OfiDriver& driver_;
  const OfiMemory& memory_;
  OfiTransfers transfers_;
  OfiLane& lane_;
  const Peers peers_;
  BufferSource source_;
  Limits limits_;
  fid_ep* endpoint_ = nullptr;
  std::atomic<std::uint32_t> seen_drives_ = 0;  ///< OfiDriver::drives() at the last poll
};

}  // namespace librma::transport
