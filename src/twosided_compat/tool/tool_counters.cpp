// The performance variables of MPI_T: the counters of librma. A counter always counts, for the whole process,
// and no tool changes it. So all sessions read the same values, and a tool takes differences.

#include <cstring>

#include "rma/variables.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/tool/tool.hpp"

namespace librma::mpi {
namespace {

bool is_counter(int index) { return index >= 0 && static_cast<std::size_t>(index) < rma_counter_count(); }

/// Returns body(tool(), found) for a handle of a session. MPI_T_ERR_INVALID_SESSION,
/// MPI_T_ERR_INVALID_HANDLE.
template <class Body>
int with_counter(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const Body& body) {
  return with_tool([&](Tool& all) {
    const auto number = reinterpret_cast<std::uintptr_t>(session);
    if (!all.sessions.contains(number)) return MPI_T_ERR_INVALID_SESSION;
    const auto found = all.counters.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == all.counters.end() || found->second.session != number) return MPI_T_ERR_INVALID_HANDLE;
    return body(all, found);
  });
}

/// A call that changes a variable, which fails with `code`. For all handles of a session it does nothing,
/// because it passes over those that it cannot change.
int refuse_change(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int code) {
  if (handle != MPI_T_PVAR_ALL_HANDLES)
    return with_counter(session, handle, [code](Tool&, auto) { return code; });
  return with_tool([&](Tool& all) {
    return all.sessions.contains(reinterpret_cast<std::uintptr_t>(session)) ? MPI_SUCCESS
                                                                            : MPI_T_ERR_INVALID_SESSION;
  });
}

}  // namespace

int t_pvar_get_num(int* count) { return give_number(count, static_cast<int>(rma_counter_count())); }

int t_pvar_get_info(int index, char* name, int* name_length, int* verbosity, int* var_class,
                    MPI_Datatype* type, MPI_T_enum* values, char* text, int* text_length, int* bind,
                    int* readonly, int* continuous, int* atomic) {
  return with_tool([&](Tool&) {
    if (!is_counter(index)) return MPI_T_ERR_INVALID_INDEX;
    const auto counter = static_cast<std::size_t>(index);
    give_text(rma_counter_name(counter), name, name_length);
    give(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    give(var_class, MPI_T_PVAR_CLASS_COUNTER);
    give(type, MPI_UNSIGNED_LONG_LONG);
    give(values, MPI_T_ENUM_NULL);
    give_text(rma_counter_text(counter), text, text_length);
    give(bind, MPI_T_BIND_NO_OBJECT);
    give(readonly, 1);
    give(continuous, 1);
    give(atomic, 0);
    return MPI_SUCCESS;
  });
}

int t_pvar_get_index(const char* name, int var_class, int* index) {
  // There are names of one class only.
  const std::size_t count = var_class == MPI_T_PVAR_CLASS_COUNTER ? rma_counter_count() : 0;
  return find_name(name, count, rma_counter_name, index);
}

int t_pvar_session_create(MPI_T_pvar_session* session) {
  return with_tool([&](Tool& all) {
    if (session == nullptr) return MPI_T_ERR_INVALID;
    all.sessions.insert(all.last + 1);
    *session = reinterpret_cast<MPI_T_pvar_session>(++all.last);
    return MPI_SUCCESS;
  });
}

int t_pvar_session_free(MPI_T_pvar_session* session) {
  return with_tool([&](Tool& all) {
    if (session == nullptr) return MPI_T_ERR_INVALID;
    const auto number = reinterpret_cast<std::uintptr_t>(*session);
    if (all.sessions.erase(number) == 0) return MPI_T_ERR_INVALID_SESSION;
    std::erase_if(all.counters, [number](const auto& each) { return each.second.session == number; });
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
  });
}

int t_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* /*object*/, MPI_T_pvar_handle* handle,
                        int* count) {
  return with_tool([&](Tool& all) {
    const auto number = reinterpret_cast<std::uintptr_t>(session);
    if (!all.sessions.contains(number)) return MPI_T_ERR_INVALID_SESSION;
    if (!is_counter(index)) return MPI_T_ERR_INVALID_INDEX;
    if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
    all.counters.emplace(all.last + 1,
                         CounterHandle{.session = number, .counter = static_cast<std::size_t>(index)});
    *handle = reinterpret_cast<MPI_T_pvar_handle>(++all.last);
    *count = 1;
    return MPI_SUCCESS;
  });
}

int t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  if (handle == nullptr) return initialized_or(MPI_T_ERR_INVALID);
  return with_counter(session, *handle, [&](Tool& all, CounterHandles::iterator found) {
    all.counters.erase(found);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
  });
}

int t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return refuse_change(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP);
}
int t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return refuse_change(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP);
}
int t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return refuse_change(session, handle, MPI_T_ERR_PVAR_NO_WRITE);
}

int t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer) {
  return with_counter(session, handle, [&](Tool&, CounterHandles::iterator found) {
    if (buffer == nullptr) return MPI_T_ERR_INVALID;
    const unsigned long long value = rma_counter_value(found->second.counter);
    std::memcpy(buffer, &value, sizeof value);
    return MPI_SUCCESS;
  });
}

int t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* /*buffer*/) {
  return with_counter(session, handle, [](Tool&, auto) { return MPI_T_ERR_PVAR_NO_WRITE; });
}

int t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* /*buffer*/) {
  return with_counter(session, handle, [](Tool&, auto) { return MPI_T_ERR_PVAR_NO_ATOMIC; });
}

}  // namespace librma::mpi
