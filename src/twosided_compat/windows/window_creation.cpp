// Making and freeing windows. All of it is collective: the members' decisions depend on the same data, so
// that all succeed or all fail.

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/windows/window.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// A member's part, as it describes it to the others.
struct Offer {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unit = 1;
  std::int32_t code = MPI_SUCCESS;  ///< why the member cannot take part
  std::int32_t has_words = 1;       ///< whether accumulates update words (window_accumulation.hpp)
  SharedData data = {};             ///< in a dynamic window: the member's
};

/// Finds where the members of the window reach the bytes without registration: in this process's heap, of
/// which static data may be a part. Returns 0 if they do not.
std::uintptr_t find_in_heap(const Window& win, void* base, std::size_t bytes) {
  void* in_heap = base;
  if (win.reaches_unregistered(base, bytes) || rma_find_alias(base, bytes, &in_heap) == RMA_SUCCESS)
    return reinterpret_cast<std::uintptr_t>(in_heap);
  return 0;
}

/// Frees everything that the window has. Goes on after a failure, and returns the first one: the members that
/// are left free what they have after the loss of another.
int release(Window& win) {
  int code = MPI_SUCCESS;
  const auto note = [&](rma_status_t status) {
    if (status != RMA_SUCCESS && code == MPI_SUCCESS) code = library_failure(status);
  };
  if (win.own.allocated) note(rma_free(win.team(), win.own.block));
  if (win.control != nullptr) note(rma_free(win.team(), win.control));
  if (win.own.registered) note(rma_unregister(reinterpret_cast<void*>(win.own_part().base)));
  for (const auto& [base, is_registered] : win.own.attached) {
    if (is_registered) note(rma_unregister(reinterpret_cast<void*>(base)));
  }
  note(rma_team_free(&win.team()));
  return code;
}

/// Releases what a window that could not be made has, and returns the reason.
int give_up(Window& win, int code) {
  static_cast<void>(release(win));
  win.remove_reference();
  return code;
}

/// Makes a window without memory, and its control blocks.
Found<Window> make_window(Communicator& comm, int flavor, MPI_Info info) {
  rma_team_t parent = nullptr;
  RMA_TRY(comm.find_team(parent));
  rma_team_t team = nullptr;
  RMA_TRY(checked(rma_team_split(parent, 0, comm.rank(), &team)));
  auto* win = new Window(comm, flavor, team);
  take_hints(*win, info);
  std::vector<void*> controls(static_cast<std::size_t>(win->size()));
  void* mine = nullptr;
  const std::size_t bytes = Window::control_bytes(win->size());
  if (const int code = checked(rma_malloc(team, bytes, alignof(WindowControl), controls.data(), &mine));
      code != MPI_SUCCESS) {
    return give_up(*win, code);
  }
  // The members exchange offers next, so nobody counts before all have cleared the counters.
  std::memset(mine, 0, bytes);
  win->control = static_cast<WindowControl*>(mine);
  for (int member = 0; member < win->size(); ++member) {
    WindowPart& part = win->part(member);
    part.control = reinterpret_cast<std::uintptr_t>(controls[static_cast<std::size_t>(member)]);
    part.rank = win->members()->world_rank(member);
    part.owner = part.rank;
  }
  return win;
}

/// Tells the members this one's offer, and takes over theirs. Fails if one of them cannot take part.
int exchange(Window& win, const Offer& mine) {
  std::vector<Offer> all(static_cast<std::size_t>(win.size()));
  RMA_TRY(checked(rma_allgather(win.team(), all.data(), &mine, sizeof mine)));
  // If the members have several hosts, each of them finds one that is not on its own.
  const bool on_one_host = find_rank_elsewhere(*win.members()) < 0;
  for (int member = 0; member < win.size(); ++member) {
    const Offer& offer = all[static_cast<std::size_t>(member)];
    if (offer.code != MPI_SUCCESS && member != win.rank())
      return failure(offer.code, fmt::format("rank {} cannot take part", member));
    WindowPart& part = win.part(member);
    part.base = offer.base;
    part.bytes = offer.bytes;
    part.unit = offer.unit;
    part.has_words = offer.has_words != 0 || !on_one_host;
    part.is_dynamic = win.is_dynamic();
    part.data = offer.data;
  }
  return mine.code;
}

