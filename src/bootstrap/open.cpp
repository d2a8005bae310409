#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "bootstrap/backends.hpp"
#include "bootstrap/foreign_launcher.hpp"
#include "bootstrap/rank_claim.hpp"

namespace librma {
namespace {

std::string why_alone(const char* job, const char* rank, pid_t process) {
  const std::string holder = process > 0 ? fmt::format("process {}", process) : "another process";
  return fmt::format(
      "this process is a job of one: {} is already rank {} of the job {} that the environment names. A "
      "process that a rank starts does not join the rank's job",
      holder, rank, job);
}

}  // namespace

Result<std::unique_ptr<Bootstrap>> open_bootstrap(int incarnation, const rma_bootstrap_t* given,
                                                  SingletonSetting singleton) {
  if (given != nullptr) return open_given_bootstrap(*given);
  const char* const job = std::getenv("PMIX_NAMESPACE");
  const char* const rank = std::getenv("PMIX_RANK");
  if (job == nullptr && rank == nullptr) {
    if (singleton == SingletonSetting::always) return open_single_bootstrap();
    if (auto refusal = find_foreign_launcher()) return Status(RMA_ERR_LAUNCH, *std::move(refusal));
    return open_single_bootstrap();
  }
  if (job == nullptr || rank == nullptr) {
    return Status(
        RMA_ERR_LAUNCH,
        fmt::format("the environment has {} but not {}: a launcher sets both. Start the program with rmarun, "
                    "mpirun or srun --mpi=pmix, or unset {} to run it as a job of one",
                    job ? "PMIX_NAMESPACE" : "PMIX_RANK", job ? "PMIX_RANK" : "PMIX_NAMESPACE",
                    job ? "PMIX_NAMESPACE" : "PMIX_RANK"));
  }
  if (const RankClaim claim = claim_rank(job, rank); claim.holder == RankClaim::Holder::other) {
    static bool said = false;
    return open_single_bootstrap(std::exchange(said, true) ? std::string()
                                                           : why_alone(job, rank, claim.process));
  }
  if (const std::string directory = rmarun_directory(job); !directory.empty()) {
    return open_rmarun_bootstrap(directory, job, rank);
  }
  return open_pmix_bootstrap(incarnation);
}

namespace {

Status no_such_launcher() {
  return {
      RMA_ERR_UNSUPPORTED,
      "only rmarun without --hosts lets processes start more ranks, meet those of another start, or publish "
      "names of their ports, and something else has started this job"};
}

}  // namespace

Result<std::vector<std::vector<std::byte>>> Bootstrap::convene(const Assembly& /*assembly*/,
                                                               std::span<const std::byte> /*card*/,
                                                               std::span<const int> /*wanted*/) {
  return no_such_launcher();
}

Result<Bootstrap::LauncherAnswer> Bootstrap::ask(const LauncherQuestion& /*question*/) {
  return no_such_launcher();
}

}  // namespace librma
