// The control variables of MPI_T: the settings of librma, which no tool changes. Numbers are unsigned long
// long, and all others strings.

#include <cstring>
#include <utility>

#include "rma/variables.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/tool/tool.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// Reads a setting. MPI_T_ERR_NOT_ACCESSIBLE if the environment has one that is not valid, before the job
/// begins.
int read_setting(std::size_t setting, ControlValue& value) {
  value.is_number = rma_setting_is_number(setting) != 0;
  if (value.is_number)
    return rma_setting_number(setting, &value.number) == RMA_SUCCESS ? MPI_SUCCESS : MPI_T_ERR_NOT_ACCESSIBLE;
  std::size_t needed = 0;
  if (rma_setting_value(setting, nullptr, 0, &needed) != RMA_SUCCESS) return MPI_T_ERR_NOT_ACCESSIBLE;
  value.text.resize(needed);
  if (rma_setting_value(setting, value.text.data(), value.text.size(), &needed) != RMA_SUCCESS)
    return MPI_T_ERR_NOT_ACCESSIBLE;
  value.text.resize(std::strlen(value.text.c_str()));  // the setting may have become shorter meanwhile
  return MPI_SUCCESS;
}

bool is_setting(int index) { return index >= 0 && static_cast<std::size_t>(index) < rma_setting_count(); }

/// Returns body(value) for the value of a handle. MPI_T_ERR_INVALID_HANDLE.
template <class Body>
int with_value(MPI_T_cvar_handle handle, const Body& body) {
  return with_tool([&](Tool& all) {
    const auto found = all.controls.find(reinterpret_cast<std::uintptr_t>(handle));
    return found != all.controls.end() ? body(found->second) : MPI_T_ERR_INVALID_HANDLE;
  });
}

}  // namespace

int t_cvar_get_num(int* count) { return give_number(count, static_cast<int>(rma_setting_count())); }

int t_cvar_get_info(int index, char* name, int* name_length, int* verbosity, MPI_Datatype* type,
                    MPI_T_enum* values, char* text, int* text_length, int* bind, int* scope) {
  return with_tool([&](Tool&) {
    if (!is_setting(index)) return MPI_T_ERR_INVALID_INDEX;
    const auto setting = static_cast<std::size_t>(index);
    give_text(rma_setting_name(setting), name, name_length);
    give(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    give(type, rma_setting_is_number(setting) != 0 ? MPI_UNSIGNED_LONG_LONG : MPI_CHAR);
    give(values, MPI_T_ENUM_NULL);
    give_text(rma_setting_text(setting), text, text_length);
    give(bind, MPI_T_BIND_NO_OBJECT);
    give(scope, MPI_T_SCOPE_CONSTANT);
    return MPI_SUCCESS;
  });
}

int t_cvar_get_index(const char* name, int* index) {
  return find_name(name, rma_setting_count(), rma_setting_name, index);
}

int t_cvar_handle_alloc(int index, void* /*object*/, MPI_T_cvar_handle* handle, int* count) {
  return with_tool([&](Tool& all) {
    if (!is_setting(index)) return MPI_T_ERR_INVALID_INDEX;
    if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
    ControlValue value;
    RMA_TRY(read_setting(static_cast<std::size_t>(index), value));
    *count = value.is_number ? 1 : static_cast<int>(value.text.size()) + 1;
    all.controls.emplace(all.last + 1, std::move(value));
    *handle = reinterpret_cast<MPI_T_cvar_handle>(++all.last);
    return MPI_SUCCESS;
  });
}

int t_cvar_handle_free(MPI_T_cvar_handle* handle) {
  return with_tool([&](Tool& all) {
    if (handle == nullptr) return MPI_T_ERR_INVALID;
    if (all.controls.erase(reinterpret_cast<std::uintptr_t>(*handle)) == 0) return MPI_T_ERR_INVALID_HANDLE;
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
  });
}

int t_cvar_read(MPI_T_cvar_handle handle, void* buffer) {
  return with_value(handle, [&](const ControlValue& value) {
    if (buffer == nullptr) return MPI_T_ERR_INVALID;
    if (value.is_number) {
      const unsigned long long number = value.number;
      std::memcpy(buffer, &number, sizeof number);
    } else {
      std::memcpy(buffer, value.text.c_str(), value.text.size() + 1);
    }
    return MPI_SUCCESS;
  });
}

int t_cvar_write(MPI_T_cvar_handle handle, const void* /*buffer*/) {
  return with_value(handle, [](const ControlValue&) { return MPI_T_ERR_CVAR_SET_NEVER; });
}

}  // namespace librma::mpi
