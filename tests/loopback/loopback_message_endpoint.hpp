#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/message_endpoint.hpp"

namespace rma::transport {

class LoopbackTransport;

/// Bytes of all pieces together.
[[nodiscard]] std::size_t total_bytes(std::span<const Local> pieces);

/// The message endpoint of a loopback endpoint. Whatever is posted is done at once, unless it is held; completions
/// appear in poll().
/// A message or a gather that finds nothing to go into ends with RMA_ERR_STATE, where a device would ask
/// again and again: whoever counts right never sees it. Thread-safe.
class LoopbackMessageEndpoint final : public MessageEndpoint {
 public:
  /// `lock` is the fabric's and guards all endpoints.
  LoopbackMessageEndpoint(LoopbackTransport& owner, std::mutex& lock) : owner_(owner), lock_(lock) {}

  /// What goes wrong. Everything is off at first.
  struct Faults {
    std::uint32_t refused_messages = 0;   ///< this many get RMA_ERR_STATE
    std::uint32_t refused_transfers = 0;  ///< and this many transfers, gathers and scatters
    std::uint32_t empty_polls = 0;        ///< this many polls return nothing
    bool held = false;                    ///< messages, and writes among them, wait for deliver()
  };
  void set_faults(const Faults& faults);
  /// Does what is held, oldest first, but no more than `most`.
  void deliver(std::size_t most);
  void set_limits(const Limits& limits) { limits_ = limits; }
  /// Buffers that messages have not taken yet.
  [[nodiscard]] std::size_t buffers() const;

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
  [[nodiscard]] int event_fd() const override { return -1; }
  [[nodiscard]] bool arm() override;

  /// Both ends set buffers aside for each other, once. Without the lock.
  static void introduce(LoopbackMessageEndpoint& one, int its_name_of_other, LoopbackMessageEndpoint& other,
                        int its_name_of_one);

 private:
  struct Scatter {
    std::vector<Local> pieces;
    Cookie cookie = 0;
  };
  /// A message, or a write among them, on its way.
  struct Sent {
    int peer;
    std::vector<std::byte> bytes;
    std::optional<Remote> to;  ///< of a write
    Cookie cookie;
    bool silent;
    bool usable;  ///< what it was read from could be
  };
  [[nodiscard]] rma_status_t send(int peer, std::span<const Local> pieces, std::optional<Remote> to,
                                  Cookie cookie, PostFlags flags);
  void arrive(const Sent& sent);
  [[nodiscard]] rma_status_t admit(int peer, std::span<const Local> pieces, LoopbackMessageEndpoint** there);
  void end(Cookie cookie, int peer, rma_status_t status, std::uint32_t bytes, bool silent);

  LoopbackTransport& owner_;
  std::mutex& lock_;
  Limits limits_ = {.gather = 4,
                    .max_inline = 64,
                    .messages = 16,
                    .transfers = 16,
                    .scatters = 16,
                    .max_message = std::uint64_t{1} << 20};
  BufferSource source_;
  Faults faults_;
  std::map<int, std::uint32_t> granted_;  ///< by peer, to this end
  std::deque<std::pair<Local, Cookie>> buffers_;
  std::map<int, std::deque<Scatter>> scatters_;  ///< by peer
  std::deque<Sent> held_;
  std::deque<Completion> due_;
};

}  // namespace rma::transport
