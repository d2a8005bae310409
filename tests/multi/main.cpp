// Runs the tests on every rank of the job. All ranks fail if one does.

#include <gtest/gtest.h>

#include <cstdio>

#include "failures.hpp"
#include "harness.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (rma_init() != RMA_SUCCESS) {
    std::fprintf(stderr, "rma_init: %s\n", rma_last_error());
    return 1;
  }
  int failed = 0;
  const int run = multi::run_tests(failed);
  int failed_ranks = 0;
  if (rma_allreduce(rma_team_world(), &failed_ranks, &failed, 1, RMA_INT, RMA_SUM) != RMA_SUCCESS) {
    std::fprintf(stderr, "rma_allreduce: %s\n", rma_last_error());
    failed_ranks = 1;
  }
  if (rma_rank() == 0) {
    std::printf("%d tests on %d ranks, failed on %d\n", run, rma_size(), failed_ranks);
    if (multi::fewer_rounds() != 1) std::printf("%s\n", multi::conditions().c_str());
  }
  if (rma_finalize() != RMA_SUCCESS) {
    std::fprintf(stderr, "rma_finalize: %s\n", rma_last_error());
    return 1;
  }
  return failed_ranks == 0 ? 0 : 1;
}
