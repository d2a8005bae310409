#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "transport/transport.hpp"

namespace librma::transport {

/// The completions of operations that were executed, oldest first. Room is promised before an operation is
/// executed, so that its end needs no memory: it could not be undone any more. Not thread-safe.
class CompletionList {
 public:
  /// Promises room for the completions of `count` operations. Throws std::bad_alloc, and has changed nothing
  /// then.
  void promise(std::size_t count) {
    if (taken_ > ended_.size() / 2) {
      ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
    const std::size_t wanted = ended_.size() + promised_ + count;
    if (wanted > ended_.capacity()) ended_.reserve(std::max(wanted, 2 * ended_.capacity()));
    promised_ += count;
  }
  /// Takes promises back: `count` operations have no completion.
  void withdraw(std::size_t count) { promised_ -= count; }
  /// Adds the completion of an operation for which room was promised.
  void add(const Completion& completion) {
    --promised_;
    ended_.push_back(completion);
  }

  [[nodiscard]] std::size_t size() const { return ended_.size() - taken_; }
  /// Moves completions to the front of `completions`. Returns how many.
  [[nodiscard]] std::size_t take(std::span<Completion> completions) {
    const std::size_t count = std::min(completions.size(), size());
    std::copy_n(ended_.begin() + static_cast<std::ptrdiff_t>(taken_), count, completions.begin());
    taken_ += count;
    return count;
  }

 private:
  std::vector<Completion> ended_;
  std::size_t taken_ = 0;     ///< how many of `ended_` take() has returned
  std::size_t promised_ = 0;  ///< operations that may still add one
};

}  // namespace librma::transport
