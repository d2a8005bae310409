#include "twosided_compat/tool/tool.hpp"

#include <algorithm>
#include <cstring>

#include "twosided_compat/calls.hpp"

namespace librma::mpi {

Tool& tool() {
  static Tool* const kTool = new Tool;  // never destroyed, as all tables of this library
  return *kTool;
}

int initialized_or(int code) {
  return with_tool([code](Tool&) { return code; });
}

int give_number(int* to, int number) {
  return with_tool([&](Tool&) {
    if (to == nullptr) return MPI_T_ERR_INVALID;
    *to = number;
    return MPI_SUCCESS;
  });
}

void give_text(const char* text, char* buffer, int* length) {
  if (length == nullptr) return;
  const std::size_t whole = std::strlen(text);
  if (buffer != nullptr && *length > 0) {
    const std::size_t copied = std::min(whole, static_cast<std::size_t>(*length) - 1);
    std::memcpy(buffer, text, copied);
    buffer[copied] = '\0';
  }
  *length = static_cast<int>(whole) + 1;
}

int find_name(const char* wanted, std::size_t count, const char* (*name)(std::size_t), int* index) {
  return with_tool([&](Tool&) {
    if (wanted == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
    for (std::size_t i = 0; i < count; ++i) {
      if (std::strcmp(name(i), wanted) != 0) continue;
      *index = static_cast<int>(i);
      return MPI_SUCCESS;
    }
    return MPI_T_ERR_INVALID_NAME;
  });
}

int no_such_name(const char* name) {
  return initialized_or(name == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME);
}

int t_init_thread(int required, int* provided) {
  if (provided == nullptr) return MPI_T_ERR_INVALID;
  Tool& all = tool();
  const std::lock_guard guard(all.lock);
  ++all.users;
  *provided = required;  // every level costs the same here
  return MPI_SUCCESS;
}

int t_finalize() {
  return with_tool([](Tool& all) {
    if (--all.users > 0) return MPI_SUCCESS;
    all.sessions.clear();
    all.counters.clear();
    all.controls.clear();
    return MPI_SUCCESS;
  });
}

}  // namespace librma::mpi
