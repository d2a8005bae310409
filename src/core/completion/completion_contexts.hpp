#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/completion/completion_context.hpp"

namespace librma {

/// The completion contexts of this process: the default one, and those that the program makes. Each thread
/// has a current one, to which the operations belong that it issues. Thread-safe.
///
/// A context is never destroyed before this object is. So a thread whose current context another thread gives
/// back does no harm: its operations count in a context that nobody uses, or in the next one that take()
/// returns.
class CompletionContexts {
 public:
  CompletionContexts(int ranks, ProgressEngine& engine);

  [[nodiscard]] CompletionContext& default_context() { return default_; }
  /// Returns the current context of the calling thread. It is the default one until use() sets another.
  [[nodiscard]] CompletionContext& current() {
    return any_taken_.load(std::memory_order_relaxed) ? current_of_thread() : default_;
  }
  /// Makes `context` the current one of the calling thread.
  void use(CompletionContext& context);

  /// Returns a context that nobody uses.
  [[nodiscard]] CompletionContext& take();
  /// Gives back a context of take(). Its operations are complete.
  void give_back(CompletionContext& context);

  /// Calls `visit` for the default context and for all that take() has ever returned.
  template <typename Visit>
  void for_each(const Visit& visit) {
    visit(default_);
    if (any_taken_.load(std::memory_order_relaxed)) [[unlikely]]
      for_each_made(visit);
  }

 private:
  [[nodiscard]] CompletionContext& current_of_thread();
  void for_each_made(const std::function<void(CompletionContext&)>& visit);

  const int ranks_;
  ProgressEngine& engine_;
  const std::uint64_t number_;  ///< no other object of this class has had it
  CompletionContext default_;
  /// Whether take() has ever been called. Relaxed, because a thread that has set its current context reads
  /// its own thread's earlier write, or that of the thread which gave it the context.
  std::atomic<bool> any_taken_ = false;
  std::mutex lock_;
  std::vector<std::unique_ptr<CompletionContext>> made_;
  std::vector<CompletionContext*> spare_;
};

}  // namespace librma
