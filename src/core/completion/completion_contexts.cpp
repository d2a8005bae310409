#include "core/completion/completion_contexts.hpp"

namespace librma {
namespace {

/// The current context of a thread, and the number of the object that it is of. After rma_finalize the
/// pointer dangles, and the number says so.
struct Current {
  std::uint64_t number;
  CompletionContext* context;
};
constinit thread_local Current current_context = {.number = 0, .context = nullptr};

std::uint64_t next_number() {
  static constinit std::atomic<std::uint64_t> given_out = 0;
  return given_out.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: the numbers need only be distinct
}

}  // namespace

CompletionContexts::CompletionContexts(int ranks, ProgressEngine& engine)
    : ranks_(ranks), engine_(engine), number_(next_number()), default_(ranks, engine) {}

CompletionContext& CompletionContexts::current_of_thread() {
  const Current current = current_context;
  return current.number == number_ ? *current.context : default_;
}

void CompletionContexts::use(CompletionContext& context) {
  current_context = {.number = number_, .context = &context};
}

CompletionContext& CompletionContexts::take() {
  const std::lock_guard guard(lock_);
  any_taken_.store(true, std::memory_order_relaxed);
  if (!spare_.empty()) {
    CompletionContext* const context = spare_.back();
    spare_.pop_back();
    return *context;
  }
  spare_.reserve(made_.size() + 1);  // give_back() allocates nothing
  return *made_.emplace_back(std::make_unique<CompletionContext>(ranks_, engine_));
}

void CompletionContexts::give_back(CompletionContext& context) {
  const std::lock_guard guard(lock_);
  spare_.push_back(&context);
}

void CompletionContexts::for_each_made(const std::function<void(CompletionContext&)>& visit) {
  // The lock is not held during the visits, which may wait for operations of other ranks.
  for (std::size_t i = 0;; ++i) {
    CompletionContext* context = nullptr;
    {
      const std::lock_guard guard(lock_);
      if (i == made_.size()) return;
      context = made_[i].get();
    }
    visit(*context);
  }
}

}  // namespace librma
