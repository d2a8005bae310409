#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "rma/rma.h"
#include "transport/transport.hpp"

namespace rma {

/// The work requests of one operation to one rank that are posted together, up to kMost of them and all to
/// one rail. One thread uses a batch. Network::flush() posts them at the latest; until then the program's
/// memory stays as it is.
class Batch {
 public:
  explicit Batch(int rank) : rank_(rank) {}
  Batch(const Batch&) = delete;  // the work requests point to local_
  Batch& operator=(const Batch&) = delete;

  [[nodiscard]] int rank() const { return rank_; }

  /// Returns the operation that waits for the work requests; RMA_REQUEST_NULL while none is needed.
  [[nodiscard]] rma_request_t operation() const { return operation_; }
  void set_operation(rma_request_t operation) { operation_ = operation; }
  /// Gives the operation to the caller, who has to end it.
  [[nodiscard]] rma_request_t take_operation() { return std::exchange(operation_, RMA_REQUEST_NULL); }

  /// Returns the rail of the work requests.
  [[nodiscard]] std::size_t rail() const { return rail_; }
  /// Returns whether a work request for `rail` can be added.
  [[nodiscard]] bool has_room(std::size_t rail) const {
    return count_ < kMost && (count_ == 0 || rail_ == rail);
  }
  /// Adds a work request; has_room() is true. `work` gets the one local part `local`.
  void add(std::size_t rail, const transport::Work& work, const transport::Local& local) {
    rail_ = rail;
    local_[count_] = local;
    work_[count_] = work;
    work_[count_].pieces = {&local_[count_], 1};
    ++count_;
  }
  /// Empties the batch and returns its work requests. The result stays valid until the next add().
  [[nodiscard]] std::span<const transport::Work> take() { return {work_.data(), std::exchange(count_, 0)}; }

 private:
  static constexpr std::size_t kMost = 8;

  const int rank_;
  rma_request_t operation_ = RMA_REQUEST_NULL;
  std::size_t rail_ = 0;
  std::size_t count_ = 0;
  std::array<transport::Work, kMost> work_;    ///< the first count_ are to be posted
  std::array<transport::Local, kMost> local_;  ///< one for each of them
};

}  // namespace rma
