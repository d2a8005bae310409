#pragma once

#include <utility>

namespace librma {

/// Undoes an operation that did not complete: calls `step` at the end of the scope, also when an exception
/// leaves it, unless dismiss() was called.
template <typename Step>
class Undo {
 public:
  explicit Undo(Step step) : step_(std::move(step)) {}
  ~Undo() {
    if (armed_) step_();
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  /// Says that the operation is complete, so `step` is not called.
  void dismiss() noexcept { armed_ = false; }

 private:
  Step step_;
  bool armed_ = true;
};

}  // namespace librma
