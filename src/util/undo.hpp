#pragma once

#include <utility>

namespace rma {

/// Takes back what was half done: calls `step` at the end of the scope, also by an exception, unless
/// dismissed.
template <typename Step>
class Undo {
 public:
  explicit Undo(Step step) : step_(std::move(step)) {}
  ~Undo() {
    if (armed_) step_();
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  /// It is whole.
  void dismiss() noexcept { armed_ = false; }

 private:
  Step step_;
  bool armed_ = true;
};

}  // namespace rma
