#include "util/system/interruptions.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "util/system/file_memory.hpp"

namespace {

/// The kernel before Linux 6.16, in a storm of signals: fallocate() ends with EINTR unless signals are held
/// back.
std::atomic<bool> storm = false;
std::atomic<int> interrupted = 0;

/// Returns whether a call is to end as if a signal had interrupted it.
bool interrupts() {
  if (!storm.load()) return false;
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  if (sigismember(&blocked, SIGALRM) == 1) return false;
  interrupted.fetch_add(1);
  errno = EINTR;
  return true;
}

}  // namespace

// In place of the C library's, for this whole program.
extern "C" int fallocate(int file, int mode, off_t offset, off_t bytes) {
  if ((mode & FALLOC_FL_PUNCH_HOLE) == 0 && interrupts()) return -1;
  return static_cast<int>(syscall(SYS_fallocate, file, mode, offset, bytes));
}

namespace librma {
namespace {

TEST(Uninterrupted, MakesTheCallAgain) {
  int calls = 0;
  const auto third = [&calls] {
    errno = EINTR;
    return ++calls < 3 ? -1 : 7;
  };
  EXPECT_EQ(uninterrupted(third), 7);
  EXPECT_EQ(calls, 3);
}

TEST(Uninterrupted, ReturnsOtherFailuresAtOnce) {
  int calls = 0;
  const auto refused = [&calls] {
    ++calls;
    errno = EAGAIN;
    return -1L;
  };
  EXPECT_EQ(uninterrupted(refused), -1L);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(calls, 1);
}

volatile std::sig_atomic_t handled = 0;

TEST(SignalsHeldBack, RunTheirHandlersAfterwards) {
  struct sigaction before {};
  struct sigaction action {};
  action.sa_handler = [](int) { handled = handled + 1; };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  {
    const SignalsHeldBack held_back;
    ASSERT_EQ(raise(SIGUSR1), 0);
    EXPECT_EQ(handled, 0);
    errno = ENOTTY;
  }
  EXPECT_EQ(errno, ENOTTY);
  EXPECT_EQ(handled, 1);
  ASSERT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(handled, 2);
  ASSERT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST(FileMemory, IsTakenHoweverManySignalsCome) {
  const int file = memfd_create("rma-test", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  constexpr std::size_t kBytes = std::size_t{1} << 20U;
  ASSERT_EQ(ftruncate(file, 2 * kBytes), 0);
  storm.store(true);
  EXPECT_EQ(take_file_memory(file, 0, kBytes), 0);
  storm.store(false);
  EXPECT_GT(interrupted.load(), 0) << "the test tests nothing";
  struct stat about {};
  ASSERT_EQ(fstat(file, &about), 0);
  EXPECT_EQ(about.st_blocks * 512, static_cast<blkcnt_t>(kBytes));
  EXPECT_EQ(about.st_size, static_cast<off_t>(2 * kBytes)) << "the size stays";
  give_file_memory(file, 0, kBytes);
  ASSERT_EQ(fstat(file, &about), 0);
  EXPECT_EQ(about.st_blocks, 0);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGALRM), 0);
  close(file);
}

TEST(FileMemory, SaysWhyThereIsNone) { EXPECT_EQ(take_file_memory(-1, 0, 4096), EBADF); }

}  // namespace
}  // namespace librma
