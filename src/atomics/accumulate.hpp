#pragma once

#include <cstddef>
#include <memory>

#include "atomics/kernels.hpp"
#include "atomics/stripe_locks.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/device.hpp"
#include "util/status.hpp"

namespace rma {

class RemoteAtomics;

/// Accumulates, to any rank's memory, as a job's processes share them: the locks over a rank's addresses lie
/// in that rank's memory. Whoever initiates takes them and does the arithmetic; the target takes no part.
/// Where the memory is not mapped, the target's helper does (RemoteAtomics). Thread-safe.
class Accumulator {
 public:
  /// Sets the locks over this process's memory aside. Before Job::connect(); both must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<Accumulator>> create(Job& job, Device& device);

  /// dst[i] += scale * src[i] for `bytes` bytes of elements, each atomic with respect to all other
  /// accumulates. `type` is valid, `bytes` a multiple of its size, `dst` aligned to its type_alignment(), and
  /// `scale` null or one element. RMA_ERR_ADDRESS; RMA_ERR_UNSUPPORTED for a rank that no helper reaches;
  /// RMA_ERR_PEER_LOST and what else the device reports.
  [[nodiscard]] Status accumulate(void* dst, const void* src, std::size_t bytes, rma_type_t type,
                                  const void* scale, int rank);

  /// Before the first accumulate: who executes those to ranks that are not mapped here. Null for nobody.
  void set_remote(RemoteAtomics* remote) { remote_ = remote; }
  [[nodiscard]] RemoteAtomics* remote() const { return remote_; }

  [[nodiscard]] Job& job() const { return job_; }
  [[nodiscard]] Device& device() const { return device_; }
  /// The locks over the memory of `rank`, mapped here.
  [[nodiscard]] StripeLocks& locks(int rank) const {
    return *reinterpret_cast<StripeLocks*>(job_.service(Service::accumulate, rank).data());
  }

 private:
  Accumulator(Job& job, Device& device) : job_(job), device_(device) {}

  Job& job_;
  Device& device_;
  RemoteAtomics* remote_ = nullptr;
};

/// One accumulate of any number of contiguous pieces to one rank. Keeps a lock from piece to piece, so it is
/// to be used in one go, by one thread, and destroyed at once.
class Accumulation {
 public:
  Accumulation(Accumulator& accumulator, rma_type_t type, const void* scale, int rank);
  Accumulation(const Accumulation&) = delete;
  Accumulation& operator=(const Accumulation&) = delete;

  /// Accumulates one piece; arguments and errors as Accumulator::accumulate.
  [[nodiscard]] Status add(void* dst, const void* src, std::size_t bytes);

  /// add() of memory known to be mapped, at `here`. Inlined: short pieces in long rows cost little besides.
  void add_mapped(std::byte* here, const void* dst, const void* src, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(dst);
    const auto* const from = static_cast<const std::byte*>(src);
    if (bytes > StripeLocks::left_in_stripe(address)) return add_stripes(here, address, from, bytes);
    cursor_.hold(address, bytes);
    kernel_.run(here, from, bytes);
  }

 private:
  /// add_mapped() of what does not lie in one stripe.
  void add_stripes(std::byte* here, std::uintptr_t address, const std::byte* src, std::size_t bytes);
  /// Adds [src, src + bytes) to the target's `address` in pieces that lie under one lock each, holding it.
  /// `access(address, bytes, work)` gives `work` those bytes to change.
  template <typename Access>
  [[nodiscard]] Status add_pieces(std::uintptr_t address, const std::byte* src, std::size_t bytes,
                                  const Access& access);

  Accumulator& accumulator_;
  const int rank_;
  const Kernel kernel_;
  LockCursor cursor_;
};

}  // namespace rma
