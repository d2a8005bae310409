#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rmarun {

/// Returns all processes below this one in the process tree. If this process is a child subreaper
/// (PR_SET_CHILD_SUBREAPER), the list is complete: no process can leave the tree by losing its parent, in any
/// group or session.
std::vector<pid_t> descendants();

/// Returns a text such as "signal 9 (Killed)".
std::string describe_signal(int signal);

/// Returns whether `pid`, which is not reaped yet, is ending: the system has decided its end, though
/// waitpid(2) may not report it for a while.
bool is_ending(pid_t pid);

/// Returns the state of a process as proc(5) names it, such as 'R', or 0 if the process does not exist any more.
char process_state(pid_t pid);

/// Sends `signal` to every descendant. It may miss one that is just being created: repeat until none is left.
void signal_descendants(int signal);

/// Kills and reaps descendants until there are none.
void kill_descendants();

/// A directory of this job alone, under $TMPDIR, else /tmp.
///
/// The constructor chooses the name before the directory is made. The name is random enough to be unique. So
/// a process that knows the name can remove the directory even if the process that makes it is killed.
class TemporaryDirectory {
 public:
  /// Chooses a name.
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { remove(); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Makes it, for this user only. Returns false and sets errno on failure.
  [[nodiscard]] bool make() const;
  /// Removes it with its contents. The call may be repeated, here or in a forked process.
  void remove() const;
  /// Removes it after this process has ended, for a process whose threads may still be making files in it.
  void remove_afterwards() const;

 private:
  std::string path_;
};

}  // namespace rmarun
