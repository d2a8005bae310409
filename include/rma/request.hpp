/**
 * @file request.hpp
 * A nonblocking operation as a value.
 */
#ifndef RMA_REQUEST_HPP
#define RMA_REQUEST_HPP

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "rma/error.hpp"

namespace rma::inline v0 {

/**
 * One nonblocking operation that is still to be waited for, under way or complete, or none. Can be moved, not
 * copied; destroying it, or assigning to it, waits first, because the buffers of the operation are about to
 * go as well. An error found there is lost: call wait() where it matters.
 */
class Request {
 public:
  Request() noexcept = default;
  /** Takes over what a function of the C interface gave. */
  explicit Request(rma_request_t handle) noexcept : handle_(handle) {}
  ~Request() { finish(); }
  Request(Request&& other) noexcept : handle_(std::exchange(other.handle_, RMA_REQUEST_NULL)) {}
  Request& operator=(Request&& other) noexcept {
    if (this != &other) {
      finish();
      handle_ = std::exchange(other.handle_, RMA_REQUEST_NULL);
    }
    return *this;
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /** Whether there is nothing to wait for: no operation, or one that was already waited for. */
  [[nodiscard]] bool is_null() const noexcept { return handle_ == RMA_REQUEST_NULL; }

  /** Waits for the operation. Throws its error. */
  void wait() {
    if (!is_null()) check(rma_wait(&handle_));
  }

  /** Whether the operation is complete; if so, the request is null from now on. Throws its error. */
  [[nodiscard]] bool test() {
    int done = 1;
    if (!is_null()) check(rma_test(&handle_, &done));
    return done != 0;
  }

 private:
  void finish() noexcept {
    if (!is_null()) static_cast<void>(rma_wait(&handle_));
  }

  rma_request_t handle_ = RMA_REQUEST_NULL;
};

namespace detail {

// An array of requests is an array of handles: nothing is copied to wait for many.
static_assert(sizeof(Request) == sizeof(rma_request_t) && std::is_standard_layout_v<Request>);
inline rma_request_t* handles(std::span<Request> requests) noexcept {
  return reinterpret_cast<rma_request_t*>(requests.data());
}

}  // namespace detail

/** Waits for all; throws the first error once all are complete. */
inline void wait_all(std::span<Request> requests) {
  check(rma_wait_all(detail::handles(requests), requests.size()));
}

/** Waits until one of the requests is complete and returns its place; it is null from then on. Returns
 *  requests.size() when all are null. Throws the operation's error. */
inline std::size_t wait_any(std::span<Request> requests) {
  std::size_t index = 0;
  check(rma_wait_any(detail::handles(requests), requests.size(), &index));
  return index;
}

}  // namespace rma::inline v0

#endif
