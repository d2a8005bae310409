// The hardware that the process runs on, as far as the library knows it.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/info.hpp"

namespace librma::mpi {

// The keys are the resources by which MPI_Comm_split_type can split. The value says whether the process is
// bound to one resource of the kind: it always runs on one host.
int get_hw_resource_info(MPI_Info* made) {
  auto* const info = new Info;
  info->set("mpi_shared_memory", "true");
  *made = info->handle<MPI_Info>();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
