/**
 * @file context.hpp
 * Completion contexts.
 */
#ifndef RMA_CONTEXT_HPP
#define RMA_CONTEXT_HPP

#include <utility>

#include "rma/error.hpp"
#include "rma/rma.h"

namespace rma::inline v0 {

/**
 * A completion context: fence() and fence_all() of a thread that uses it wait for the operations that were
 * issued in it, and for no others (see rma_context_create). A thread uses it through a ContextScope. No
 * thread uses the context when it is destroyed.
 */
class Context {
 public:
  /** Throws Error (RMA_ERR_NO_MEMORY). */
  Context() { check(rma_context_create(&handle_)); }
  /** Completes the operations of the context. Errors are lost: call fence_all() within the context to see
   * them. */
  ~Context() {
    if (handle_ != RMA_CONTEXT_DEFAULT) static_cast<void>(rma_context_free(&handle_));
  }
  Context(Context&& other) noexcept : handle_(std::exchange(other.handle_, RMA_CONTEXT_DEFAULT)) {}
  Context& operator=(Context&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] rma_context_t handle() const noexcept { return handle_; }

 private:
  rma_context_t handle_ = RMA_CONTEXT_DEFAULT;
};

/** Lets the calling thread use a context until the end of the scope, and the one before after that. */
class ContextScope {
 public:
  explicit ContextScope(const Context& context) { check(rma_context_use(context.handle(), &previous_)); }
  ~ContextScope() { static_cast<void>(rma_context_use(previous_, nullptr)); }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  rma_context_t previous_ = RMA_CONTEXT_DEFAULT;
};

}  // namespace rma::inline v0

#endif
