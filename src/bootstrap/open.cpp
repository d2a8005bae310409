#include <fmt/format.h>

#include <cstdlib>

#include "bootstrap/backends.hpp"

namespace rma {

Result<std::unique_ptr<Bootstrap>> open_bootstrap(int incarnation, const rma_bootstrap_t* given) {
  if (given != nullptr) return open_given_bootstrap(*given);
  const char* const job = std::getenv("PMIX_NAMESPACE");
  const char* const rank = std::getenv("PMIX_RANK");
  if (job == nullptr && rank == nullptr) return open_single_bootstrap();
  if (job == nullptr || rank == nullptr) {
    return Status(
        RMA_ERR_LAUNCH,
        fmt::format("the environment has {} but not {}: a launcher sets both. Start the program with rmarun, "
                    "mpirun or srun --mpi=pmix, or unset {} to run it as a job of one",
                    job ? "PMIX_NAMESPACE" : "PMIX_RANK", job ? "PMIX_RANK" : "PMIX_NAMESPACE",
                    job ? "PMIX_NAMESPACE" : "PMIX_RANK"));
  }
  return open_pmix_bootstrap(incarnation);
}

}  // namespace rma
