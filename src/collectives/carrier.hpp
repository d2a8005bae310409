#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device.hpp"
#include "core/job.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// How one process writes into a block of memory that each member of a group has for the purpose, and waits
/// for what they write into its own. The members are numbered from 0; where their blocks lie, and that they
/// may be on other hosts, only the carrier knows. Thread-safe except for block().
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  virtual ~Carrier() = default;

  /// Where `member`'s block begins, in its own addresses.
  [[nodiscard]] virtual Result<std::uintptr_t> block(int member) = 0;

  /// Writes `bytes` bytes to `to`, then `value` to the aligned word `flag`, both addresses of `member`: who
  /// sees the value sees the bytes. 0 bytes: the flag only. Returns when `from` may be used again.
  /// RMA_ERR_PEER_LOST.
  [[nodiscard]] virtual Status put(int member, std::uintptr_t to, const void* from, std::size_t bytes,
                                   std::uintptr_t flag, std::uint64_t value) = 0;

  /// Asks whether `member` is still there: RMA_ERR_PEER_LOST when it does not answer any more, which may take
  /// some seconds to find out.
  [[nodiscard]] virtual Status check(int member) = 0;
  /// How long `member` may be silent before it is asked.
  [[nodiscard]] virtual std::chrono::milliseconds patience(int member) const = 0;

  /// Where this process sleeps; members of this host ring it.
  [[nodiscard]] virtual Doorbell& bell() = 0;
  [[nodiscard]] virtual const WaitPolicy& wait_policy() const = 0;
};

/// The carrier between processes of a job.
class JobCarrier final : public Carrier {
 public:
  /// To blocks that lie `offset` bytes into what each process provided for Service::teams. They are looked
  /// up when they are first needed.
  /// @param ranks  world ranks by member
  JobCarrier(Job& job, Device& device, std::vector<int> ranks, std::size_t offset)
      : job_(job), device_(device), ranks_(std::move(ranks)), blocks_(ranks_.size()), offset_(offset) {}

  /// Says where `member`'s block is, if not there.
  void place(int member, std::uintptr_t block) { blocks_[static_cast<std::size_t>(member)] = block; }

  [[nodiscard]] Result<std::uintptr_t> block(int member) override;
  [[nodiscard]] Status put(int member, std::uintptr_t to, const void* from, std::size_t bytes,
                           std::uintptr_t flag, std::uint64_t value) override;
  [[nodiscard]] Status check(int member) override;
  [[nodiscard]] std::chrono::milliseconds patience(int member) const override;
  [[nodiscard]] Doorbell& bell() override { return job_.doorbell(job_.rank()); }
  [[nodiscard]] const WaitPolicy& wait_policy() const override { return job_.wait_policy(); }

 private:
  Job& job_;
  Device& device_;
  const std::vector<int> ranks_;
  std::vector<std::uintptr_t> blocks_;  ///< by member; 0 where not known yet
  const std::size_t offset_;
};

}  // namespace rma
