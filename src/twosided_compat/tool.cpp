// The tool information interface (MPI 4.1, chapter 15). The library has no variables, events, sources or
// categories: rma-info shows its settings, and RMA_STATS its counters. So every number is 0, and every index
// is wrong.

#include <cstdint>
#include <mutex>
#include <set>

#include "twosided_compat/calls.hpp"

namespace rma::mpi {
namespace {

/// How often MPI_T is initialised, and the sessions that are open. It may be used before MPI_Init.
struct Tool {
  std::mutex lock;  // guards the rest
  int users = 0;
  std::uintptr_t last_session = 0;
  std::set<std::uintptr_t> sessions;
};
Tool& tool() {
  static Tool* const kTool = new Tool;  // never destroyed, as all tables of this library
  return *kTool;
}

/// Returns `code`, or the error of a call on an interface that is not initialised.
int initialized_or(int code) {
  Tool& all = tool();
  const std::lock_guard guard(all.lock);
  return all.users > 0 ? code : MPI_T_ERR_NOT_INITIALIZED;
}

int store_zero(int* count) {
  if (count == nullptr) return initialized_or(MPI_T_ERR_INVALID);
  *count = 0;
  return initialized_or(MPI_SUCCESS);
}

int no_index() { return initialized_or(MPI_T_ERR_INVALID_INDEX); }
int no_handle() { return initialized_or(MPI_T_ERR_INVALID_HANDLE); }
int no_name() { return initialized_or(MPI_T_ERR_INVALID_NAME); }

bool is_session(MPI_T_pvar_session session) {
  Tool& all = tool();
  const std::lock_guard guard(all.lock);
  return all.sessions.contains(reinterpret_cast<std::uintptr_t>(session));
}

/// Returns the error of a call on a handle of a session, which has none.
int no_handle_in(MPI_T_pvar_session session) {
  return initialized_or(is_session(session) ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID_SESSION);
}
/// The same of a call that may mean all handles of the session: then it has nothing to do.
int no_handles_in(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (handle == MPI_T_PVAR_ALL_HANDLES && is_session(session)) return initialized_or(MPI_SUCCESS);
  return no_handle_in(session);
}

}  // namespace

int t_init_thread(int required, int* provided) {
  if (provided == nullptr) return MPI_T_ERR_INVALID;
  Tool& all = tool();
  const std::lock_guard guard(all.lock);
  ++all.users;
  *provided = required;  // every level costs the same here
  return MPI_SUCCESS;
}

int t_finalize() {
  Tool& all = tool();
  const std::lock_guard guard(all.lock);
  if (all.users == 0) return MPI_T_ERR_NOT_INITIALIZED;
  if (--all.users == 0) all.sessions.clear();
  return MPI_SUCCESS;
}

int t_enum_get_info(MPI_T_enum /*type*/, int* /*num*/, char* /*name*/, int* /*length*/) {
  return no_handle();
}
int t_enum_get_item(MPI_T_enum /*type*/, int /*index*/, int* /*value*/, char* /*name*/, int* /*length*/) {
  return no_handle();
}

// Control variables.

int t_cvar_get_num(int* count) { return store_zero(count); }
int t_cvar_get_info(int /*index*/, char* /*name*/, int* /*name_length*/, int* /*verbosity*/,
                    MPI_Datatype* /*type*/, MPI_T_enum* /*values*/, char* /*text*/, int* /*text_length*/,
                    int* /*bind*/, int* /*scope*/) {
  return no_index();
}
int t_cvar_get_index(const char* /*name*/, int* /*index*/) { return no_name(); }
int t_cvar_handle_alloc(int /*index*/, void* /*object*/, MPI_T_cvar_handle* /*handle*/, int* /*count*/) {
  return no_index();
}
int t_cvar_handle_free(MPI_T_cvar_handle* /*handle*/) { return no_handle(); }
int t_cvar_read(MPI_T_cvar_handle /*handle*/, void* /*buffer*/) { return no_handle(); }
int t_cvar_write(MPI_T_cvar_handle /*handle*/, const void* /*buffer*/) { return no_handle(); }

// Performance variables.

int t_pvar_get_num(int* count) { return store_zero(count); }
int t_pvar_get_info(int /*index*/, char* /*name*/, int* /*name_length*/, int* /*verbosity*/,
                    int* /*var_class*/, MPI_Datatype* /*type*/, MPI_T_enum* /*values*/, char* /*text*/,
                    int* /*text_length*/, int* /*bind*/, int* /*readonly*/, int* /*continuous*/,
                    int* /*atomic*/) {
  return no_index();
}
int t_pvar_get_index(const char* /*name*/, int /*var_class*/, int* /*index*/) { return no_name(); }

int t_pvar_session_create(MPI_T_pvar_session* session) {
  if (session == nullptr) return initialized_or(MPI_T_ERR_INVALID);
  Tool& all = tool();
  const std::lock_guard guard(all.lock);
  if (all.users == 0) return MPI_T_ERR_NOT_INITIALIZED;
  all.sessions.insert(++all.last_session);
  *session = reinterpret_cast<MPI_T_pvar_session>(all.last_session);
  return MPI_SUCCESS;
}

int t_pvar_session_free(MPI_T_pvar_session* session) {
  if (session == nullptr) return initialized_or(MPI_T_ERR_INVALID);
  Tool& all = tool();
  const std::lock_guard guard(all.lock);
  if (all.users == 0) return MPI_T_ERR_NOT_INITIALIZED;
  if (all.sessions.erase(reinterpret_cast<std::uintptr_t>(*session)) == 0) return MPI_T_ERR_INVALID_SESSION;
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

int t_pvar_handle_alloc(MPI_T_pvar_session session, int /*index*/, void* /*object*/,
                        MPI_T_pvar_handle* /*handle*/, int* /*count*/) {
  return initialized_or(is_session(session) ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_INVALID_SESSION);
}
int t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* /*handle*/) {
  return no_handle_in(session);
}
int t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return no_handles_in(session, handle);
}
int t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return no_handles_in(session, handle);
}
int t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return no_handles_in(session, handle);
}
int t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle /*handle*/, void* /*buffer*/) {
  return no_handle_in(session);
}
int t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle /*handle*/, const void* /*buffer*/) {
  return no_handle_in(session);
}
int t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle /*handle*/, void* /*buffer*/) {
  return no_handle_in(session);
}

