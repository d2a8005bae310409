#pragma once

namespace rma::armci {

/// The place of this process in the job.
struct Place {
  int rank = -1;
  int size = 0;  ///< 0: unknown
};

/// Returns the place in the running job. If none runs, returns the place in the job of armci_msg_init or of
/// the last ARMCI_Init.
[[nodiscard]] Place this_place();

/// Sets the place that this_place() returns while no job runs.
void remember_place(Place place);

}  // namespace rma::armci
