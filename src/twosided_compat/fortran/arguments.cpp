// The lengths of arrays that only the communicator tells.

#include "twosided_compat/fortran/arguments.hpp"

namespace librma::mpi_fortran {

Peers::Peers(const MPI_Fint* comm) {
  const auto c_comm = handle<MPI_Comm>(*comm);
  int is_inter = 0;
  if (PMPI_Comm_test_inter(c_comm, &is_inter) != MPI_SUCCESS) return;
  const int code = is_inter != 0 ? PMPI_Comm_remote_size(c_comm, &count_) : PMPI_Comm_size(c_comm, &count_);
  if (code != MPI_SUCCESS) count_ = 0;
}

Neighbors::Neighbors(const MPI_Fint* comm) {
  const auto c_comm = handle<MPI_Comm>(*comm);
  int topology = MPI_UNDEFINED;
  if (PMPI_Topo_test(c_comm, &topology) != MPI_SUCCESS) return;
  int code = MPI_SUCCESS;
  if (topology == MPI_CART) {
    code = PMPI_Cartdim_get(c_comm, &in_);
    in_ = out_ = 2 * in_;
  } else if (topology == MPI_GRAPH) {
    int rank = 0;
    code = PMPI_Comm_rank(c_comm, &rank);
    if (code == MPI_SUCCESS) code = PMPI_Graph_neighbors_count(c_comm, rank, &in_);
    out_ = in_;
  } else if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    code = PMPI_Dist_graph_neighbors_count(c_comm, &in_, &out_, &weighted);
  }
  if (code != MPI_SUCCESS) in_ = out_ = 0;
}

}  // namespace librma::mpi_fortran
