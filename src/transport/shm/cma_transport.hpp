#pragma once

#include <sys/uio.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "transport/shm/segment.hpp"
#include "transport/transport.hpp"
#include "util/process_identity.hpp"

namespace rma::transport {

/// Memory of other processes of this host that is not mapped here, by cross memory attach: process_vm_readv
/// and process_vm_writev. The kernel copies while the call runs, so an operation is over when it is posted;
/// its completion waits in a list for poll(). Needs no registration: the owner's permission is the operating
/// system's.
///
/// The system calls name a process by its number, which another may get once it has ended and its parent has
/// taken note. So connect() opens a pidfd, makes sure by the time of its start that it is the process of the
/// card, and each transfer looks once whether that one still runs. A number is not given away while its owner
/// runs, so a read that is followed by such a look was the right process's: no others' bytes are taken for
/// the peer's. A write is preceded by the look. Between the two a window is left: the peer would have to end
/// and its number to come round again, which the kernel gives out in turn, in the time between two system
/// calls of this thread; the write would then go to a process of the same user that has memory at that
/// address. Nothing that a process may do for one that is not its child closes it: only the parent keeps the
/// number of a process that has ended. Where there are no pidfds, each look reads the time of the start.
class CmaTransport final : public Transport {
 public:
  /// Unless `allowed`, every operation is refused with RMA_ERR_UNSUPPORTED.
  CmaTransport(int peers, bool allowed);

  /// Whether this process may read its own memory that way, which a security filter can forbid. What another
  /// process allows shows at the first operation (RMA_ERR_UNSUPPORTED).
  [[nodiscard]] static bool available();

  /// The card for connect().
  [[nodiscard]] static std::vector<std::byte> card_of(const ProcessIdentity& process);

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
  struct Peer {
    ProcessIdentity identity;
    Descriptor file;                      ///< a pidfd; none where the system has none
    std::atomic<bool> connected = false;  ///< stored with release when the rest is filled in; cleared by fail
  };
  [[nodiscard]] rma_status_t move(int peer, const Work& work);
  [[nodiscard]] static rma_status_t transfer(const Peer& peer, Direction direction,
                                             std::span<const iovec> local, const iovec& there);
  /// Whether it still runs, and so has kept its number until now.
  [[nodiscard]] static bool runs(const Peer& peer);

  const bool allowed_;
  Limits limits_;
  std::vector<std::byte> card_;
  std::vector<Peer> peers_;
  std::mutex lock_;  ///< of the following, and of connecting
  std::vector<Completion> completed_;
};

}  // namespace rma::transport
