/**
 * @file error.hpp
 * The exceptions of the C++ interface. They form one family. Each carries the status and the text that the C
 * interface would return.
 */
#ifndef RMA_ERROR_HPP
#define RMA_ERROR_HPP

#include <exception>
#include <stdexcept>
#include <string>

#include "rma/rma.h"

// Everything of the C++ interface lives in an inline namespace, so that its inline functions never share a
// symbol with those of the library itself or of another version of these headers.
namespace rma::inline v0 {

/** The base of all exceptions that the C++ interface throws. */
class Error : public std::runtime_error {
 public:
  Error(rma_status_t status, const std::string& text) : std::runtime_error(text), status_(status) {}

  /** Returns the status of the C interface. It is never RMA_SUCCESS. */
  [[nodiscard]] rma_status_t status() const noexcept { return status_; }

 private:
  rma_status_t status_;
};

/** An argument is wrong: a rank, a size, an alignment, an address or another argument. The call changed
 *  nothing. */
class ArgumentError : public Error {
 public:
  using Error::Error;
};

/** The heap or the system has no memory left. */
class NoMemoryError : public Error {
 public:
  using Error::Error;
};

/** The other process has ended or cannot be reached. */
class PeerLostError : public Error {
 public:
  using Error::Error;
};

/** Throws the exception that belongs to `status`. */
[[noreturn]] inline void throw_error(rma_status_t status, const std::string& text) {
  switch (status) {
    case RMA_ERR_ARGUMENT:
    case RMA_ERR_RANK:
    case RMA_ERR_SIZE:
    case RMA_ERR_ALIGNMENT:
    case RMA_ERR_ADDRESS:
      throw ArgumentError(status, text);
    case RMA_ERR_NO_MEMORY:
      throw NoMemoryError(status, text);
    case RMA_ERR_PEER_LOST:
      throw PeerLostError(status, text);
    default:
      throw Error(status, text);
  }
}

namespace detail {

// This function is out of line and cold, so check() adds only one comparison to the 8-byte path.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_last_error(rma_status_t status) {
  const std::string text = rma_last_error();
  throw_error(status, text.empty() ? rma_strerror(status) : text);
}

/**
 * Tells a destructor whether it may make a collective call. It may not outside the job. It also may not while
 * an exception destroys the object: only this process has thrown that exception, so the other members would
 * never arrive. The memory that then stays unfreed is freed when the process ends.
 */
class CollectiveScope {
 public:
  [[nodiscard]] bool may_call() const noexcept {
    return rma_initialized() == 1 && std::uncaught_exceptions() <= exceptions_;
  }

 private:
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace detail

/** Throws the error of this thread's last failed call unless `status` is RMA_SUCCESS. */
inline void check(rma_status_t status) {
  if (status != RMA_SUCCESS) [[unlikely]] {
    detail::throw_last_error(status);
  }
}

}  // namespace rma::inline v0

#endif
