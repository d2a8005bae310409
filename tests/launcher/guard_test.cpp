#include "rmarun/guard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "rmarun/spawn.hpp"

namespace {

using testing::HasSubstr;
using testing::Not;

/// A guard in a process of its own. Its job hangs, and so does a process below the job; only SIGKILL ends
/// that.
class StuckJob {
 public:
  explicit StuckJob(std::optional<double> timeout_seconds) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    out_ = rmarun::Descriptor(ends[0]);
    rmarun::Descriptor in(ends[1]);
    guard_ = ::fork();
    if (guard_ != 0) return;
    ::dup2(in.get(), STDERR_FILENO);
    in.reset();
    ::_exit(rmarun::run_guarded(timeout_seconds, [](rmarun::Progress&) -> int {
      if (::fork() == 0) hang();
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, "stuck\n", 6);
      hang();
    }));
  }

  void signal(int number) const { ::kill(guard_, number); }

  /// Returns the next line. After the end of all processes, which hold the pipe, it is the rest of the
  /// output.
  std::string line() const {
    std::string read;
    for (char byte = 0; ::read(out_.get(), &byte, 1) == 1 && byte != '\n';) read += byte;
    return read;
  }

  bool running() { return ::waitpid(guard_, &status_, WNOHANG) == 0; }
  int exit_code() {
    while (running()) ::usleep(1000);
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

 private:
  /// Never ends by itself: run_guarded() has blocked the signals that ask it to end.
  [[noreturn]] static int hang() {
    while (true) ::pause();
  }

  rmarun::Descriptor out_;
  pid_t guard_ = -1;
  int status_ = 0;
};

TEST(Guard, EndsAStuckJobSomeTimeAfterTheFirstSignal) {
  StuckJob job(std::nullopt);
  EXPECT_EQ(job.line(), "stuck");
  job.signal(SIGTERM);
  EXPECT_THAT(job.line(), HasSubstr("signal 15 (Terminated) has not ended the job"));
  EXPECT_EQ(job.line(), "");
  EXPECT_EQ(job.exit_code(), 128 + SIGTERM);
}

TEST(Guard, EndsAStuckJobAtOnceOnTheSecondSignal) {
  StuckJob job(std::nullopt);
  EXPECT_EQ(job.line(), "stuck");
  while (job.running()) {
    job.signal(SIGINT);
    ::usleep(1000);
  }
  EXPECT_THAT(job.line(), HasSubstr("signal 2 (Interrupt) came while the job was being ended"));
  EXPECT_EQ(job.line(), "");
  EXPECT_EQ(job.exit_code(), 128 + SIGINT);
}

TEST(Guard, EndsAStuckJobSomeTimeAfterTheTimeLimit) {
  StuckJob job(0.001);
  EXPECT_EQ(job.line(), "stuck");
  EXPECT_THAT(job.line(), HasSubstr("the time limit has not ended the job"));
  EXPECT_EQ(job.line(), "");
  EXPECT_EQ(job.exit_code(), 124);
}

}  // namespace
