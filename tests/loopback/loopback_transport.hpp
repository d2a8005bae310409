#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "loopback/loopback_message_endpoint.hpp"
#include "transport/transport.hpp"

namespace rma::transport {

class LoopbackTransport;

/// Whether an endpoint checks the keys of memory, as devices do.
enum class LoopbackKeys : std::uint8_t { checked, ignored };

/// What goes wrong, and when. Everything is off at first.
struct LoopbackFaults {
  std::uint32_t registrations = 0xffffffff;  ///< this many more succeed, then RMA_ERR_NO_MEMORY
  std::uint64_t failing_post = 0;            ///< the k-th post from now on (1 is the next) completes with:
  rma_status_t failing_status = RMA_ERR_SYSTEM;
  std::uint32_t refused_posts = 0;  ///< this many posts get RMA_ERR_STATE; a poll ends the refusals
  std::uint64_t delay = 0;          ///< polls without a completion before it appears
  std::optional<int> lost = {};     ///< posts to this peer get RMA_ERR_PEER_LOST
};

/// What joins the endpoints of one test: their memory is the test's own. Ends after its endpoints.
class LoopbackFabric {
 public:
  /// Endpoints poll completions in the order of posting; with a `seed`, in a random order that it repeats.
  explicit LoopbackFabric(std::optional<std::uint64_t> seed = {});

  /// Endpoint number `number`, which is what its card says.
  [[nodiscard]] std::unique_ptr<LoopbackTransport> open(int number, const Limits& limits,
                                                        LoopbackKeys keys = LoopbackKeys::checked);

 private:
  friend class LoopbackTransport;
  std::mutex
      introductions_;  ///< who finds two endpoints introduced finds all that belongs to it; taken first
  std::mutex lock_;    ///< guards all endpoints too
  std::optional<std::mt19937_64> random_;
  std::map<int, LoopbackTransport*> endpoints_;
};

/// A device inside the process. Work is done when it is posted, like a device that is infinitely fast, but
/// its completion appears only in poll(), LoopbackFaults::delay polls of that endpoint later at the earliest.
/// Bad keys and ranges are error completions. Thread-safe.
class LoopbackTransport final : public Transport {
 public:
  ~LoopbackTransport() override;

  void set_faults(const LoopbackFaults& faults);
  /// Posts so far that were taken.
  [[nodiscard]] std::uint64_t posts() const;

  [[nodiscard]] std::string_view name() const override { return "loopback"; }
  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] Result<Registration> register_memory(std::byte* address, std::size_t bytes) override;
  void deregister_memory(const Registration& registration) override;
  [[nodiscard]] std::span<const std::byte> card() const override { return card_; }
  [[nodiscard]] Status connect(int peer, std::span<const std::byte> card) override;
  void fail(int peer) override;
  [[nodiscard]] rma_status_t post(int peer, std::span<const Work> work, std::size_t* posted) override;
  [[nodiscard]] std::uint32_t outstanding(int peer) override;
  [[nodiscard]] rma_status_t post_atomic(int peer, rma_atomic_op_t op, Remote target, std::uint64_t operand,
                                         std::uint64_t compare, Local old, Cookie cookie) override;
  [[nodiscard]] MessageEndpoint* message_endpoint() override { return &messages_; }
  [[nodiscard]] LoopbackMessageEndpoint& messages() { return messages_; }
  [[nodiscard]] std::size_t poll(std::span<Completion> completions) override;
  [[nodiscard]] int event_fd() const override { return -1; }
  [[nodiscard]] bool arm() override;

 private:
  friend class LoopbackFabric;
  friend class LoopbackMessageEndpoint;
  struct Due {
    Completion completion;
    std::uint64_t poll;  ///< number of the poll that may return it
    bool posted;         ///< counts as outstanding until then
    bool silent;         ///< unsignaled, and went well: never returned
  };
  LoopbackTransport(LoopbackFabric& fabric, int number, const Limits& limits, LoopbackKeys keys);

  [[nodiscard]] rma_status_t post_one(int peer, const Work& work);
  [[nodiscard]] rma_status_t admit(int peer, std::span<const Local> pieces, PostFlags flags);
  [[nodiscard]] bool covered(std::uintptr_t address, std::size_t bytes, Key key) const;
  [[nodiscard]] bool usable(std::span<const Local> pieces) const;
  /// The endpoint that `peer` is; null when there is none, or it is lost.
  [[nodiscard]] LoopbackTransport* reachable(int peer) const;
  [[nodiscard]] int number() const { return number_; }
  void complete(int peer, Cookie cookie, rma_status_t status, bool unsignaled);

  LoopbackFabric& fabric_;
  const int number_;
  const Limits limits_;
  const LoopbackKeys keys_;
  const std::vector<std::byte> card_;
  LoopbackFaults faults_;
  std::uint64_t polls_ = 0;
  std::uint64_t posts_ = 0;
  Key next_key_ = (Key{1} << 40U) + 1;  ///< so that a key cut to 32 bits is found out
  std::map<Key, Registration> registrations_;
  std::map<int, LoopbackTransport*> peers_;
  std::map<int, std::uint32_t> outstanding_;
  std::deque<Due> due_;
  LoopbackMessageEndpoint messages_;
};

}  // namespace rma::transport
