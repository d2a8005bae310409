// Completion contexts.

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/fence.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

CompletionContexts& contexts(Runtime& runtime) { return runtime.remote_access->pending().contexts(); }

Status unknown(rma_context_t context) {
  return {RMA_ERR_ARGUMENT, text("{} is not a completion context of this process, or was freed",
                                 static_cast<const void*>(context))};
}

Status create(Runtime& runtime, rma_context_t& context) {
  return unless_exhausted([&]() -> Status {
    CompletionContext& taken = contexts(runtime).take();
    Undo give_back([&] { contexts(runtime).give_back(taken); });
    context = runtime.contexts.add(taken);
    give_back.dismiss();
    return {};
  });
}

/// Performs fence_all() in `context`.
Status fence_all_in(Runtime& runtime, CompletionContext& context) {
  CompletionContext& before = contexts(runtime).current();
  contexts(runtime).use(context);
  Status fenced = fence_all(runtime);
  contexts(runtime).use(&before == &context ? contexts(runtime).default_context() : before);
  return fenced;
}

Status release(Runtime& runtime, rma_context_t& context) {
  if (context == RMA_CONTEXT_DEFAULT) return {RMA_ERR_ARGUMENT, "the default context cannot be freed"};
  CompletionContext* const found = runtime.contexts.remove(context);
  if (found == nullptr) return unknown(context);
  context = RMA_CONTEXT_DEFAULT;
  Status fenced = fence_all_in(runtime, *found);
  contexts(runtime).give_back(*found);
  return fenced;
}

Status use(Runtime& runtime, rma_context_t context, rma_context_t* previous) {
  CompletionContext* const wanted =
      context == RMA_CONTEXT_DEFAULT ? &contexts(runtime).default_context() : runtime.contexts.find(context);
  if (wanted == nullptr) return unknown(context);
  if (previous != nullptr) *previous = runtime.contexts.handle_of(contexts(runtime).current());
  contexts(runtime).use(*wanted);
  return {};
}

}  // namespace

extern "C" {

rma_status_t rma_context_create(rma_context_t* context) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(check_not_null(context, "context"));
    return create(runtime, *context);
  });
}

rma_status_t rma_context_free(rma_context_t* context) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(check_not_null(context, "context"));
    return release(runtime, *context);
  });
}

rma_status_t rma_context_use(rma_context_t context, rma_context_t* previous) {
  return call(__func__, -1, 0, [&](Runtime& runtime) { return use(runtime, context, previous); });
}

}  // extern "C"

}  // namespace librma
