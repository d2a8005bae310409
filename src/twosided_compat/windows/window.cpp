#include "twosided_compat/windows/window.hpp"

#include <array>
#include <optional>

#include "twosided_compat/objects/library_failure.hpp"

namespace librma::mpi {
namespace {

struct Hint {
  const char* key;
  const char* usual;
};
/// The hints of the standard with their defaults. The library obeys alloc_shared_noncontig. It may ignore the
/// others, because it gives the stricter guarantee anyway.
constexpr std::array kHints = {Hint{"no_locks", "false"},
                               Hint{"accumulate_ordering", "rar,raw,war,waw"},
                               Hint{"accumulate_ops", "same_op_no_op"},
                               Hint{"same_size", "false"},
                               Hint{"same_disp_unit", "false"},
                               Hint{"alloc_shared_noncontig", "false"}};

}  // namespace

Window::Window(const Communicator& comm, int flavor, rma_team_t team)
    : ErrorHandlerOwner(Kind::kWin, 0, MPI_ERRORS_ARE_FATAL),
      active_target(static_cast<std::size_t>(comm.size())),
      predefined{.flavor = flavor},
      members_(comm.members()),
      session_(comm.session()),
      rank_(comm.rank()),
      size_(comm.size()),
      flavor_(flavor),
      team_(team),
      parts_(static_cast<std::size_t>(comm.size())) {
  for (const Hint& hint : kHints) hints.set(hint.key, hint.usual);
}

int find_rank_elsewhere(const Members& members) {
  for (const int rank : members.world_ranks()) {
    if (rma_same_host(rank) == 0) return rank;
  }
  return -1;
}

bool Window::reaches_unregistered(const void* base, std::size_t bytes) const {
  void* here = nullptr;
  return find_rank_elsewhere(*members_) < 0 && rma_map(base, bytes, rma_rank(), &here) == RMA_SUCCESS;
}

SharedData own_shared_data() {
  void* address = nullptr;
  std::size_t bytes = 0;
  void* in_heap = nullptr;
  if (rma_alias_range(&address, &bytes, &in_heap) != RMA_SUCCESS) return {};
  return {.begin = reinterpret_cast<std::uintptr_t>(address),
          .bytes = bytes,
          .in_heap = reinterpret_cast<std::uintptr_t>(in_heap)};
}

void take_hints(Window& win, MPI_Info info) {
  const Info* const given = find_info(info);
  if (given == nullptr) return;
  for (const Hint& hint : kHints) {
    if (const std::optional<std::string> value = given->get(hint.key)) win.hints.set(hint.key, *value);
  }
}

void Window::end_epochs() {
  set_epoch(Epoch::kNone);
  for (WindowPart& part : parts_) part.access.store(Access::kNone, std::memory_order_relaxed);
}

void close_windows() {
  const std::lock_guard guard(places_lock());
  ListedPlace<Window>::for_each([](Window& win) { win.end_epochs(); });
}

int flush_part(const WindowPart& part) {
  if (part.here != nullptr) {
    // Operations on mapped memory end with their calls. The barrier orders their stores before what follows.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return MPI_SUCCESS;
  }
  return checked(rma_fence(part.owner));
}

}  // namespace librma::mpi
