// Joins and leaves the job, and answers questions about its ranks.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "api/alias.hpp"
#include "api/call.hpp"
#include "api/check.hpp"
#include "api/fence.hpp"
#include "api/forked.hpp"
#include "api/variables.hpp"
#include "collectives/team/team.hpp"
#include "messages/finishing_thread.hpp"
#include "rma/direct.h"
#include "util/statistics.hpp"
#include "util/system/flush_streams.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"
#include "util/undo.hpp"
#include "util/waiting/wait.hpp"

rma_direct_table_t rma_direct = {nullptr, 0, 0};

namespace librma {
namespace {

std::mutex life_lock;  // guards the two below, and making and ending the runtime
int nesting = 0;
int incarnation = 0;

Status start(const rma_bootstrap_t* given) {
  RMA_TRY(notice_forks());
  Undo forget(forget_forks);
  const bool aliased = make_requested_alias();
  receive_barriers();
  RMA_TRY_ASSIGN(opened, Runtime::open(incarnation++, given));
  Runtime* const runtime = std::move(opened).release();
  note_settings(runtime->settings);
  if (!aliased) count(Counter::alias_refused);
  const std::size_t ranks = runtime->job->direct_table().size();
  rma_direct = {runtime->job->direct_table().data(), ranks, runtime->job->atomics_by_device() ? 0 : ranks};
  if (runtime->trace == nullptr) publish_short_ways(runtime->messages.get());
  current_runtime.store(runtime, std::memory_order_release);  // pairs with the load in call()
  forget.dismiss();
  return {};
}

Status check_bootstrap(const rma_bootstrap_t* bootstrap) {
  RMA_TRY(check_not_null(bootstrap, "bootstrap"));
  if (bootstrap->allgather == nullptr || bootstrap->barrier == nullptr) {
    return {RMA_ERR_ARGUMENT, "allgather or barrier of the bootstrap is null"};
  }
  if (bootstrap->rank >= 0 && bootstrap->rank < bootstrap->size) return {};
  return {RMA_ERR_RANK,
          text("the bootstrap has rank {} in a job of {} processes", bootstrap->rank, bootstrap->size)};
}

/// Returns whether a rank of another host is known to be lost. It may have ended, and then a meeting of all
/// ranks would never end. If it lives, it has lost this rank too, or will, and does not wait for it. (Of the
/// ranks of this host, Teams::stop() knows which have ended.)
bool lost_a_host(const Runtime& runtime, const Status& fenced) {
  return runtime.job->has_network() &&
         (fenced.code() == RMA_ERR_PEER_LOST || runtime.reported_loss.load(std::memory_order_relaxed));
}

/// Ends the runtime. All ranks arrive before any of them releases memory, unless one is lost. The runtime is
/// gone afterwards, even after a failure.
Status stop(Runtime& runtime) {
  Status status = unless_exhausted([&] { return fence_all_contexts(runtime); });
  runtime.messages->finish();
  const auto meet = [&]() -> Status {
    if (lost_a_host(runtime, status)) {
      return {RMA_ERR_PEER_LOST, "a rank was lost, so this one has not waited for the others"};
    }
    // Ranks take in each other's last messages until all have sent theirs.
    std::optional<FinishingThread> taking_in;
    if (runtime.job->size() > 1) taking_in.emplace(*runtime.messages);
    if (taking_in && !taking_in->running()) {
      runtime.job->bootstrap().drive_while_meeting([&messages = *runtime.messages] { messages.take_in(); });
    }
    return runtime.teams->stop();
  };
  if (Status met = unless_exhausted(meet); status.ok()) status = std::move(met);
  runtime.report();
  publish_short_ways(nullptr);
  current_runtime.store(nullptr, std::memory_order_release);
  rma_direct = {nullptr, 0, 0};
  delete &runtime;
  forget_settings();
  forget_forks();
  return status;
}

}  // namespace

extern "C" {

rma_status_t rma_init(void) try {
  // In a forked child, a lock that another thread of the parent held is never released.
  if (in_forked_child()) return fail_without_runtime(__func__);
  const std::lock_guard guard(life_lock);
  if (nesting == 0) {
    if (const Status status = start(nullptr); !status.ok()) return fail(__func__, status);
  }
  ++nesting;
  return RMA_SUCCESS;
} catch (const std::exception& thrown) {
  return fail("rma_init", thrown);
}

rma_status_t rma_init_with(const rma_bootstrap_t* bootstrap) try {
  if (in_forked_child()) return fail_without_runtime(__func__);
  const std::lock_guard guard(life_lock);
  Status status = check_bootstrap(bootstrap);
  if (status.ok() && nesting > 0) status = {RMA_ERR_STATE, "this process has already joined a job"};
  if (status.ok()) status = start(bootstrap);
  if (!status.ok()) return fail(__func__, status);
  ++nesting;
  return RMA_SUCCESS;
} catch (const std::exception& thrown) {
  return fail("rma_init_with", thrown);
}

rma_status_t rma_finalize(void) try {
  if (in_forked_child()) return fail_without_runtime(__func__);
  const std::lock_guard guard(life_lock);
  if (nesting == 0) return fail_without_runtime(__func__);
  if (--nesting > 0) return RMA_SUCCESS;
  const Status status = stop(*current_runtime.load(std::memory_order_acquire));
  return status.ok() ? RMA_SUCCESS : fail(__func__, status);
} catch (const std::exception& thrown) {
  return fail("rma_finalize", thrown);
}

int rma_initialized(void) { return current_runtime.load(std::memory_order_acquire) != nullptr ? 1 : 0; }

int rma_rank(void) {
  const Runtime* const runtime = current_runtime.load(std::memory_order_acquire);
  return runtime != nullptr ? runtime->job->rank() : -1;
}

int rma_size(void) {
  const Runtime* const runtime = current_runtime.load(std::memory_order_acquire);
  return runtime != nullptr ? runtime->job->world_size() : -1;
}

int rma_program(void) {
  const Runtime* const runtime = current_runtime.load(std::memory_order_acquire);
  return runtime != nullptr ? runtime->job->bootstrap().program() : -1;
}

int rma_same_host(int rank) {
  const Runtime* const runtime = current_runtime.load(std::memory_order_acquire);
  if (runtime == nullptr || !check_rank(*runtime, rank).ok()) return 0;
  return runtime->job->mapped(rank) ? 1 : 0;
}

void rma_abort(int exit_code, const char* text) {
  Runtime* const runtime = current_runtime.load(std::memory_order_acquire);
  const char* const otherwise = exit_code == 0 ? "" : "rma_abort";
  const char* const said = text != nullptr ? text : otherwise;
  flush_streams();
  try {
    if (runtime != nullptr) runtime->job->bootstrap().abort(exit_code, said);
  } catch (const std::exception&) {  // this process cannot tell the launcher, which will see it end
  }
  if (*said != '\0') {
    std::fputs(said, stderr);
    std::fputc('\n', stderr);
  }
  _exit(exit_code);
}

const char* rma_version(void) {
  static const auto kText = [] {
    std::array<char, 32> text = {};
    fmt::format_to_n(text.data(), text.size() - 1, "{}.{}.{}", RMA_VERSION_MAJOR, RMA_VERSION_MINOR,
                     RMA_VERSION_PATCH);
    return text;
  }();
  return kText.data();
}

}  // extern "C"

}  // namespace librma
