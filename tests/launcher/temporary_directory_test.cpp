#include "rmarun/temporary_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "../scratch_directory.hpp"

namespace {

namespace fs = std::filesystem;
using rmarun::TemporaryDirectory;

/// Directories in a TMPDIR of the test's own.
class TemporaryDirectoryTest : public testing::Test {
 protected:
  TemporaryDirectoryTest() { ::setenv("TMPDIR", place_.path().c_str(), 1); }
  ~TemporaryDirectoryTest() override { ::unsetenv("TMPDIR"); }
  TemporaryDirectoryTest(const TemporaryDirectoryTest&) = delete;
  TemporaryDirectoryTest& operator=(const TemporaryDirectoryTest&) = delete;

  /// Makes the directory with a file in it, and no lock.
  static void leave(const TemporaryDirectory& directory) {
    fs::create_directory(directory.path());
    fs::permissions(directory.path(), fs::perms::owner_all);
    fs::create_directories(directory.path() + "/a/b");
    std::ofstream(directory.path() + "/a/b/file") << "text";
  }

  ScratchDirectory place_;
};

TEST_F(TemporaryDirectoryTest, IsMadeForThisUserAndRemoved) {
  TemporaryDirectory directory;
  ASSERT_TRUE(directory.make());
  EXPECT_EQ(fs::status(directory.path()).permissions(), fs::perms::owner_all);
  EXPECT_FALSE(directory.make()) << "the name is taken";
  EXPECT_EQ(errno, EEXIST);
  directory.remove();
  EXPECT_FALSE(fs::exists(directory.path()));
  directory.remove();
}

TEST_F(TemporaryDirectoryTest, RemovesWhatKilledProcessesHaveLeft) {
  // The process that has made it is killed, and so is the lock.
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t process = ::fork();
  if (process == 0) {
    TemporaryDirectory directory;
    const bool made = directory.make();
    std::ofstream(directory.path() + "/file") << "text";
    [[maybe_unused]] const auto written =
        ::write(ends[1], directory.path().c_str(), made ? directory.path().size() : 0);
    while (true) ::pause();
  }
  std::string path(4096, '\0');
  const ssize_t size = ::read(ends[0], path.data(), path.size());
  ASSERT_GT(size, 0);
  path.resize(static_cast<std::size_t>(size));
  TemporaryDirectory later;
  ASSERT_TRUE(later.make());
  later.remove_abandoned();
  EXPECT_TRUE(fs::exists(path)) << "its owner lives";
  EXPECT_TRUE(fs::exists(later.path())) << "it is the own one";
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  later.remove_abandoned();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(later.path()));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(TemporaryDirectoryTest, LeavesOtherNamesAlone) {
  const TemporaryDirectory later;
  const std::string name = fs::path(later.path()).filename();
  // Another start of the machine, a longer name, another program.
  for (const std::string& other :
       {"rmarun-00000000" + name.substr(15), name + "0", std::string("something")}) {
    fs::create_directory(place_.path() / other);
    fs::permissions(place_.path() / other, fs::perms::owner_all);
    later.remove_abandoned();
    EXPECT_TRUE(fs::exists(place_.path() / other)) << other;
  }
}

TEST_F(TemporaryDirectoryTest, LeavesLinksAndSharedDirectoriesAlone) {
  const TemporaryDirectory later;
  fs::create_directory(place_.path() / "target");
  fs::permissions(place_.path() / "target", fs::perms::owner_all);
  std::ofstream(place_.path() / "target" / "precious") << "text";
  const TemporaryDirectory link;
  fs::create_directory_symlink(place_.path() / "target", link.path());
  const TemporaryDirectory shared;
  leave(shared);
  fs::permissions(shared.path(), fs::perms::owner_all | fs::perms::group_all);
  later.remove_abandoned();
  EXPECT_TRUE(fs::exists(place_.path() / "target" / "precious"));
  EXPECT_TRUE(fs::is_symlink(link.path()));
  EXPECT_TRUE(fs::exists(shared.path() + "/a/b/file"));
}

TEST_F(TemporaryDirectoryTest, FollowsNoLinkOutOfTheDirectory) {
  const TemporaryDirectory later;
  fs::create_directory(place_.path() / "target");
  std::ofstream(place_.path() / "target" / "precious") << "text";
  const TemporaryDirectory old;
  leave(old);
  fs::create_directory_symlink(place_.path() / "target", old.path() + "/a/link");
  later.remove_abandoned();
  EXPECT_FALSE(fs::exists(old.path()));
  EXPECT_TRUE(fs::exists(place_.path() / "target" / "precious"));
}

TEST_F(TemporaryDirectoryTest, LeavesAnotherUsersDirectoriesAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const TemporaryDirectory later;
  const TemporaryDirectory theirs;
  leave(theirs);
  ASSERT_EQ(::chown(theirs.path().c_str(), 54321, 54321), 0);
  later.remove_abandoned();
  EXPECT_TRUE(fs::exists(theirs.path() + "/a/b/file"));
}

}  // namespace
