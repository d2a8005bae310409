#include "rmarun/processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Returns how often this process has called read(2), or 0 if the system does not count.
long reads() {
  std::ifstream file("/proc/self/io");
  for (std::string word; file >> word;) {
    long count = 0;
    if (word == "syscr:" && file >> count) return count;
  }
  return 0;
}

TEST(Processes, WithoutChildrenNoOtherProcessIsLookedAt) {
  const long before = reads();
  if (before == 0) GTEST_SKIP() << "no /proc/self/io";
  EXPECT_THAT(rmarun::descendants(), IsEmpty());
  rmarun::signal_descendants(SIGTERM);
  constexpr long kOfReadsItself = 3;
  EXPECT_LE(reads() - before, kOfReadsItself);
}

TEST(Processes, AChildAndItsChildAreFoundAndKilled) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t grandchild = ::fork();
    if (grandchild == 0) ::pause();
    [[maybe_unused]] const auto written = ::write(ends[1], &grandchild, sizeof grandchild);
    ::pause();
  }
  pid_t grandchild = 0;
  ASSERT_EQ(::read(ends[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  EXPECT_THAT(rmarun::descendants(), ElementsAre(child, grandchild));
  rmarun::kill_descendants();
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
