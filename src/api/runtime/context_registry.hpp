#pragma once

#include <mutex>
#include <unordered_map>

#include "core/completion/completion_context.hpp"
#include "rma/rma.h"
#include "util/handle.hpp"

namespace librma {

/// The completion contexts that the program has made, by their handles. A handle is only compared, never
/// dereferenced, and never given out twice. Thread-safe.
class ContextRegistry {
 public:
  /// Adds a context and returns its handle.
  [[nodiscard]] rma_context_t add(CompletionContext& context) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const handle = reinterpret_cast<rma_context_t>(new_handle(HandleKind::context));
    const std::lock_guard guard(lock_);
    contexts_.emplace(handle, &context);
    return handle;
  }
  /// Returns null if there is no context of this handle.
  [[nodiscard]] CompletionContext* find(rma_context_t handle) {
    const std::lock_guard guard(lock_);
    const auto found = contexts_.find(handle);
    return found != contexts_.end() ? found->second : nullptr;
  }
  /// Returns the handle of a context, or RMA_CONTEXT_DEFAULT if it has none.
  [[nodiscard]] rma_context_t handle_of(const CompletionContext& context) {
    const std::lock_guard guard(lock_);
    for (const auto& [handle, known] : contexts_) {
      if (known == &context) return handle;
    }
    return RMA_CONTEXT_DEFAULT;
  }
  /// Removes a context and returns it. Returns null if there is none of this handle.
  [[nodiscard]] CompletionContext* remove(rma_context_t handle) {
    const std::lock_guard guard(lock_);
    const auto node = contexts_.extract(handle);
    return node.empty() ? nullptr : node.mapped();
  }

 private:
  std::mutex lock_;
  std::unordered_map<rma_context_t, CompletionContext*> contexts_;
};

}  // namespace librma
