#pragma once

#include <cstdint>

#include "util/waiting/wait.hpp"

namespace librma {

/// Thrown in a member that ends.
struct Gone {};

/// Ends a member while it waits for others, at the n-th time that it looks after other operations.
class EndsWaiting final : public WaitProgress {
 public:
  explicit EndsWaiting(std::uint64_t looks) : looks_(looks) {}
  [[nodiscard]] bool pending() const override { return true; }
  bool drive() override {
    if (looks_-- == 0) throw Gone();
    return false;
  }

 private:
  std::uint64_t looks_;
};

}  // namespace librma
