#include "rmarun/spawn.hpp"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX's
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "util/system/interruptions.hpp"

namespace rmarun {
namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

/// Makes a pipe whose ends close on exec. On failure both ends are empty and errno is set.
Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The reason why a new process could not become the program.
struct Failure {
  int error = 0;
  bool at_directory = false;
};

/// The data that the new process needs. It is made before the fork: another thread may hold the allocator's
/// lock during the fork, so the child may only make system calls.
struct Child {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  int out = -1;
  int err = -1;
  int failure = -1;  ///< the descriptor to which a Failure is written
  const char* directory = nullptr;
  bool takes_stdin = false;
  bool own_group = true;
  const cpu_set_t* cores = nullptr;
  rlimit descriptors{};
  pid_t parent = 0;
};

[[noreturn]] void run_child(const Child& child) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != child.parent) ::_exit(1);  // the parent ended before the line above
  if (child.own_group) ::setpgid(0, 0);
  Failure failure;
  if (child.directory != nullptr && ::chdir(child.directory) != 0) {
    failure = {errno, true};
    [[maybe_unused]] const ssize_t written = ::write(child.failure, &failure, sizeof failure);
    ::_exit(1);
  }
  if (child.cores != nullptr) ::sched_setaffinity(0, sizeof *child.cores, child.cores);

  bool ready = ::dup2(child.out, STDOUT_FILENO) >= 0 && ::dup2(child.err, STDERR_FILENO) >= 0;
  if (!child.takes_stdin) {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ready = ready && null >= 0 && ::dup2(null, STDIN_FILENO) >= 0;
  }
  // This comes after all calls that open files: the limit may be below the numbers that are open here.
  ready = ready && ::setrlimit(RLIMIT_NOFILE, &child.descriptors) == 0;
  if (ready) {
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGXFSZ, SIG_DFL);
    // A rank in the foreground group would get the key press that asks rmarun what the ranks wait for.
    if (!child.own_group) ::signal(SIGQUIT, SIG_IGN);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvpe(child.arguments[0], child.arguments.data(), child.environment.data());
  }
  failure.error = errno;
  [[maybe_unused]] const ssize_t written = ::write(child.failure, &failure, sizeof failure);
  ::_exit(1);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  // The type of execve's argument lacks const, but execve does not write to it.
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

Spawned spawn(const SpawnRequest& request) {
  Spawned result;
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  Pipe failure = make_pipe();
  if (!out.read.open() || !err.read.open() || !failure.read.open()) {
    result.error = errno;
    return result;
  }

  Child child;
  child.arguments = pointers(request.command);
  child.environment = pointers(request.environment);
  child.out = out.write.get();
  child.err = err.write.get();
  child.failure = failure.write.get();
  child.directory = request.directory;
  child.takes_stdin = request.takes_stdin;
  // A terminal gives its input only to the foreground group, which is rmarun's.
  child.own_group = request.own_group && !(request.takes_stdin && ::isatty(STDIN_FILENO) != 0);
  child.cores = request.cores;
  child.descriptors = request.descriptors;
  child.parent = ::getpid();

  const pid_t pid = ::fork();
  if (pid == 0) run_child(child);
  if (pid < 0) {
    result.error = errno;
    return result;
  }
  failure.write.reset();
  // The pipe ends without data when exec has closed its other end.
  Failure why;
  const ssize_t got = librma::uninterrupted([&] { return ::read(failure.read.get(), &why, sizeof why); });
  if (got == static_cast<ssize_t>(sizeof why)) {
    static_cast<void>(librma::uninterrupted([&] { return ::waitpid(pid, nullptr, 0); }));
    result.error = why.error;
    result.at_directory = why.at_directory;
    result.at_exec = !why.at_directory;
    return result;
  }
  result.pid = pid;
  ::fcntl(out.read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(err.read.get(), F_SETFL, O_NONBLOCK);
  result.out = std::move(out.read);
  result.err = std::move(err.read);
  return result;
}

std::string_view read_once(Descriptor& pipe, std::span<char> buffer) {
  const ssize_t count =
      librma::uninterrupted([&] { return ::read(pipe.get(), buffer.data(), buffer.size()); });
  if (count > 0) return {buffer.data(), static_cast<std::size_t>(count)};
  if (count == 0 || errno != EAGAIN) pipe.reset();
  return {};
}

}  // namespace rmarun
