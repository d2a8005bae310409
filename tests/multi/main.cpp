// Runs the tests on every rank of the job. A rank prints only its failures; all ranks fail when one does.

#include <gtest/gtest.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "harness.hpp"

namespace {

/// Of one test, a rank prints this many failures.
constexpr int kShown = 5;

/// What the loops of the tests follow from.
std::string conditions() {
  const int fewer = multi::fewer_rounds();
  return "LIBRMA_TEST_SEED=" + std::to_string(multi::seed()) +
         (fewer == 1 ? "" : ", 1/" + std::to_string(fewer) + " of the rounds on one host");
}

class Failures : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    where_ = "rank " + std::to_string(rma_rank()) + " of " + std::to_string(rma_size()) + ", " +
             test.test_suite_name() + "." + test.name() + " (" + conditions() + "): ";
    failures_ = 0;
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const std::lock_guard guard(lock_);  // threads of a test fail at once
    if (++failures_ > kShown) return;
    const std::string text = where_ + (result.file_name() != nullptr ? result.file_name() : "?") + ":" +
                             std::to_string(result.line_number()) + "\n" + result.message() + "\n";
    std::fputs(text.c_str(), stderr);
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    if (failures_ <= kShown) return;
    std::fputs((where_ + std::to_string(failures_ - kShown) + " failures more\n").c_str(), stderr);
  }

  // Noted where a test starts: GoogleTest holds the lock of current_test_info() when it reports a failure.
  std::string where_;
  std::mutex lock_;
  int failures_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Failures);

  if (rma_init() != RMA_SUCCESS) {
    std::fprintf(stderr, "rma_init: %s\n", rma_last_error());
    return 1;
  }
  int failed = RUN_ALL_TESTS();
  const int run = testing::UnitTest::GetInstance()->test_to_run_count();
  if (run == 0) failed = 1;  // a filter that fits nothing tests nothing

  int failed_ranks = 0;
  if (rma_allreduce(rma_team_world(), &failed_ranks, &failed, 1, RMA_INT, RMA_SUM) != RMA_SUCCESS) {
    std::fprintf(stderr, "rma_allreduce: %s\n", rma_last_error());
    failed_ranks = 1;
  }
  if (rma_rank() == 0) {
    std::printf("%d tests on %d ranks, failed on %d\n", run, rma_size(), failed_ranks);
    if (multi::fewer_rounds() != 1) std::printf("%s\n", conditions().c_str());
  }
  if (rma_finalize() != RMA_SUCCESS) {
    std::fprintf(stderr, "rma_finalize: %s\n", rma_last_error());
    return 1;
  }
  return failed_ranks == 0 ? 0 : 1;
}
