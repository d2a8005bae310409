// Array sections as buffers of nonblocking and partitioned operations, for the library of MPI's Fortran
// interface.

#include "twosided_compat/messages/fortran_sections.hpp"

#include <memory>
#include <utility>

#include "twosided_compat/binding/entry.hpp"
#include "twosided_compat/messages/partitioned.hpp"
#include "twosided_compat/messages/requests.hpp"

using librma::mpi::Request;

void rma_mpi_fortran_keep_staged(MPI_Request handle, librma::mpi::StagedData* data) {
  std::unique_ptr<librma::mpi::StagedData> owned(data);
  auto* const request = librma::mpi::find<Request>(handle);
  if (request == nullptr || request == librma::mpi::sent_request) {
    owned->store();
    return;
  }
  Request::Extra& extra = request->extra();
  if (extra.start) {
    extra.start = [data, start = std::move(extra.start)](Request& self) {
      data->load();
      return start(self);
    };
  }
  extra.staged = std::move(owned);
}

int rma_mpi_fortran_init_partitions(int sends, void* address, int partitions, MPI_Datatype whole, int peer,
                                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const librma::mpi::PartitionedArguments wanted = {.address = address,
                                                    .partitions = partitions,
                                                    .count = 1,
                                                    .type = whole,
                                                    .peer = peer,
                                                    .tag = tag,
                                                    .comm = comm,
                                                    .info = info,
                                                    .is_whole = true};
  return librma::mpi::invoke<librma::mpi::WhileRunning>(
      sends != 0 ? "MPI_Psend_init" : "MPI_Precv_init", comm,
      [&] { return librma::mpi::init_partitioned(sends != 0, wanted, request); });
}
