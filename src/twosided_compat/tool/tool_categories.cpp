// The categories of MPI_T: there are none. The variables have telling names instead.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/tool/tool.hpp"

namespace rma::mpi {
namespace {

int no_category() { return initialized_or(MPI_T_ERR_INVALID_INDEX); }
int no_category_named(const char* name) {
  return initialized_or(name == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME);
}

}  // namespace

int t_category_get_num(int* count) { return give_number(count, 0); }
int t_category_get_info(int /*index*/, char* /*name*/, int* /*name_length*/, char* /*text*/,
                        int* /*text_length*/, int* /*cvars*/, int* /*pvars*/, int* /*categories*/) {
  return no_category();
}
int t_category_get_num_events(int /*index*/, int* /*events*/) { return no_category(); }
int t_category_get_index(const char* name, int* /*index*/) { return no_category_named(name); }
int t_category_get_cvars(int /*index*/, int /*length*/, int* /*indices*/) { return no_category(); }
int t_category_get_pvars(int /*index*/, int /*length*/, int* /*indices*/) { return no_category(); }
int t_category_get_events(int /*index*/, int /*length*/, int* /*indices*/) { return no_category(); }
int t_category_get_categories(int /*index*/, int /*length*/, int* /*indices*/) { return no_category(); }
int t_category_changed(int* number) { return give_number(number, 0); }

}  // namespace rma::mpi
