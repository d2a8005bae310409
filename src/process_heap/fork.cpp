#include "process_heap/fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "process_heap/range.hpp"
#include "util/system/interruptions.hpp"

namespace librma::process_heap {
namespace {

/// A pipe whose writing end only the child keeps, until it has copied or has died. Without descriptors for
/// it, the parent does not wait, and the child may copy what its parent has stored after the fork.
constinit std::array<int, 2> pipe_ends = {-1, -1};

void close_end(int& end) noexcept {
  if (end >= 0) ::close(end);
  end = -1;
}

void before_fork() {
  if (range.owned()) return;
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) pipe_ends = {-1, -1};
}

void after_fork_in_parent() {
  if (range.owned()) return;
  const int error_number = errno;
  int& reading = pipe_ends[0];
  int& writing = pipe_ends[1];
  close_end(writing);
  if (reading >= 0) {
    char byte = 0;
    static_cast<void>(uninterrupted([&] { return ::read(reading, &byte, sizeof byte); }));
  }
  close_end(reading);
  errno = error_number;
}

void after_fork_in_child() {
  // The child's own children get copies from the system, because nothing is shared any more.
  if (range.owned()) return;
  auto& [reading, writing] = pipe_ends;
  close_end(reading);
  range.own_after_fork();
  close_end(writing);
}

}  // namespace

void copy_at_fork() noexcept {
  if (const int error = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
      error != 0) {
    say("children that the program forks share its memory", error);
  }
}

}  // namespace librma::process_heap
