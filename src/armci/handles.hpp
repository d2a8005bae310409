#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "armci.h"
#include "armci/aggregates.hpp"
#include "armci/errors.hpp"
#include "rma/rma.h"

namespace librma::armci {

/// The nonblocking operations with handles that were still under way when their calls returned. A handle
/// contains the operation's number. If the table has no operation with this number, there is nothing to wait
/// for. So a program may wait for a handle again, may use it for the next operation without a wait, and a
/// handle may contain anything. Thread-safe.
class Handles {
 public:
  /// Adds an operation and returns its number, which is not 0. If an old operation occupies the new one's
  /// place, waits for the old one.
  [[nodiscard]] unsigned long add(rma_request_t request, int process);
  /// Waits for the operation with this number.
  void wait(unsigned long number);
  /// Returns whether the operation is complete.
  [[nodiscard]] bool test(unsigned long number);
  /// Executes what handles have gathered, and waits for all operations.
  void wait_all();
  /// Waits for all operations to `process`.
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
  std::array<Operation, kOperations> operations_;  ///< an operation's place is its number modulo the size
};

/// Return the result of a nonblocking call with a handle, after the runtime has begun or
/// refused the operation.
[[nodiscard]] int keep(armci_hdl_t* handle, rma_request_t request, int process, const char* call);
[[nodiscard]] inline int begun(armci_hdl_t* handle, rma_status_t status, rma_request_t request, int process,
                               const char* call) {
  handle->operation = 0;
  if (status == RMA_SUCCESS && request == RMA_REQUEST_COMPLETE) [[likely]]
    return 0;
  return status == RMA_SUCCESS ? keep(handle, request, process, call) : failure(status, call);
}

/// Starts a nonblocking operation by `with_request(arguments..., &request)`, or without a handle by
/// `implicit(arguments...)`. `check(status, call)` sees the status first. Returns the result of the call.
template <typename WithRequest, typename Implicit, typename Check, typename... Arguments>
[[gnu::always_inline]] inline int start_checked(armci_hdl_t* handle, int process, const char* call,
                                                WithRequest with_request, Implicit implicit, Check check,
                                                Arguments... arguments) {
  if (handle == nullptr) {
    const rma_status_t status = implicit(arguments...);
    check(status, call);
    return result(status, call);
  }
  rma_request_t request = RMA_REQUEST_NULL;
  const rma_status_t status = with_request(arguments..., &request);
  check(status, call);
  return begun(handle, status, request, process, call);
}
template <typename WithRequest, typename Implicit, typename... Arguments>
[[gnu::always_inline]] inline int start(armci_hdl_t* handle, int process, const char* call,
                                        WithRequest with_request, Implicit implicit, Arguments... arguments) {
  return start_checked(
      handle, process, call, with_request, implicit, [](rma_status_t, const char*) {}, arguments...);
}

}  // namespace librma::armci
