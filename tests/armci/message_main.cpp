// Runs the tests on every process of the job. All processes fail if one does.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "../multi/failures.hpp"
#include "message_values.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Programs that use no other messages begin in this way.
  armci_msg_init(&argc, &argv);
  ARMCI_Init();
  int failed = 0;
  const int run = multi::run_tests(failed);
  armci_msg_igop(&failed, 1, armci_test::spelled("+"));
  if (multi::me() == 0) {
    std::printf("%d tests on %d processes, failed on %d (%s)\n", run, multi::ranks(), failed,
                multi::conditions().c_str());
  }
  ARMCI_Finalize();
  armci_msg_finalize();
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
