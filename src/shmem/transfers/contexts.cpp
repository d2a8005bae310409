#include "shmem/transfers/contexts.hpp"

#include <memory>

#include "shmem/job/handles.hpp"
#include "shmem/teams/teams.hpp"

namespace librma::shmem {
namespace {

// The first slot of those that programs make comes after SHMEM_CTX_DEFAULT.
Handles<Context, shmem_ctx_t> contexts(2);

const Context& context_of(Call call, shmem_ctx_t ctx) {
  require_initialized(call);
  const Context* const found = contexts.find(ctx);
  if (found == nullptr) {
    die(call, ctx == SHMEM_CTX_INVALID
                  ? "the context is SHMEM_CTX_INVALID"
                  : fmt::format("there is no context {}: it was destroyed, or never made",
                                static_cast<void*>(ctx)));
  }
  return *found;
}

}  // namespace

void ContextScope::enter(Call call, shmem_ctx_t ctx) {
  require(rma_context_use(context_of(call, ctx).completion, &before_), call);
  call_ = call;
}

void ContextScope::leave() { require(rma_context_use(before_, nullptr), call_); }

int context_pe(Call call, shmem_ctx_t ctx, int pe) {
  const Context& context = context_of(call, ctx);
  if (context.ranks.empty()) return pe;
  if (pe < 0 || static_cast<std::size_t>(pe) >= context.ranks.size()) {
    die(call,
        fmt::format("the context's team has no PE {}; it has PEs 0 to {}", pe, context.ranks.size() - 1));
  }
  return context.ranks[static_cast<std::size_t>(pe)];
}

bool has_operations(Call call, shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_DEFAULT || ctx == SHMEM_CTX_INVALID) {
    require_initialized(call);
    return ctx != SHMEM_CTX_INVALID;
  }
  context_of(call, ctx);
  return true;
}

int ctx_create(Call call, long options, shmem_ctx_t* ctx) {
  return team_create_ctx(call, SHMEM_TEAM_WORLD, options, ctx);
}

int team_create_ctx(Call call, shmem_team_t team, long options, shmem_ctx_t* ctx) {
  require_initialized(call);
  *ctx = SHMEM_CTX_INVALID;
  constexpr long kKnown = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
  const Team* const members = find_team(team);
  if (members == nullptr || (options & ~kKnown) != 0) return -1;
  auto context = std::make_unique<Context>();
  context->team = team;
  if (team != SHMEM_TEAM_WORLD) context->ranks = members->ranks;
  if (rma_context_create(&context->completion) != RMA_SUCCESS) return -1;
  rma_context_t unused = context->completion;
  *ctx = contexts.add(std::move(context));
  if (*ctx != SHMEM_CTX_INVALID) return 0;
  static_cast<void>(rma_context_free(&unused));
  return -1;
}

void ctx_destroy(Call call, shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return require_initialized(call);
  if (ctx == SHMEM_CTX_DEFAULT) die(call, "the default context cannot be destroyed");
  context_of(call, ctx);  // ends the job if there is none
  const std::unique_ptr<Context> removed = contexts.remove(ctx);
  require(rma_context_free(&removed->completion), call);
}

int ctx_get_team(Call call, shmem_ctx_t ctx, shmem_team_t* team) {
  require_initialized(call);
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return -1;
  *team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : context_of(call, ctx).team;
  return 0;
}

// A session is a hint: operations may be delayed until it stops. They never are.
void ctx_session_start(Call call, shmem_ctx_t ctx, long /*options*/,
                       const shmem_ctx_session_config_t* /*config*/, long /*mask*/) {
  static_cast<void>(has_operations(call, ctx));
}

void ctx_session_stop(Call call, shmem_ctx_t ctx) { static_cast<void>(has_operations(call, ctx)); }

}  // namespace librma::shmem
