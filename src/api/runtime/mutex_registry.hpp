#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "atomics/mutexes.hpp"
#include "rma/rma.h"
#include "util/handle.hpp"

namespace librma {

/// The objects behind an rma_mutexes_t.
struct MutexHolder {
  std::unique_ptr<MutexSet> set;
  rma_team_t team = nullptr;
  void* memory = nullptr;  ///< memory of this process's own mutexes, from MutexSet::allocate
};

/// The sets of mutexes of this process. A handle is only compared, never dereferenced, and never given out
/// twice. Thread-safe.
class MutexRegistry {
 public:
  /// Adds an empty holder for mutexes of `team` and returns its handle.
  [[nodiscard]] rma_mutexes_t add(rma_team_t team) {
    auto owned = std::make_unique<MutexHolder>();
    owned->team = team;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const handle = reinterpret_cast<rma_mutexes_t>(new_handle(HandleKind::mutexes));
    const std::lock_guard guard(lock_);
    holders_.emplace(handle, std::move(owned));
    return handle;
  }
  [[nodiscard]] MutexHolder* find(rma_mutexes_t handle) {
    const std::lock_guard guard(lock_);
    const auto found = holders_.find(handle);
    return found != holders_.end() ? found->second.get() : nullptr;
  }
  void remove(rma_mutexes_t handle) {
    const std::lock_guard guard(lock_);
    holders_.erase(handle);
  }

 private:
  std::mutex lock_;
  std::unordered_map<rma_mutexes_t, std::unique_ptr<MutexHolder>> holders_;
};

}  // namespace librma
