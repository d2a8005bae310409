#include "failures.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "harness.hpp"

namespace multi {
namespace {

/// The number of failures that a process prints for one test.
constexpr int kShown = 5;

class Failures : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    where_ = "rank " + std::to_string(me()) + " of " + std::to_string(ranks()) + ", " +
             test.test_suite_name() + "." + test.name() + " (" + conditions() + "): ";
    failures_ = 0;
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    const std::lock_guard guard(lock_);  // several threads of a test may fail at once
    if (result.skipped() && me() == 0) std::printf("%sskipped: %s\n", where_.c_str(), result.message());
    if (!result.failed() || ++failures_ > kShown) return;
    const std::string text = where_ + (result.file_name() != nullptr ? result.file_name() : "?") + ":" +
                             std::to_string(result.line_number()) + "\n" + result.message() + "\n";
    std::fputs(text.c_str(), stderr);
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    if (failures_ <= kShown) return;
    std::fputs((where_ + std::to_string(failures_ - kShown) + " failures more\n").c_str(), stderr);
  }

  // The name is noted when a test starts: GoogleTest holds the lock of current_test_info() when it reports a
  // failure.
  std::string where_;
  std::mutex lock_;
  int failures_ = 0;
};

}  // namespace

std::string conditions() {
  const int fewer = fewer_rounds();
  return "LIBRMA_TEST_SEED=" + std::to_string(seed()) +
         (fewer == 1 ? "" : ", 1/" + std::to_string(fewer) + " of the rounds on one host");
}

int run_tests(int& failed) {
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Failures);
  failed = RUN_ALL_TESTS();
  if (unit.test_to_run_count() == 0) failed = 1;  // a filter that selects no test is an error
  return unit.test_to_run_count() - unit.skipped_test_count();
}

}  // namespace multi
