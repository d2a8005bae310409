#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "transport/transport.hpp"

namespace rma::transport {

/// Memory of other processes of this host that is not mapped here, by cross memory attach: process_vm_readv
/// and process_vm_writev. The kernel copies while the call runs, so an operation is over when it is posted;
/// its completion waits in a list for poll(). Needs no registration: the owner's permission is the operating
/// system's.
class CmaTransport final : public Transport {
 public:
  /// Unless `allowed`, every operation is refused with RMA_ERR_UNSUPPORTED.
  CmaTransport(int peers, bool allowed);

  /// Whether this process may read its own memory that way, which a security filter can forbid. What another
  /// process allows shows at the first operation (RMA_ERR_UNSUPPORTED).
  [[nodiscard]] static bool available();

  /// The card for connect(): the process id.
  [[nodiscard]] static std::vector<std::byte> card_of(pid_t process);

  [[nodiscard]] std::string_view name() const override { return "cma"; }
  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] Result<Registration> register_memory(std::byte* address, std::size_t bytes) override;
  void deregister_memory(const Registration& registration) override;
  [[nodiscard]] std::span<const std::byte> card() const override { return card_; }
  [[nodiscard]] Status connect(int peer, std::span<const std::byte> card) override;
  void fail(int peer) override;
  [[nodiscard]] rma_status_t post(int peer, std::span<const Work> work, std::size_t* posted) override;
  [[nodiscard]] std::uint32_t outstanding(int /*peer*/) override { return 0; }
  [[nodiscard]] rma_status_t post_atomic(int peer, rma_atomic_op_t op, Remote target, std::uint64_t operand,
                                         std::uint64_t compare, Local old, Cookie cookie) override;
  [[nodiscard]] std::size_t poll(std::span<Completion> completions) override;
  [[nodiscard]] int event_fd() const override { return -1; }
  [[nodiscard]] bool arm() override;

 private:
  [[nodiscard]] rma_status_t move(int peer, const Work& work);

  const bool allowed_;
  Limits limits_;
  std::vector<std::byte> card_;
  std::vector<std::atomic<pid_t>>
      processes_;  ///< by peer; written by connect, before any operation to that peer, and fail
  std::mutex lock_;
  std::vector<Completion> completed_;  ///< guarded by lock_
};

}  // namespace rma::transport