/// Allocates each member's memory.
int allocate_parts(Window& win) {
  std::vector<void*> addresses(static_cast<std::size_t>(win.size()));
  RMA_TRY(checked(rma_malloc(win.team(), win.own_part().bytes, 0, addresses.data(), &win.own.block)));
  win.own.allocated = true;
  for (int member = 0; member < win.size(); ++member)
    win.part(member).base = reinterpret_cast<std::uintptr_t>(addresses[static_cast<std::size_t>(member)]);
  return MPI_SUCCESS;
}

/// Allocates one block, in the memory of member 0, in which the parts follow each other.
int allocate_block(Window& win) {
  std::size_t total = 0;
  for (int member = 0; member < win.size(); ++member) {
    if (__builtin_add_overflow(total, win.part(member).bytes, &total))
      return failure(MPI_ERR_SIZE, "the sum of the sizes overflows");
  }
  constexpr std::size_t kPage = 4096;
  std::vector<void*> addresses(static_cast<std::size_t>(win.size()));
  RMA_TRY(
      checked(rma_malloc(win.team(), win.rank() == 0 ? total : 0, kPage, addresses.data(), &win.own.block)));
  win.own.allocated = true;
  auto next = reinterpret_cast<std::uintptr_t>(addresses.front());
  for (int member = 0; member < win.size(); ++member) {
    WindowPart& part = win.part(member);
    part.base = next;
    part.owner = win.part(0).rank;
    next += part.bytes;
  }
  return MPI_SUCCESS;
}

/// Finds out where the parts are mapped.
void map_parts(Window& win) {
  for (int member = 0; member < win.size(); ++member) {
    WindowPart& part = win.part(member);
    // An empty part of a contiguous shared window lies between its neighbours. Elsewhere empty parts have no
    // address.
    const bool is_placed = part.bytes != 0 || (win.flavor() == MPI_WIN_FLAVOR_SHARED && part.base != 0);
    if (!is_placed) continue;
    void* here = nullptr;
    const auto* const base = reinterpret_cast<const void*>(part.base);
    if (rma_map(base, part.bytes, part.owner, &here) == RMA_SUCCESS) {
      part.map_at(static_cast<std::byte*>(here));
    } else if (part.owner == rma_rank()) {
      part.map_at(reinterpret_cast<std::byte*>(part.base));
    }
  }
}

void set_attributes(Window& win, std::size_t unit) {
  win.predefined.size = win.is_dynamic() ? 0 : static_cast<MPI_Aint>(win.own_part().bytes);
  win.predefined.unit = narrowed(static_cast<MPI_Count>(unit));
}

int check_unit(MPI_Aint disp_unit) {
  return disp_unit > 0 ? MPI_SUCCESS : failure(MPI_ERR_DISP, fmt::format("disp_unit is {}", disp_unit));
}

/// Finds the communicator of a new window, and checks the other arguments.
Found<Communicator> check_arguments(MPI_Comm handle, MPI_Info info, MPI_Aint size, MPI_Aint disp_unit) {
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  RMA_TRY(check_hints(info));
  if (size < 0) return failure(MPI_ERR_SIZE, fmt::format("the size is {}", size));
  RMA_TRY(check_unit(disp_unit));
  return comm;
}

/// The common part of MPI_Win_allocate and MPI_Win_allocate_shared. `allocate` gives the parts their memory.
template <class Allocate>
int make_allocated(Communicator& comm, int flavor, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                   void* baseptr, MPI_Win* made, const Allocate& allocate) {
  if (baseptr == nullptr) return failure(MPI_ERR_ARG, "baseptr is null");
  RMA_TRY_ASSIGN(win, make_window(comm, flavor, info));
  const Offer offer = {.bytes = static_cast<std::uint64_t>(size),
                       .unit = static_cast<std::uint64_t>(disp_unit)};
  if (const int code = exchange(*win, offer); code != MPI_SUCCESS) return give_up(*win, code);
  if (const int code = allocate(*win); code != MPI_SUCCESS) return give_up(*win, code);
  map_parts(*win);
  set_attributes(*win, static_cast<std::size_t>(disp_unit));
  *static_cast<void**>(baseptr) = win->own_part().here;
  *made = win->handle<MPI_Win>();
  return MPI_SUCCESS;
}

}  // namespace

