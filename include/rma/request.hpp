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
 * A request: one nonblocking operation that has not been waited for yet, or none. The operation may be under
 * way or complete. Requests can be moved but not copied. Destroying a request, or assigning to it, first
 * waits for its operation, because the program may free the operation's buffers next. An error found by that
 * wait is lost; call wait() where errors matter.
 */
class Request {
 public:
  Request() noexcept = default;
  /** Takes over a request that a function of the C interface returned. */
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

  /** Returns whether there is nothing to wait for: no operation, or one that was already waited for. */
  [[nodiscard]] bool is_null() const noexcept { return handle_ == RMA_REQUEST_NULL; }

  /** Waits for the operation. Throws the operation's error. */
  void wait() {
    if (!is_null()) check(rma_wait(&handle_));
  }

  /** Returns whether the operation is complete. If it is, the request is null from then on. Throws the
   *  operation's error. */
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

// An array of requests has the layout of an array of handles, so a wait for many requests copies nothing.
static_assert(sizeof(Request) == sizeof(rma_request_t) && std::is_standard_layout_v<Request>);
inline rma_request_t* handles(std::span<Request> requests) noexcept {
  return reinterpret_cast<rma_request_t*>(requests.data());
}

}  // namespace detail

/** Waits for all requests. When all are complete, throws the first error. */
inline void wait_all(std::span<Request> requests) {
  check(rma_wait_all(detail::handles(requests), requests.size()));
}

/** Waits until one of the requests is complete and returns its position; the request is null from then on.
 *  Returns requests.size() if all requests are null. Throws the operation's error. */
inline std::size_t wait_any(std::span<Request> requests) {
  std::size_t index = 0;
  check(rma_wait_any(detail::handles(requests), requests.size(), &index));
  return index;
}

}  // namespace rma::inline v0

#endif
