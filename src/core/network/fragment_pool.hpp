#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "core/network/fragment.hpp"

namespace rma {

/// Reuses fragments. A fragment never changes its address, because the cookie of its work request is that
/// address. Thread-safe.
class FragmentPool {
 public:
  [[nodiscard]] Fragment& take() {
    const std::lock_guard guard(lock_);
    if (free_.empty()) return fragments_.emplace_back();
    Fragment* const fragment = free_.back();
    free_.pop_back();
    return *fragment;
  }
  /// Takes the fragment back. Also ends its use of a registration.
  void give(Fragment& fragment) {
    fragment.use.reset();
    const std::lock_guard guard(lock_);
    free_.push_back(&fragment);
  }

 private:
  std::mutex lock_;
  std::deque<Fragment> fragments_;
  std::vector<Fragment*> free_;
};

}  // namespace rma