int win_create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm handle, MPI_Win* made) {
  RMA_TRY_ASSIGN(comm, check_arguments(handle, info, size, disp_unit));
  if (base == nullptr && size > 0) return failure(MPI_ERR_BASE, "base is null");
  RMA_TRY_ASSIGN(win, make_window(*comm, MPI_WIN_FLAVOR_CREATE, info));
  Offer offer = {.base = reinterpret_cast<std::uintptr_t>(base),
                 .bytes = static_cast<std::uint64_t>(size),
                 .unit = static_cast<std::uint64_t>(disp_unit)};
  win->own_part().base = offer.base;
  if (const std::uintptr_t in_heap = size > 0 ? find_in_heap(*win, base, offer.bytes) : 0; in_heap != 0) {
    offer.base = in_heap;
  } else if (size > 0) {
    // Other interfaces update static data by the atomics of librma, so this one does, too.
    offer.has_words = own_shared_data().holds(offer.base, offer.bytes) ? 1 : 0;
    offer.code = checked(rma_register(base, offer.bytes));
    win->own.registered = offer.code == MPI_SUCCESS;
  }
  if (const int code = exchange(*win, offer); code != MPI_SUCCESS) return give_up(*win, code);
  map_parts(*win);
  if (size > 0) win->own_part().map_at(static_cast<std::byte*>(base));  // which MPI_WIN_BASE is
  set_attributes(*win, offer.unit);
  *made = win->handle<MPI_Win>();
  return MPI_SUCCESS;
}

int win_allocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm handle, void* baseptr,
                 MPI_Win* made) {
  RMA_TRY_ASSIGN(comm, check_arguments(handle, info, size, disp_unit));
  return make_allocated(*comm, MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, baseptr, made, allocate_parts);
}

int win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm handle, void* baseptr,
                        MPI_Win* made) {
  RMA_TRY_ASSIGN(comm, check_arguments(handle, info, size, disp_unit));
  // If the members have several hosts, each of them finds one that is not on its own.
  if (const int rank = find_rank_elsewhere(*comm->members()); rank >= 0)
    return failure(MPI_ERR_RMA_SHARED, fmt::format("world rank {} does not share this host's memory", rank));
  return make_allocated(*comm, MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, baseptr, made, [](Window& win) {
    // The standard wants the same hint of all members.
    return win.hints.get("alloc_shared_noncontig") == "true" ? allocate_parts(win) : allocate_block(win);
  });
}

int win_create_dynamic(MPI_Info info, MPI_Comm handle, MPI_Win* made) {
  RMA_TRY_ASSIGN(comm, check_arguments(handle, info, 0, 1));
  RMA_TRY_ASSIGN(win, make_window(*comm, MPI_WIN_FLAVOR_DYNAMIC, info));
  // Each address decides whether it is a word's.
  const Offer offer = {
      .bytes = std::numeric_limits<std::uintptr_t>::max(), .has_words = 0, .data = own_shared_data()};
  if (const int code = exchange(*win, offer); code != MPI_SUCCESS) return give_up(*win, code);
  set_attributes(*win, 1);
  *made = win->handle<MPI_Win>();
  return MPI_SUCCESS;
}

int win_free(MPI_Win* handle) {
  RMA_TRY_ASSIGN(win, find_window(*handle));
  const Epoch epoch = win->epoch();
  if (win->locks != 0 || win->active_target.started || win->active_target.posted ||
      (epoch != Epoch::kNone && epoch != Epoch::kFence))
    return failure(MPI_ERR_RMA_SYNC, "an epoch of the window is open");
  RMA_TRY(win->attributes.remove_all(*handle));
  // Nobody frees memory that another member still accesses.
  const int met = checked(rma_barrier(win->team()));
  const int released = release(*win);
  *handle = MPI_WIN_NULL;
  const int code = met != MPI_SUCCESS ? met : released;
  if (code != MPI_SUCCESS) static_cast<void>(failure_of(*win, code));
  win->remove_reference();
  return code;
}

}  // namespace librma::mpi
