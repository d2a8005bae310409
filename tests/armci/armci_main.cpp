// Runs the tests on every process of the job. A process prints only its failures; all fail when one does.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "armci_test.hpp"

namespace {

class Failures : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override { test_ = test.name(); }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    const char* const name = test_.c_str();
    if (result.skipped() && multi::me() == 0) std::printf("%s is skipped: %s\n", name, result.message());
    if (!result.failed() || ++failures_ > kShown) return;
    std::fprintf(stderr, "process %d of %d, %s (LIBRMA_TEST_SEED=%llu): %s:%d\n%s\n", multi::me(),
                 multi::ranks(), name, static_cast<unsigned long long>(multi::seed()),
                 result.file_name() != nullptr ? result.file_name() : "?", result.line_number(),
                 result.message());
  }

  static constexpr int kShown = 10;
  // Noted where a test starts: GoogleTest holds the lock of current_test_info() when it reports a failure.
  std::string test_;
  int failures_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Failures);

  ARMCI_Init_args(&argc, &argv);
  int failed = RUN_ALL_TESTS();
  const auto& unit = *testing::UnitTest::GetInstance();
  if (unit.test_to_run_count() == 0) failed = 1;  // a filter that fits nothing tests nothing
  int failed_processes = 0;
  rma_allreduce(rma_team_world(), &failed_processes, &failed, 1, RMA_INT, RMA_SUM);
  if (multi::me() == 0) {
    std::printf("%d tests, %d skipped, on %d processes, failed on %d (LIBRMA_TEST_SEED=%llu)\n",
                unit.test_to_run_count(), unit.skipped_test_count(), multi::ranks(), failed_processes,
                static_cast<unsigned long long>(multi::seed()));
  }
  ARMCI_Finalize();
  return failed_processes == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
