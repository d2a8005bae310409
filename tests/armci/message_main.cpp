// Runs the tests on every process of the job. A process prints only its failures; all fail when one does.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "message_values.hpp"

namespace {

class Failures : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override { test_ = test.name(); }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed() || ++failures_ > kShown) return;
    std::fprintf(stderr, "process %d of %d, %s (LIBRMA_TEST_SEED=%llu): %s:%d\n%s\n", multi::me(),
                 multi::ranks(), test_.c_str(), static_cast<unsigned long long>(multi::seed()),
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

  // As clients do that know of no other messages.
  armci_msg_init(&argc, &argv);
  ARMCI_Init();
  int failed = RUN_ALL_TESTS();
  const int run = testing::UnitTest::GetInstance()->test_to_run_count();
  if (run == 0) failed = 1;  // a filter that fits nothing tests nothing
  armci_msg_igop(&failed, 1, armci_test::spelled("+"));
  if (multi::me() == 0) {
    std::printf("%d tests on %d processes, failed on %d (LIBRMA_TEST_SEED=%llu)\n", run, multi::ranks(),
                failed, static_cast<unsigned long long>(multi::seed()));
  }
  ARMCI_Finalize();
  armci_msg_finalize();
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
