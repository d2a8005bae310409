// Beginning and end.

#include <mutex>
#include <numeric>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/life.hpp"
#include "armci/mpi_comm.hpp"
#include "armci/outcome.hpp"
#include "armci/state.hpp"

namespace rma::armci {
namespace {

std::mutex life_lock;  // of `nesting`, and of making and ending the state
int nesting = 0;
constinit std::atomic<State*> current = nullptr;

Group everyone() {
  Group world;
  world.team = rma_team_world();
  world.rank = rma_rank();
  world.ranks.resize(static_cast<std::size_t>(rma_size()));
  std::iota(world.ranks.begin(), world.ranks.end(), 0);
  return world;
}

/// Collective.
std::unique_ptr<Mailbox> open_mailbox() {
  auto made = Mailbox::create(rma_team_world());
  require(made.status(), "ARMCI_Init");
  return std::move(made).value();
}

void finalize() {
  const std::lock_guard guard(life_lock);
  if (nesting == 0 || --nesting > 0) return;
  State* const ending = current.load(std::memory_order_acquire);
  ending->handles.wait_all();
  require(rma_barrier(rma_team_world()), "ARMCI_Finalize");
  ending->notifications.close();
  require(ending->mailbox->close(), "ARMCI_Finalize");
  auto groups = ending->groups.remove_all();
  current.store(nullptr, std::memory_order_release);
  delete ending;
  require(rma_finalize(), "ARMCI_Finalize");
  for (auto& group : groups) {
    if (group) close_comm(*group);
  }
}

}  // namespace

void init(const std::function<rma_status_t()>& join, const std::function<void(Group&)>& prepare) {
  const std::lock_guard guard(life_lock);
  if (nesting++ > 0) return;
  require(join(), "ARMCI_Init");
  Group world = everyone();
  prepare(world);
  current.store(new State(std::move(world)), std::memory_order_release);  // pairs with the load in state()
}

State::State(Group world) : groups(std::move(world)), mailbox(open_mailbox()) {}

State& state(const char* call) {
  State* const now = current.load(std::memory_order_acquire);
  if (now == nullptr) [[unlikely]]
    die(call, "ARMCI is not initialized");
  return *now;
}

}  // namespace rma::armci

extern "C" {

int PARMCI_Init(void) { return PARMCI_Init_args(nullptr, nullptr); }

int PARMCI_Initialized(void) {
  return rma::armci::current.load(std::memory_order_acquire) != nullptr ? 1 : 0;
}

void PARMCI_Finalize(void) { rma::armci::finalize(); }

}  // extern "C"

RMA_ARMCI(Init);
RMA_ARMCI(Initialized);
RMA_ARMCI(Finalize);
