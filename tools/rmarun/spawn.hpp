#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace rmarun {

/// A file descriptor that is closed when this ends.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }
  void reset() noexcept;

 private:
  int descriptor_ = -1;
};

/// How to start one rank.
struct SpawnRequest {
  const std::vector<std::string>& command;
  std::vector<std::string> environment;  ///< all of it, as NAME=VALUE
  bool takes_stdin = false;              ///< gets rmarun's stdin, else /dev/null
  const cpu_set_t* cores = nullptr;      ///< where it may run, or null for anywhere
  rlimit descriptors{};                  ///< its limit of open files
};

/// A started rank, or why it could not be started.
struct Spawned {
  pid_t pid = -1;
  int error = 0;         ///< errno of what failed
  bool at_exec = false;  ///< it was executing the program that failed, not the machine
  Descriptor out;        ///< what it writes to stdout, nonblocking
  Descriptor err;        ///< what it writes to stderr, nonblocking
};

/// Starts a rank in a process group of its own, to be killed by the system when this process ends.
Spawned spawn(const SpawnRequest& request);

}  // namespace rmarun