// Events and their sources.

int t_source_get_num(int* count) { return store_zero(count); }
int t_source_get_info(int /*index*/, char* /*name*/, int* /*name_length*/, char* /*text*/,
                      int* /*text_length*/, MPI_T_source_order* /*ordering*/, MPI_Count* /*ticks*/,
                      MPI_Count* /*max_ticks*/, MPI_Info* /*info*/) {
  return no_index();
}
int t_source_get_timestamp(int /*index*/, MPI_Count* /*timestamp*/) { return no_index(); }
int t_event_get_num(int* count) { return store_zero(count); }
int t_event_get_info(int /*index*/, char* /*name*/, int* /*name_length*/, int* /*verbosity*/,
                     MPI_Datatype* /*types*/, MPI_Aint* /*places*/, int* /*elements*/, MPI_T_enum* /*values*/,
                     MPI_Info* /*info*/, char* /*text*/, int* /*text_length*/, int* /*bind*/) {
  return no_index();
}
int t_event_get_index(const char* /*name*/, int* /*index*/) { return no_name(); }
int t_event_handle_alloc(int /*index*/, void* /*object*/, MPI_Info /*info*/,
                         MPI_T_event_registration* /*made*/) {
  return no_index();
}
int t_event_handle_set_info(MPI_T_event_registration /*handle*/, MPI_Info /*info*/) { return no_handle(); }
int t_event_handle_get_info(MPI_T_event_registration /*handle*/, MPI_Info* /*used*/) { return no_handle(); }
int t_event_register_callback(MPI_T_event_registration /*handle*/, MPI_T_cb_safety /*safety*/,
                              MPI_Info /*info*/, void* /*data*/, MPI_T_event_cb_function* /*function*/) {
  return no_handle();
}
int t_event_callback_set_info(MPI_T_event_registration /*handle*/, MPI_T_cb_safety /*safety*/,
                              MPI_Info /*info*/) {
  return no_handle();
}
int t_event_callback_get_info(MPI_T_event_registration /*handle*/, MPI_T_cb_safety /*safety*/,
                              MPI_Info* /*used*/) {
  return no_handle();
}
int t_event_handle_free(MPI_T_event_registration /*handle*/, void* /*data*/,
                        MPI_T_event_free_cb_function* /*function*/) {
  return no_handle();
}
int t_event_set_dropped_handler(MPI_T_event_registration /*handle*/,
                                MPI_T_event_dropped_cb_function* /*function*/) {
  return no_handle();
}
int t_event_read(MPI_T_event_instance /*event*/, int /*element*/, void* /*buffer*/) { return no_handle(); }
int t_event_copy(MPI_T_event_instance /*event*/, void* /*buffer*/) { return no_handle(); }
int t_event_get_timestamp(MPI_T_event_instance /*event*/, MPI_Count* /*timestamp*/) { return no_handle(); }
int t_event_get_source(MPI_T_event_instance /*event*/, int* /*source*/) { return no_handle(); }

// Categories.

int t_category_get_num(int* count) { return store_zero(count); }
int t_category_get_info(int /*index*/, char* /*name*/, int* /*name_length*/, char* /*text*/,
                        int* /*text_length*/, int* /*cvars*/, int* /*pvars*/, int* /*categories*/) {
  return no_index();
}
int t_category_get_num_events(int /*index*/, int* /*events*/) { return no_index(); }
int t_category_get_index(const char* /*name*/, int* /*index*/) { return no_name(); }
int t_category_get_cvars(int /*index*/, int /*length*/, int* /*indices*/) { return no_index(); }
int t_category_get_pvars(int /*index*/, int /*length*/, int* /*indices*/) { return no_index(); }
int t_category_get_events(int /*index*/, int /*length*/, int* /*indices*/) { return no_index(); }
int t_category_get_categories(int /*index*/, int /*length*/, int* /*indices*/) { return no_index(); }
int t_category_changed(int* number) { return store_zero(number); }

}  // namespace rma::mpi
