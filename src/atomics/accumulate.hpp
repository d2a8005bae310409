#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "atomics/kernels.hpp"
#include "atomics/stripe_locks.hpp"
#include "atomics/types.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/remote_access.hpp"
#include "util/statistics.hpp"
#include "util/status.hpp"

namespace librma {

class RemoteAtomics;

/// Accumulates into any rank's memory. The locks over a rank's addresses lie in that rank's memory. If the
/// memory is mapped, the initiator takes the locks and does the arithmetic, and the target takes no part. If
/// it is not mapped, the target's helper does both (RemoteAtomics). Thread-safe.
class Accumulator {
 public:
  /// Sets aside the locks over this process's memory. Called before Job::connect(). `job` and `remote_access`
  /// must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<Accumulator>> create(Job& job, RemoteAccess& remote_access);

  /// Performs dst[i] += scale * src[i] for `bytes` bytes of elements. The update of each element is
  /// atomic with respect to all other accumulates. `type` is valid, `bytes` is a multiple of its
  /// size, `dst` is aligned to its type_alignment(), and `scale` is null or one element.
  /// RMA_ERR_ADDRESS; RMA_ERR_UNSUPPORTED for a rank that no helper reaches; RMA_ERR_PEER_LOST and
  /// the other errors of the device.
  [[nodiscard]] Status accumulate(void* dst, const void* src, std::size_t bytes, rma_type_t type,
                                  const void* scale, int rank);

  /// Does the same without a scale for memory that is mapped at `here`, if it lies in one stripe whose lock
  /// is free, and needs no path to be chosen. Returns whether it is done. This is the short way of most short
  /// accumulates.
  [[nodiscard, gnu::always_inline]] bool accumulate_at_once(std::byte* here, const void* dst, const void* src,
                                                            std::size_t bytes, rma_type_t type, int rank) {
    const auto address = reinterpret_cast<std::uintptr_t>(dst);
    if (bytes > StripeLocks::left_in_stripe(address)) [[unlikely]]
      return false;
    SharedLock& lock = locks(rank).of(address);
    if (!lock.try_lock(lock_user_.rank)) [[unlikely]]
      return false;
    plain_[static_cast<std::size_t>(type)].run(here, static_cast<const std::byte*>(src), bytes);
    lock.unlock();
    count(Counter::accumulate);
    return true;
  }

  /// Sets the object that executes accumulates to ranks that are not mapped here; null for none. Called
  /// before the first accumulate.
  void set_remote(RemoteAtomics* remote) { remote_ = remote; }
  [[nodiscard]] RemoteAtomics* remote() const { return remote_; }

  [[nodiscard]] Job& job() const { return job_; }
  [[nodiscard]] RemoteAccess& remote_access() const { return remote_access_; }
  /// Returns this process as a user of locks.
  [[nodiscard]] const LockUser& lock_user() const { return lock_user_; }
  /// Returns the locks over the memory of `rank`, which is mapped here.
  [[nodiscard]] StripeLocks& locks(int rank) const {
    return *reinterpret_cast<StripeLocks*>(job_.service(Service::accumulate, rank).data());
  }

 private:
  Accumulator(Job& job, RemoteAccess& remote_access)
      : job_(job),
        remote_access_(remote_access),
        lock_user_{.rank = job.rank(),
                   .policy = job.wait_policy(),
                   .ended = [&job](int rank) { return job.ended(rank); }},
        plain_(all_types<Kernel>([](rma_type_t type) { return Kernel(type, nullptr); })) {}

  Job& job_;
  RemoteAccess& remote_access_;
  const LockUser lock_user_;
  const std::array<Kernel, kTypeCount> plain_;  ///< by type: those without a scale
  RemoteAtomics* remote_ = nullptr;
};

/// One accumulate of any number of contiguous pieces to one rank. It keeps a lock from piece to piece. So one
/// thread uses it without a pause and then destroys it at once.
class Accumulation {
 public:
  Accumulation(Accumulator& accumulator, rma_type_t type, const void* scale, int rank);
  Accumulation(const Accumulation&) = delete;
  Accumulation& operator=(const Accumulation&) = delete;

  /// Accumulates one piece. The arguments and errors are those of Accumulator::accumulate.
  [[nodiscard]] Status add(void* dst, const void* src, std::size_t bytes);

  /// Does the same for memory that is mapped at `here`. It is inlined, because a short piece costs little
  /// apart from the call.
  void add_mapped(std::byte* here, const void* dst, const void* src, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(dst);
    const auto* const from = static_cast<const std::byte*>(src);
    if (bytes > StripeLocks::left_in_stripe(address)) return add_stripes(here, address, from, bytes);
    cursor_.hold(address, bytes);
    kernel_.run(here, from, bytes);
  }

 private:
  /// Does the same for a piece that does not lie in one stripe.
  void add_stripes(std::byte* here, std::uintptr_t address, const std::byte* src, std::size_t bytes);
  /// Adds [src, src + bytes) to the target's `address`. Divides it into parts that lie under one lock
  /// each, and holds that lock. `access(address, bytes, work)` gives the target's bytes to `work`,
  /// which changes them.
  template <typename Access>
  [[nodiscard]] Status add_pieces(std::uintptr_t address, const std::byte* src, std::size_t bytes,
                                  const Access& access);

  Accumulator& accumulator_;
  const int rank_;
  const rma_type_t type_;
  const void* const scale_;
  const Kernel kernel_;
  LockCursor cursor_;
};

}  // namespace librma
