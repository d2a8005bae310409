// Runs the tests on every process of the job. All processes fail if one does.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "../multi/failures.hpp"
#include "armci_test.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ARMCI_Init_args(&argc, &argv);
  int failed = 0;
  const int run = multi::run_tests(failed);
  int failed_processes = 0;
  rma_allreduce(rma_team_world(), &failed_processes, &failed, 1, RMA_INT, RMA_SUM);
  if (multi::me() == 0) {
    std::printf("%d tests on %d processes, failed on %d (%s)\n", run, multi::ranks(), failed_processes,
                multi::conditions().c_str());
  }
  ARMCI_Finalize();
  return failed_processes == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
