#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "transport/shm/completion_list.hpp"
#include "transport/shm/host_peers.hpp"
#include "transport/shm/iovec_pair.hpp"
#include "transport/transport.hpp"

namespace librma::transport {

/// Accesses memory of other processes of this host that is not mapped here, by cross memory attach:
/// process_vm_readv and process_vm_writev. The kernel copies during the call, so an operation has ended when
/// it is posted. Its completion waits in a list for poll(). Work requests that are posted together share
/// system calls; each has its own status all the same. Memory needs no registration, because the operating
/// system checks the permission.
///
/// The system calls name a process by its number. When a process has ended and its parent has waited for it,
/// another process may get the number. So each transfer checks, by a descriptor that tells of the process's
/// end, that it still runs. A process keeps its number while it runs. A check is a system call, so its result
/// holds for the rest of the tick of the kernel's coarse clock (10 ms or less): within a tick the peer cannot
/// end, be waited for, and lose its number to another, because the kernel gives numbers out in turn, and all
/// others must come first. A read is followed by the check, so its bytes are those of the peer. A write is
/// preceded by it. Here a small risk remains: if this thread stops between the check and the write, the peer
/// may end and its number may be reused. The write would then go to a process of the same user, if that one
/// has memory at the address. A process cannot prevent this for one that is not its child, because only the
/// parent can keep the number of an ended process.
class CmaTransport final : public Transport {
  struct Process;

 public:
  /// If `allowed` is false, post() returns RMA_ERR_UNSUPPORTED.
  CmaTransport(int peers, bool allowed);

  /// Returns whether this process can read its own memory by these calls, which a security filter can forbid.
  [[nodiscard]] static bool available();

  /// Returns the card of `process`, for connect() in this process. `process` outlives the connection.
  [[nodiscard]] static std::vector<std::byte> card_of(const HostPeer& process);

  [[nodiscard]] std::string_view name() const override { return "cma"; }
  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] Result<Registration> register_memory(std::byte* address, std::size_t bytes) override;
  void deregister_memory(const Registration& registration) override;
  [[nodiscard]] std::span<const std::byte> card() const override { return card_; }
  /// Also returns RMA_ERR_UNSUPPORTED if this process may not access the peer's memory, or the peer has no
  /// number here because it runs in another PID namespace. Transfers then return the same.
  [[nodiscard]] Status connect(int peer, std::span<const std::byte> card) override;
  void fail(int peer) override;
  [[nodiscard]] rma_status_t post(int peer, std::span<const Work> work, std::size_t* posted) override;
  /// Transfers in one direction with a connected peer, which wait for no completion. Pieces share system
  /// calls. One thread uses it.
  class Pieces {
   public:
    Pieces(CmaTransport& transport, int peer, Direction direction)
        : process_(transport.processes_[static_cast<std::size_t>(peer)]), direction_(direction) {}

    /// Adds `local`, which belongs to the memory at `address` of the peer. Moves the pieces before it if they
    /// are as many as one system call takes. Returns false if that has failed, now or before: the caller
    /// then need add no more.
    [[nodiscard]] bool add(std::uintptr_t address, std::span<std::byte> local);
    /// Moves what was added, and returns when it is there. The errors are those of a completion. If one piece
    /// fails, others may not have been moved.
    [[nodiscard]] rma_status_t move();

   private:
    Process& process_;
    const Direction direction_;
    rma_status_t status_ = RMA_SUCCESS;
    IovecPair memory_;
  };
  [[nodiscard]] std::uint32_t outstanding(int /*peer*/) override { return 0; }
  [[nodiscard]] rma_status_t post_atomic(int peer, rma_atomic_op_t op, Remote target, std::uint64_t operand,
                                         std::uint64_t compare, Local old, Cookie cookie) override;
  [[nodiscard]] std::size_t poll(std::span<Completion> completions) override;
  [[nodiscard]] int event_fd() const override { return -1; }
  [[nodiscard]] bool arm() override;

 private:
  struct Process {
    pid_t number = 0;
    int end = -1;                         ///< readable once the process has ended; -1: this process itself
    bool permitted = false;               ///< this process may access the peer's memory
    std::atomic<bool> connected = false;  ///< stored with release after the other members; fail() clears it
    std::atomic<std::int64_t> ran = 0;    ///< the last tick in which runs() returned true
  };
  /// Returns whether this process may access the memory of `process`.
  [[nodiscard]] bool permitted(pid_t process) const;
  /// Moves all that `memory` names, and takes what has moved off it. Stores into `*moved` how many bytes
  /// these are.
  [[nodiscard]] static rma_status_t transfer(Process& process, Direction direction, IovecPair& memory,
                                             std::size_t* moved);
  void complete(int peer, std::span<const Work> work, rma_status_t status);
  /// Returns whether the peer still runs, and so has kept its number until now.
  [[nodiscard]] static bool runs(const Process& process);
  /// Returns whether the peer has kept its number until now: it still runs, or did in this tick.
  [[nodiscard]] static bool keeps_number(Process& process);

  const bool allowed_;
  Limits limits_;
  std::vector<std::byte> card_;
  std::vector<Process> processes_;
  std::mutex lock_;  ///< guards the members below, and connecting
  CompletionList completed_;
  /// There are some. Every poll asks. The store releases nothing: the lock does.
  std::atomic<bool> any_completed_ = false;
};

}  // namespace librma::transport
