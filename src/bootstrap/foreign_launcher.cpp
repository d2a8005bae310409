#include "bootstrap/foreign_launcher.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace librma {
namespace {

/// The variables of a launcher, or of the protocol that launchers share.
struct Row {
  std::string_view launcher;
  const char* size;  ///< the number of processes; null: it has no such variable
  const char* rank;
};

constexpr std::array kRows = {
    Row{"Open MPI's launcher without its PMIx", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    Row{"a launcher with PMI (MPICH, Intel MPI, Cray, srun --mpi=pmi2)", "PMI_SIZE", "PMI_RANK"},
    Row{"a launcher of MPICH's kind (Hydra)", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
    Row{"MVAPICH's launcher", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
    Row{"MVAPICH's launcher", "MPIRUN_NPROCS", "MPIRUN_RANK"},
    Row{"IBM's jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},
    Row{"Flux", "FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
    Row{"HPE's PALS", nullptr, "PALS_RANKID"},
    Row{"Cray's aprun", nullptr, "ALPS_APP_PE"},
};

/// A variable that says that there are several processes.
struct Evidence {
  std::string_view launcher;
  std::string variable;         ///< NAME=value
  std::uint64_t processes = 0;  ///< 0: not known
};

std::optional<std::uint64_t> number_of(const char* name) {
  const char* const value = name != nullptr ? std::getenv(name) : nullptr;
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string assignment(const char* name) { return fmt::format("{}={}", name, std::getenv(name)); }

std::optional<Evidence> find_in_rows(bool* any) {
  for (const Row& row : kRows) {
    const auto size = number_of(row.size);
    const auto rank = number_of(row.rank);
    *any = *any || size || rank;
    if (size && *size > 1) return Evidence{row.launcher, assignment(row.size), *size};
    if (!size && rank && *rank > 0) return Evidence{row.launcher, assignment(row.rank)};
  }
  // Its connection to a launcher that says no number.
  if (std::getenv("PMI_FD") != nullptr && !std::getenv("PMI_SIZE")) {
    return Evidence{"a launcher with PMI", assignment("PMI_FD")};
  }
  return std::nullopt;
}

/// A batch script's own process has the number of tasks of the whole allocation, too, but is in no step of
/// srun. The shells of `salloc` and of `srun --pty` are in one, and a program that is typed there is alone.
std::optional<Evidence> find_in_slurm() {
  constexpr std::uint64_t kFirstSpecialStep = 0xfffffff0;
  auto step = number_of("SLURM_STEP_ID");
  if (!step) step = number_of("SLURM_STEPID");
  if (!step || *step >= kFirstSpecialStep || std::getenv("SLURM_PTY_PORT") != nullptr) return std::nullopt;
  for (const char* const name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"}) {
    const auto tasks = number_of(name);
    if (!tasks) continue;
    if (*tasks > 1) return Evidence{"srun without --mpi=pmix", assignment(name), *tasks};
    break;
  }
  return std::nullopt;
}

std::string instead(const Evidence& found) {
  const std::string number = found.processes != 0 ? fmt::format("{}", found.processes) : "N";
  const char* const program = program_invocation_name;
  if (found.launcher.starts_with("srun")) return fmt::format("srun --mpi=pmix -n {} {}", number, program);
  if (found.launcher == "Flux") return fmt::format("flux run -o pmi=pmix -n {} {}", number, program);
  return fmt::format("rmarun -n {} {}", number, program);
}

}  // namespace

std::optional<std::string> find_foreign_launcher() {
  bool any = false;
  auto found = find_in_rows(&any);
  // The daemons of another launcher may be tasks of a step. Its processes inherit the step's variables.
  if (!found && !any) found = find_in_slurm();
  if (!found) return std::nullopt;
  return fmt::format(
      "{} has started this process as one of several ({}), but it does not offer PMIx, by which the "
      "processes of a job "
      "find each other: each would be a job of one. Start the program with: {} (or by any launcher with "
      "PMIx: rmarun, "
      "Open MPI's mpirun, srun --mpi=pmix). If every process is to be a job of one, set RMA_SINGLETON=always",
      found->launcher, found->variable, instead(*found));
}

}  // namespace librma
