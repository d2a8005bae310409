#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/job/job.hpp"
#include "core/one_sided/remote_access.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// Carries data into a block of memory that each member of a group has for the purpose, and lets a process
/// wait for writes into its own block. The members are numbered from 0. Only the transport knows the places
/// of their blocks and their hosts. Thread-safe except for block().
class TeamTransport {
 public:
  TeamTransport() = default;
  TeamTransport(const TeamTransport&) = delete;
  TeamTransport& operator=(const TeamTransport&) = delete;
  virtual ~TeamTransport() = default;

  /// Returns the address of `member`'s block, as that member would use it.
  [[nodiscard]] virtual Result<std::uintptr_t> block(int member) = 0;

  /// Writes `bytes` bytes to `to` and then `value` to the aligned word `flag`; both are addresses of
  /// `member`. A thread that sees the value also sees the bytes. With 0 bytes, writes the flag only. Returns
  /// when `from` may be used again. RMA_ERR_PEER_LOST.
  [[nodiscard]] virtual Status put(int member, std::uintptr_t to, const void* from, std::size_t bytes,
                                   std::uintptr_t flag, std::uint64_t value) = 0;

  /// Probes whether `member` still exists. Returns RMA_ERR_PEER_LOST if it does not answer any more; that may
  /// take some seconds.
  [[nodiscard]] virtual Status check(int member) = 0;
  /// Returns how long `member` may be silent before it is probed.
  [[nodiscard]] virtual std::chrono::milliseconds patience(int member) const = 0;

  /// Returns the doorbell at which this process sleeps. Members of this host wake it there.
  [[nodiscard]] virtual Doorbell& doorbell() = 0;
  [[nodiscard]] virtual const WaitPolicy& wait_policy() const = 0;
};

/// The transport between processes of a job.
class JobTeamTransport final : public TeamTransport {
 public:
  /// Carries to blocks that lie `offset` bytes into the memory that each process provided for Service::teams.
  /// The addresses are looked up when they are first needed.
  /// @param ranks  world ranks by member
  JobTeamTransport(Job& job, RemoteAccess& remote_access, std::vector<int> ranks, std::size_t offset)
      : job_(job),
        remote_access_(remote_access),
        ranks_(std::move(ranks)),
        blocks_(ranks_.size()),
        offset_(offset) {}

  /// Sets the address of `member`'s block, if it lies elsewhere.
  void place(int member, std::uintptr_t block) { blocks_[static_cast<std::size_t>(member)] = block; }

  [[nodiscard]] Result<std::uintptr_t> block(int member) override;
  [[nodiscard]] Status put(int member, std::uintptr_t to, const void* from, std::size_t bytes,
                           std::uintptr_t flag, std::uint64_t value) override;
  [[nodiscard]] Status check(int member) override;
  [[nodiscard]] std::chrono::milliseconds patience(int member) const override;
  [[nodiscard]] Doorbell& doorbell() override { return job_.doorbell(job_.rank()); }
  [[nodiscard]] const WaitPolicy& wait_policy() const override { return job_.wait_policy(); }

 private:
  Job& job_;
  RemoteAccess& remote_access_;
  const std::vector<int> ranks_;
  std::vector<std::uintptr_t> blocks_;  ///< by member; 0 until it is known
  const std::size_t offset_;
};

}  // namespace rma
