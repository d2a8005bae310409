#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/message_endpoint.hpp"

namespace librma::transport {

class LoopbackTransport;

/// Returns the sum of the pieces' sizes in bytes.
[[nodiscard]] std::size_t total_bytes(std::span<const Local> pieces);

/// The message endpoint of a loopback endpoint. It executes posted work at once, unless the work is held.
/// Completions appear in poll(). A message or a gather for which the peer has no buffer or scatter ends
/// with RMA_ERR_STATE, where a device would retry. A sender that counts its credits correctly never
/// sees this. Thread-safe.
class LoopbackMessageEndpoint final : public MessageEndpoint {
 public:
  /// `lock` belongs to the fabric and guards all endpoints.
  LoopbackMessageEndpoint(LoopbackTransport& owner, std::mutex& lock) : owner_(owner), lock_(lock) {}

  /// The faults to inject. All are off at first.
  struct Faults {
    std::uint32_t refused_messages = 0;   ///< this many messages get RMA_ERR_STATE
    std::uint32_t refused_transfers = 0;  ///< this many transfers, gathers and scatters get RMA_ERR_STATE
    std::uint32_t empty_polls = 0;        ///< this many polls return nothing
    bool held = false;                    ///< messages and message writes wait for deliver()
  };
  void set_faults(const Faults& faults);
  /// Executes held work, oldest first, at most `most` items.
  void deliver(std::size_t most);
  void set_limits(const Limits& limits) { limits_ = limits; }
  /// Returns the number of buffers that no message has taken yet.
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
  [[nodiscard]] bool arm(Events events) override;
  /// Returns whether there is a completion that raises an event, by the last arm().
  [[nodiscard]] bool has_event() const;

  /// Lets both ends set buffers aside for each other, once. Called without the lock.
  static void introduce(LoopbackMessageEndpoint& one, int its_name_of_other, LoopbackMessageEndpoint& other,
                        int its_name_of_one);

 private:
  struct Scatter {
    std::vector<Local> pieces;
    Cookie cookie = 0;
  };
  /// A message or a message write on its way.
  struct Sent {
    int peer;
    std::vector<std::byte> bytes;
    std::optional<Remote> to;  ///< of a write
    Cookie cookie;
    bool silent;
    bool solicited;
    bool usable;  ///< its source was registered, or the data was inline
  };
  [[nodiscard]] rma_status_t send(int peer, std::span<const Local> pieces, std::optional<Remote> to,
                                  Cookie cookie, PostFlags flags);
  void arrive(const Sent& sent);
  [[nodiscard]] rma_status_t admit(int peer, std::span<const Local> pieces, LoopbackMessageEndpoint** there);
  /// `solicited`: the completion raises an event whatever was armed for.
  void end(Cookie cookie, int peer, rma_status_t status, std::uint32_t bytes, bool silent,
           bool solicited = true);

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
  struct Due {
    Completion completion;
    bool solicited = false;
  };
  std::deque<Due> due_;
  Events events_ = Events::all;
};

}  // namespace librma::transport
