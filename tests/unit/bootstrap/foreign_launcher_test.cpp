// Environments of launchers without PMIx: of one process of several, and of processes that are alone.

#include "bootstrap/foreign_launcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Variables that begin so are launchers'.
constexpr std::string_view kLaunchers[] = {"PMI",   "MPI_LOCAL", "OMPI_", "MV2_",   "MPIRUN_", "JSM_",
                                           "FLUX_", "PALS_",     "ALPS_", "SLURM_", "PRTE_"};

class ForeignLauncher : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      for (const std::string_view launcher : kLaunchers) {
        if (text.starts_with(launcher)) names.emplace_back(text.substr(0, text.find('=')));
      }
    }
    for (const std::string& name : names) ::unsetenv(name.c_str());
  }

  /// Returns what is found in an environment of these variables only.
  static std::optional<std::string> find(const std::vector<std::pair<const char*, const char*>>& variables) {
    clear();
    for (const auto& [name, value] : variables) ::setenv(name, value, 1);
    return librma::find_foreign_launcher();
  }
};

TEST_F(ForeignLauncher, OfSeveralProcessesIsFoundByEachOfItsVariables) {
  const struct {
    std::vector<std::pair<const char*, const char*>> variables;
    const char* named;
    const char* instead;
  } cases[] = {
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"PMI_FD", "5"}, {"MPI_LOCALNRANKS", "4"}},
       "PMI_SIZE=4",
       "rmarun -n 4 "},
      {{{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}, "PMI_SIZE=4", "rmarun -n 4 "},
      {{{"PMI_RANK", "2"}}, "PMI_RANK=2", "rmarun -n N "},
      {{{"PMI_FD", "7"}}, "PMI_FD=7", "rmarun -n N "},
      {{{"PMI_SIZE", "1"}, {"MPI_LOCALNRANKS", "2"}}, "MPI_LOCALNRANKS=2", "rmarun -n 2 "},
      {{{"OMPI_COMM_WORLD_SIZE", "16"}, {"OMPI_COMM_WORLD_RANK", "0"}},
       "OMPI_COMM_WORLD_SIZE=16",
       "rmarun -n 16 "},
      {{{"MV2_COMM_WORLD_SIZE", "2"}}, "MV2_COMM_WORLD_SIZE=2", "rmarun -n 2 "},
      {{{"MPIRUN_NPROCS", "2"}, {"MPIRUN_RANK", "1"}}, "MPIRUN_NPROCS=2", "rmarun -n 2 "},
      {{{"JSM_NAMESPACE_SIZE", "6"}, {"JSM_NAMESPACE_RANK", "0"}}, "JSM_NAMESPACE_SIZE=6", "rmarun -n 6 "},
      {{{"FLUX_JOB_SIZE", "8"}, {"FLUX_TASK_RANK", "0"}}, "FLUX_JOB_SIZE=8", "flux run -o pmi=pmix -n 8 "},
      {{{"PALS_RANKID", "1"}}, "PALS_RANKID=1", "rmarun -n N "},
      {{{"ALPS_APP_PE", "1"}}, "ALPS_APP_PE=1", "rmarun -n N "},
      {{{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}},
       "SLURM_STEP_NUM_TASKS=4",
       "srun --mpi=pmix -n 4 "},
      {{{"SLURM_STEPID", "12"}, {"SLURM_NPROCS", "3"}, {"SLURM_PROCID", "2"}},
       "SLURM_NPROCS=3",
       "srun --mpi=pmix -n 3 "},
  };
  for (const auto& one : cases) {
    const auto found = find(one.variables);
    ASSERT_TRUE(found) << one.named;
    EXPECT_THAT(*found,
                AllOf(HasSubstr(one.named), HasSubstr(one.instead), HasSubstr("RMA_SINGLETON=always")));
    const auto refused = librma::open_bootstrap(0);
    EXPECT_EQ(refused.status().code(), RMA_ERR_LAUNCH);
    EXPECT_EQ(std::string(refused.status().text()), *found);
    EXPECT_TRUE(librma::open_bootstrap(0, nullptr, librma::SingletonSetting::always).ok()) << one.named;
  }
}

TEST_F(ForeignLauncher, OfAProcessThatIsAloneIsNone) {
  const std::vector<std::pair<const char*, const char*>> cases[] = {
      {},
      {{"PMI_RANK", "0"},
       {"PMI_SIZE", "1"},
       {"PMI_FD", "5"},
       {"MPI_LOCALNRANKS", "1"},
       {"MPI_LOCALRANKID", "0"}},
      {{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}},
      {{"FLUX_JOB_SIZE", "1"}, {"FLUX_TASK_RANK", "0"}},
      {{"PALS_RANKID", "0"}},
      // A batch script, its pseudo step, the shells of salloc and of srun --pty, and a step of one task.
      {{"SLURM_JOB_ID", "9"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}},
      {{"SLURM_STEP_ID", "4294967291"}, {"SLURM_NTASKS", "4"}},
      {{"SLURM_STEP_ID", "4294967290"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "4"}},
      {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PTY_PORT", "4711"}},
      {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "4"}},
      // mpiexec -n 1 of MPICH, whose daemons are the tasks of a step.
      {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}},
      // These are no numbers of processes.
      {{"PMI_SIZE", ""}, {"OMPI_COMM_WORLD_SIZE", "many"}, {"FLUX_JOB_SIZE", "-1"}},
  };
  for (const auto& variables : cases) {
    const auto found = find(variables);
    EXPECT_FALSE(found) << *found;
    const auto opened = librma::open_bootstrap(0);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    EXPECT_EQ(opened.value()->size(), 1);
    EXPECT_EQ(opened.value()->remark(), "");
  }
}

}  // namespace
