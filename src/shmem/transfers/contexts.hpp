#pragma once

#include <vector>

#include "rma/rma.h"
#include "shmem.h"
#include "shmem/job/job.hpp"

namespace librma::shmem {

/// A context says which team its PE numbers are of, and which completion context of librma its operations
/// belong to.
struct Context {
  shmem_team_t team = SHMEM_TEAM_WORLD;
  std::vector<int> ranks;  ///< world PEs; empty for the world
  rma_context_t completion = RMA_CONTEXT_DEFAULT;
};

/// Lets the operations of the calling thread belong to a context until the end of the scope. Where all
/// symmetric memory is mapped, all operations are complete when they return, so the scope does nothing.
class ContextScope {
 public:
  /// Ends the job if there is no such context.
  ContextScope(Call call, shmem_ctx_t ctx) {
    if (ctx != SHMEM_CTX_DEFAULT && !job.all_mapped) [[unlikely]]
      enter(call, ctx);
  }
  ~ContextScope() {
    if (call_ != nullptr) [[unlikely]]
      leave();
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  void enter(Call call, shmem_ctx_t ctx);
  void leave();

  Call call_ = nullptr;  ///< of enter()
  rma_context_t before_ = RMA_CONTEXT_DEFAULT;
};

/// Returns the world PE that `pe` of another context than SHMEM_CTX_DEFAULT is. Ends the job if there is no
/// such context or PE.
int context_pe(Call call, shmem_ctx_t ctx, int pe);

inline int world_pe(Call call, shmem_ctx_t ctx, int pe) {
  return ctx == SHMEM_CTX_DEFAULT ? pe : context_pe(call, ctx, pe);
}

/// Returns false for SHMEM_CTX_INVALID, which calls that order or complete operations ignore. Ends the job if
/// there is no such context.
bool has_operations(Call call, shmem_ctx_t ctx);

// The calls.
int ctx_create(Call call, long options, shmem_ctx_t* ctx);
int team_create_ctx(Call call, shmem_team_t team, long options, shmem_ctx_t* ctx);
void ctx_destroy(Call call, shmem_ctx_t ctx);
int ctx_get_team(Call call, shmem_ctx_t ctx, shmem_team_t* team);
void ctx_session_start(Call call, shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config,
                       long mask);
void ctx_session_stop(Call call, shmem_ctx_t ctx);

}  // namespace librma::shmem
