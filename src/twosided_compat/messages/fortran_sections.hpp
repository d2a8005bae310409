#pragma once

#include "mpi.h"

namespace librma::mpi {

/// Copies of the data of a nonblocking or persistent operation, whose buffers are array sections that are not
/// contiguous. The request of the operation owns it.
class StagedData {
 public:
  StagedData() = default;
  StagedData(const StagedData&) = delete;
  StagedData& operator=(const StagedData&) = delete;
  virtual ~StagedData() = default;

  /// Copies the data from the sections. Called before each start of a persistent operation.
  void load() {
    gather();
    is_stored_ = false;
  }
  /// Copies what has arrived to the sections, once. Called after the operation has ended, before the program
  /// is told.
  void store() {
    if (is_stored_) return;
    scatter();
    is_stored_ = true;
  }

 private:
  virtual void gather() = 0;
  virtual void scatter() = 0;

  bool is_stored_ = false;
};

}  // namespace librma::mpi

#pragma GCC visibility push(default)
extern "C" {
/// Gives `data` to a request that libmpi_abi_fortran.so has just got from a call that reads and writes those
/// copies. If that operation has ended already, the data are stored and freed at once.
void rma_mpi_fortran_keep_staged(MPI_Request request, librma::mpi::StagedData* data);
/// Performs MPI_Psend_init or MPI_Precv_init for a section that is not contiguous. One element of `whole` is
/// all partitions together. The request keeps the type.
int rma_mpi_fortran_init_partitions(int sends, void* address, int partitions, MPI_Datatype whole, int peer,
                                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request);
}
#pragma GCC visibility pop
