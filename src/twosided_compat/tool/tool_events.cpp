// The events of MPI_T and their sources: there are none. So every number is 0, and every index is wrong.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/tool/tool.hpp"

namespace rma::mpi {
namespace {

int no_event() { return initialized_or(MPI_T_ERR_INVALID_INDEX); }
int no_event_handle() { return initialized_or(MPI_T_ERR_INVALID_HANDLE); }
int no_event_named(const char* name) {
  return initialized_or(name == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME);
}

}  // namespace

int t_source_get_num(int* count) { return give_number(count, 0); }
int t_source_get_info(int /*index*/, char* /*name*/, int* /*name_length*/, char* /*text*/,
                      int* /*text_length*/, MPI_T_source_order* /*ordering*/, MPI_Count* /*ticks*/,
                      MPI_Count* /*max_ticks*/, MPI_Info* /*info*/) {
  return no_event();
}
int t_source_get_timestamp(int /*index*/, MPI_Count* /*timestamp*/) { return no_event(); }
int t_event_get_num(int* count) { return give_number(count, 0); }
int t_event_get_info(int /*index*/, char* /*name*/, int* /*name_length*/, int* /*verbosity*/,
                     MPI_Datatype* /*types*/, MPI_Aint* /*places*/, int* /*elements*/, MPI_T_enum* /*values*/,
                     MPI_Info* /*info*/, char* /*text*/, int* /*text_length*/, int* /*bind*/) {
  return no_event();
}
int t_event_get_index(const char* name, int* /*index*/) { return no_event_named(name); }
int t_event_handle_alloc(int /*index*/, void* /*object*/, MPI_Info /*info*/,
                         MPI_T_event_registration* /*made*/) {
  return no_event();
}
int t_event_handle_set_info(MPI_T_event_registration /*handle*/, MPI_Info /*info*/) {
  return no_event_handle();
}
int t_event_handle_get_info(MPI_T_event_registration /*handle*/, MPI_Info* /*used*/) {
  return no_event_handle();
}
int t_event_register_callback(MPI_T_event_registration /*handle*/, MPI_T_cb_safety /*safety*/,
                              MPI_Info /*info*/, void* /*data*/, MPI_T_event_cb_function* /*function*/) {
  return no_event_handle();
}
int t_event_callback_set_info(MPI_T_event_registration /*handle*/, MPI_T_cb_safety /*safety*/,
                              MPI_Info /*info*/) {
  return no_event_handle();
}
int t_event_callback_get_info(MPI_T_event_registration /*handle*/, MPI_T_cb_safety /*safety*/,
                              MPI_Info* /*used*/) {
  return no_event_handle();
}
int t_event_handle_free(MPI_T_event_registration /*handle*/, void* /*data*/,
                        MPI_T_event_free_cb_function* /*function*/) {
  return no_event_handle();
}
int t_event_set_dropped_handler(MPI_T_event_registration /*handle*/,
                                MPI_T_event_dropped_cb_function* /*function*/) {
  return no_event_handle();
}
int t_event_read(MPI_T_event_instance /*event*/, int /*element*/, void* /*buffer*/) {
  return no_event_handle();
}
int t_event_copy(MPI_T_event_instance /*event*/, void* /*buffer*/) { return no_event_handle(); }
int t_event_get_timestamp(MPI_T_event_instance /*event*/, MPI_Count* /*timestamp*/) {
  return no_event_handle();
}
int t_event_get_source(MPI_T_event_instance /*event*/, int* /*source*/) { return no_event_handle(); }

}  // namespace rma::mpi
