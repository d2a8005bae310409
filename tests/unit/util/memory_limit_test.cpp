#include "util/system/memory_limit.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "../../scratch_directory.hpp"

namespace librma {
namespace {

/// A file system that has only the few files that are read.
class ControlGroup : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_.path() / file).parent_path());
    std::ofstream(root_.path() / file) << text << '\n';
  }
  [[nodiscard]] std::uint64_t limit() const { return control_group_limit(root_.path()).bytes; }
  /// The file that says what the group of the lowest limit uses, below the directory of control groups.
  [[nodiscard]] std::string usage() const {
    const std::filesystem::path file = control_group_limit(root_.path()).usage;
    return file.empty() ? "" : file.lexically_relative(root_.path() / "sys/fs/cgroup").string();
  }

  ScratchDirectory root_;
};

TEST_F(ControlGroup, NoneIsNoLimit) {
  EXPECT_EQ(limit(), UINT64_MAX);
  write("proc/self/cgroup", "0::/user\nnonsense\n7:");
  EXPECT_EQ(limit(), UINT64_MAX);
  write("sys/fs/cgroup/user/memory.max", "max");
  EXPECT_EQ(limit(), UINT64_MAX);
  EXPECT_EQ(usage(), "");
}

TEST_F(ControlGroup, TheLowestOfAllAroundCounts) {
  write("proc/self/cgroup", "0::/jobs/mine/step");
  write("sys/fs/cgroup/jobs/memory.max", "5000000");
  write("sys/fs/cgroup/jobs/mine/memory.max", "3000000");
  write("sys/fs/cgroup/jobs/mine/step/memory.max", "max");
  EXPECT_EQ(limit(), 3000000U);
  EXPECT_EQ(usage(), "jobs/mine/memory.current");
  write("sys/fs/cgroup/jobs/memory.max", "1000000");
  EXPECT_EQ(limit(), 1000000U);
  write("sys/fs/cgroup/others/memory.max", "5");
  EXPECT_EQ(limit(), 1000000U);
}

TEST_F(ControlGroup, OfTheFirstVersionToo) {
  write("proc/self/cgroup", "4:cpu,memory:/a/b\n3:memoryless:/c\n0::/");
  write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712");
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4096000");
  write("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "5");
  EXPECT_EQ(limit(), 4096000U);
  EXPECT_EQ(usage(), "memory/a/memory.usage_in_bytes");
}

TEST_F(ControlGroup, AContainersOwnIsTheMount) {
  write("proc/self/cgroup", "0::/system.slice/container-1234");
  write("sys/fs/cgroup/memory.max", "2000000");
  EXPECT_EQ(limit(), 2000000U);
  EXPECT_EQ(usage(), "memory.current");
}

TEST(UsableMemory, IsNoMoreThanTheMachines) {
  const auto machine =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_GT(usable_memory(), 0U);
  EXPECT_LE(usable_memory(), machine);
}

}  // namespace
}  // namespace librma
