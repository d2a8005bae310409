// The memory of windows: attaching it to dynamic windows, and loads and stores in shared ones.

#include <fmt/format.h>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/windows/window.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

Found<Window> find_dynamic(MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  if (!win->is_dynamic()) return failure(MPI_ERR_RMA_FLAVOR, "the window is not dynamic");
  return win;
}

/// Returns the member that MPI_Win_shared_query with MPI_PROC_NULL means: the first with memory, or member 0.
int first_with_memory(Window& win) {
  for (int member = 0; member < win.size(); ++member) {
    if (win.part(member).bytes != 0) return member;
  }
  return 0;
}

}  // namespace

int win_attach(MPI_Win handle, void* base, MPI_Aint size) {
  RMA_TRY_ASSIGN(win, find_dynamic(handle));
  if (size < 0) return failure(MPI_ERR_SIZE, fmt::format("the size is {}", size));
  if (base == nullptr) return size == 0 ? MPI_SUCCESS : failure(MPI_ERR_BASE, "base is null");
  const std::lock_guard guard(win->own.attaching);
  const auto key = reinterpret_cast<std::uintptr_t>(base);
  if (win->own.attached.contains(key))
    return failure(MPI_ERR_RMA_ATTACH, fmt::format("memory at {} is attached already", base));
  const auto bytes = static_cast<std::size_t>(size);
  // Static data are a part of the heap, too, but not by the addresses that a target of both static and other
  // data names.
  const bool registers = bytes != 0 && !win->reaches_unregistered(base, bytes);
  if (registers && rma_register(base, bytes) != RMA_SUCCESS)
    return failure(MPI_ERR_RMA_ATTACH, rma_last_error());
  win->own.attached.emplace(key, registers);
  return MPI_SUCCESS;
}

int win_detach(MPI_Win handle, const void* base) {
  RMA_TRY_ASSIGN(win, find_dynamic(handle));
  if (base == nullptr) return MPI_SUCCESS;
  const std::lock_guard guard(win->own.attaching);
  const auto found = win->own.attached.find(reinterpret_cast<std::uintptr_t>(base));
  if (found == win->own.attached.end())
    return failure(MPI_ERR_BASE, fmt::format("no memory at {} is attached", base));
  const bool registered = found->second;
  win->own.attached.erase(found);
  return registered ? checked(rma_unregister(const_cast<void*>(base))) : MPI_SUCCESS;
}

int win_shared_query(MPI_Win handle, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  if (baseptr == nullptr) return failure(MPI_ERR_ARG, "baseptr is null");
  if (win->is_dynamic()) return failure(MPI_ERR_RMA_FLAVOR, "the window is dynamic");
  if (rank != MPI_PROC_NULL && (rank < 0 || rank >= win->size()))
    return failure(MPI_ERR_RANK, fmt::format("the rank is {} of {}", rank, win->size()));
  const WindowPart& part = win->part(rank == MPI_PROC_NULL ? first_with_memory(*win) : rank);
  const bool mapped = part.here != nullptr;
  // Memory that this process has not mapped is no memory for loads and stores.
  *size = mapped ? static_cast<MPI_Aint>(part.bytes) : 0;
  *disp_unit = static_cast<MPI_Aint>(part.unit);
  *static_cast<void**>(baseptr) = part.here;
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
