// Array sections as buffers of nonblocking operations, for the library of MPI's Fortran interface.

#include "twosided_compat/messages/fortran_sections.hpp"

#include <memory>
#include <utility>

#include "twosided_compat/messages/requests.hpp"

using rma::mpi::Request;

void rma_mpi_fortran_keep_staged(MPI_Request handle, rma::mpi::StagedData* data) {
  std::unique_ptr<rma::mpi::StagedData> owned(data);
  auto* const request = rma::mpi::find<Request>(handle);
  if (request == nullptr || request == rma::mpi::sent_request) {
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
