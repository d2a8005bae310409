// The attributes, names, hints and groups of windows.

#include <cstring>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/object_names.hpp"
#include "twosided_compat/windows/window.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Returns the value of a predefined attribute as C gets it, or null if `keyval` names none. `base` is room
/// for the one that is a pointer to memory.
void* predefined_attribute(Window& win, int keyval, bool& found) {
  found = true;
  switch (keyval) {
    case MPI_WIN_BASE:
      return win.is_dynamic() ? MPI_BOTTOM : win.own_part().here;
    case MPI_WIN_SIZE:
      return &win.predefined.size;
    case MPI_WIN_DISP_UNIT:
      return &win.predefined.unit;
    case MPI_WIN_CREATE_FLAVOR:
      return &win.predefined.flavor;
    case MPI_WIN_MODEL:
      return &win.predefined.model;
    default:
      found = false;
      return nullptr;
  }
}

}  // namespace

int win_get_attr(MPI_Win handle, int keyval, void* value, int* flag) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  if (value == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "attribute_val or flag is null");
  bool found = false;
  void* const predefined = predefined_attribute(*win, keyval, found);
  if (!found) return win->attributes.get(keyval, value, flag);
  *static_cast<void**>(value) = predefined;
  *flag = 1;
  return MPI_SUCCESS;
}

int win_set_name(MPI_Win handle, const char* name) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  if (name == nullptr) return failure(MPI_ERR_ARG, "win_name is null");
  win->name.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

int win_get_name(MPI_Win handle, char* name, int* length) {
  if (handle == MPI_WIN_NULL) return give_name("MPI_WIN_NULL", name, length);
  RMA_TRY_ASSIGN(win, find_window(handle));
  return give_name(win->name, name, length);
}

int win_set_info(MPI_Win handle, MPI_Info info) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  RMA_TRY(check_hints(info));
  take_hints(*win, info);
  return MPI_SUCCESS;
}

int win_get_info(MPI_Win handle, MPI_Info* used) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  *used = (new Info(win->hints))->handle<MPI_Info>();
  return MPI_SUCCESS;
}

int win_get_group(MPI_Win handle, MPI_Group* made) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  *made = (new Group(win->members(), win->session()))->handle<MPI_Group>();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
