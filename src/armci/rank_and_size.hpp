#pragma once

namespace librma::armci {

/// The rank of this process, and the size of the job.
struct RankAndSize {
  int rank = -1;
  int size = 0;  ///< 0: unknown
};

/// Returns the rank and the size of the running job. If no job runs, returns those of the job of
/// armci_msg_init or of the last ARMCI_Init.
[[nodiscard]] RankAndSize rank_and_size();

/// Sets the result of rank_and_size() for the time when no job runs.
void remember_rank_and_size(RankAndSize job);

}  // namespace librma::armci
