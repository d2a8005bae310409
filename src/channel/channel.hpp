#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "channel/link.hpp"
#include "channel/message.hpp"
#include "channel/message_buffers.hpp"
#include "channel/posted.hpp"
#include "core/network/rails.hpp"
#include "util/status.hpp"

namespace rma {

/// Short messages between this process and others, in the order of sending, and the helper lanes' transfers.
/// A peer is connected before anything is sent to it. Thread-safe; whoever calls progress() calls the
/// receiver and everything that is told of an end.
class Channel {
 public:
  struct Options {
    std::size_t message_bytes = 0;  ///< of a message with its header; the same in all processes
    std::uint32_t lent = 0;         ///< buffers per rail that are lent to those who need more
    std::uint32_t own = 0;          ///< buffers for each peer
  };

  /// `rails` have helper lanes and outlive the channel, which comes before any connection. RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<Channel>> create(Rails& rails, int ranks,
                                                               const Options& options,
                                                               MessageReceiver& receiver);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Most bytes of a message's body.
  [[nodiscard]] std::size_t max_body() const { return options_.message_bytes - sizeof(MessageHeader); }

  /// Sends a message, `head` followed by `tail`, over `rail` if it is the first; both may be reused at
  /// return. RMA_ERR_STATE: not now, call progress() and try again. RMA_ERR_PEER_LOST; RMA_ERR_UNSUPPORTED
  /// when the peer could set no buffers aside.
  [[nodiscard]] rma_status_t try_send(int peer, std::size_t rail, std::uint16_t kind,
                                      std::span<const std::byte> head, std::span<const std::byte> tail);
  /// The same, as soon as it can be; to a peer that is lost, never.
  void send(int peer, std::size_t rail, std::uint16_t kind, std::span<const std::byte> head,
            std::span<const std::byte> tail);

  [[nodiscard]] transport::HelperLane& lane(std::size_t rail) { return *rails_[rail].helper_lane(); }

  /// Gives `peer` up.
  void fail(int peer);

  /// One thread at a time has its turn: what another does when it meets that one.
  enum class Turn : std::uint8_t { if_free, wait };
  /// Takes in what has ended; returns whether there was something.
  bool progress(Turn turn);
  /// Before a sleep: progress(Turn::wait) once more after this, then event_fds() become readable when there
  /// is something.
  void arm();
  [[nodiscard]] std::span<const int> event_fds() const { return event_fds_; }

 private:
  struct SendSlot;
  Channel(Rails& rails, int ranks, const Options& options, MessageReceiver& receiver);
  [[nodiscard]] Status open();

  [[nodiscard]] Link& link(int peer);
  /// The following: with the link's lock held.
  [[nodiscard]] rma_status_t open_link(Link& link, int peer, std::size_t rail);
  [[nodiscard]] rma_status_t post(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> head,
                                  std::span<const std::byte> tail);
  void list(Link& link, int peer);

  void arrived(std::size_t rail, MessageBuffers::Slot& slot, int peer, rma_status_t status,
               std::uint32_t bytes);
  /// False when it cannot be from an honest peer.
  [[nodiscard]] bool take_in(std::size_t rail, int peer, std::span<const std::byte> bytes);
  void give_back(std::size_t rail, int peer, bool wants_more);
  /// Does what the listed links have to do; returns whether something moved.
  bool pump();
  void report_lost();

  Rails& rails_;
  const Options options_;
  MessageReceiver& receiver_;
  std::vector<std::atomic<Link*>> links_;                 ///< by peer; owned
  std::vector<std::unique_ptr<MessageBuffers>> buffers_;  ///< by rail
  std::vector<int> event_fds_;
  std::mutex slots_lock_;
  std::unique_ptr<BouncePool> send_memory_;
  std::vector<std::unique_ptr<SendSlot>> slots_;
  std::vector<SendSlot*> free_slots_;
  std::mutex progress_lock_;
  std::mutex lists_lock_;  ///< taken after a link's lock
  std::vector<int> listed_;
  std::vector<int> lost_;
};

}  // namespace rma
