#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "armci.h"
#include "armci/aggregates.hpp"
#include "armci/errors.hpp"
#include "rma/rma.h"

namespace rma::armci {

/// The nonblocking operations with handles that were still under way when their calls returned. A handle has
/// the operation's number; where the table has no such operation (any more), there is nothing to wait for. So
/// a handle may be waited for again, may be used for the next operation without, and may hold anything.
/// Thread-safe.
class Handles {
 public:
  /// Takes an operation in; returns its number, which is not 0. An operation so old that its place is needed
  /// is waited for.
  [[nodiscard]] unsigned long add(rma_request_t request, int process);
  /// Waits for an operation.
  void wait(unsigned long number);
  /// Whether there is nothing left to wait for.
  [[nodiscard]] bool test(unsigned long number);
  /// Waits for all, with what was gathered.
  void wait_all();
  /// Waits for all to a process.
  void wait_process(int process);

  Aggregates aggregates;

 private:
  struct Operation {
    unsigned long number = 0;  ///< 0: none
    rma_request_t request = RMA_REQUEST_NULL;
    int process = -1;
  };
  static constexpr std::size_t kOperations = 4096;

  [[nodiscard]] Operation& place(unsigned long number) { return operations_[number % kOperations]; }
  template <typename Which>
  void wait_where(const Which& which);

  std::mutex lock_;
  unsigned long last_ = 0;
  std::array<Operation, kOperations> operations_;  ///< each at its number's place
};

/// What a nonblocking call with a handle returns, after the runtime has begun (or refused) the operation.
[[nodiscard]] int keep(armci_hdl_t* handle, rma_request_t request, int process, const char* call);
[[nodiscard]] inline int begun(armci_hdl_t* handle, rma_status_t status, rma_request_t request, int process,
                               const char* call) {
  handle->operation = 0;
  if (status == RMA_SUCCESS && request == RMA_REQUEST_COMPLETE) [[likely]]
    return 0;
  return status == RMA_SUCCESS ? keep(handle, request, process, call) : failure(status, call);
}

}  // namespace rma::armci
