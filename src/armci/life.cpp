// The beginning and the end of the job.

#include <cstdlib>
#include <mutex>
#include <numeric>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/life.hpp"
#include "armci/mpi_comm.hpp"
#include "armci/outcome.hpp"
#include "armci/rank_and_size.hpp"
#include "armci/state.hpp"
#include "rma/waits.h"

extern "C" {
RMA_WAIT_LIBRARY_SYMBOLS
}

namespace librma::armci {
namespace {

std::mutex life_lock;  // guards changes of `nesting`, and making and ending the state
constinit std::atomic<int> nesting = 0;
constinit std::atomic<RankAndSize> remembered = RankAndSize{};
constinit std::atomic<State*> current = nullptr;

Group everyone() {
  Group world;
  world.team = rma_team_world();
  world.rank = rma_rank();
  world.ranks.resize(static_cast<std::size_t>(rma_size()));
  std::iota(world.ranks.begin(), world.ranks.end(), 0);
  return world;
}

/// The number of times that ARMCI began. The caller of begin() holds life_lock.
std::uint32_t incarnations = 0;

/// Begins the job. The caller holds life_lock.
void begin(const Beginning& beginning, const char* call) {
  static const rma_wait_library_t kLibrary = {
      .header = __ehdr_start, .dynamic = rma_library_dynamic, .find_place = nullptr, .find_writer = nullptr};
  rma_waits_know(&kLibrary);
  require(beginning.join(), call);
  Group world = everyone();
  remember_rank_and_size({.rank = world.rank, .size = world.size()});
  beginning.prepare(world);
  current.store(new State(std::move(world)), std::memory_order_release);  // pairs with the load in state()
}

/// Ends the job. The caller holds life_lock.
void end() {
  State* const ending = current.load(std::memory_order_acquire);
  ending->handles.wait_all();
  require(rma_barrier(rma_team_world()), "ARMCI_Finalize");
  ending->notifications.close();
  auto groups = ending->groups.remove_all();
  current.store(nullptr, std::memory_order_release);
  delete ending;
  require(rma_finalize(), "ARMCI_Finalize");
  for (auto& group : groups) {
    if (group) close_comm(*group);
  }
}

void finalize() {
  const std::lock_guard guard(life_lock);
  if (nesting == 0 || --nesting > 0) return;
  end();
}

}  // namespace

void finalize_at_exit(const char* call) {
  // A program that fails must not wait for the other processes, which may wait for it: the launcher ends the
  // job with its code. A forked child is not a member of the job. Neither of them may take the lock, which
  // another thread may hold for ever.
  static constexpr auto kEnd = [](int status, void* /*unused*/) {
    constexpr int kSeenByParent = 0xff;
    if ((status & kSeenByParent) != 0) return;
    if (rma_initialized() != 0) {
      const std::lock_guard guard(life_lock);
      nesting = 0;
      if (current.load(std::memory_order_acquire) != nullptr) end();
    }
    leave_at_exit();
  };
  static const bool registered = on_exit(kEnd, nullptr) == 0;
  if (!registered) die(call, "the C library has no room for an exit handler");
}

void init(const Beginning& beginning, const char* call) {
  finalize_at_exit(call);
  const std::lock_guard guard(life_lock);
  if (nesting == 0) {
    if (current.load(std::memory_order_acquire) == nullptr) {
      begin(beginning, call);
    } else {
      beginning.confirm();
    }
  }
  ++nesting;
}

void init_messages(const Beginning& beginning, const char* call) {
  finalize_at_exit(call);
  const std::lock_guard guard(life_lock);
  if (current.load(std::memory_order_acquire) == nullptr) begin(beginning, call);
}

void finalize_messages() {
  const std::lock_guard guard(life_lock);
  if (nesting == 0 && current.load(std::memory_order_acquire) != nullptr) end();
}

RankAndSize rank_and_size() {
  if (const int rank = rma_rank(); rank >= 0) return {.rank = rank, .size = rma_size()};
  return remembered.load(std::memory_order_relaxed);
}

void remember_rank_and_size(RankAndSize job) { remembered.store(job, std::memory_order_relaxed); }

State::State(Group world) : groups(std::move(world)), messages(incarnations++) {}

State& message_state(const char* call) {
  if (current.load(std::memory_order_acquire) == nullptr) [[unlikely]]
    begin_messages(call);
  return state(call);
}

State& state(const char* call) {
  State* const now = current.load(std::memory_order_acquire);
  if (now == nullptr) [[unlikely]]
    die(call, "ARMCI is not initialized");
  return *now;
}

}  // namespace librma::armci

extern "C" {

int PARMCI_Init(void) { return PARMCI_Init_args(nullptr, nullptr); }

// The requested thread level is ignored, because several threads may always make calls.
int PARMCI_Init_thread(int /*requested*/) { return PARMCI_Init(); }

int PARMCI_Initialized(void) { return librma::armci::nesting.load(std::memory_order_acquire) != 0 ? 1 : 0; }

void PARMCI_Finalize(void) { librma::armci::finalize(); }

}  // extern "C"

RMA_ARMCI(Init);
RMA_ARMCI(Init_thread);
RMA_ARMCI(Initialized);
RMA_ARMCI(Finalize);
