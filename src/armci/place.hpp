#pragma once

namespace rma::armci {

/// This process among those of the job.
struct Place {
  int rank = -1;
  int size = 0;  ///< 0: not known
};

/// In the job that runs, else in the one that armci_msg_init or the last ARMCI_Init spoke of.
[[nodiscard]] Place this_place();

/// What this_place() says while no job runs.
void remember_place(Place place);

}  // namespace rma::armci
