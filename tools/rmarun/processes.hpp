#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rmarun {

/// All processes below this one in the process tree. Complete for whoever is a child subreaper
/// (PR_SET_CHILD_SUBREAPER): no process can leave the tree by losing its parent, whatever group or session it
/// opens.
std::vector<pid_t> descendants();

/// "signal 9 (Killed)".
std::string describe_signal(int signal);

/// Whether `pid`, which is not reaped yet, is on its way out: its end is decided, though waitpid(2) may not
/// tell of it for a while.
bool is_ending(pid_t pid);

/// Sends `signal` to every descendant. One that is being born meanwhile may be missed: repeat until none is
/// left.
void signal_descendants(int signal);

/// Kills and reaps descendants until there are none.
void kill_descendants();

/// A directory of this job alone, under $TMPDIR, else /tmp.
///
/// The name is chosen before the directory is made, and is too random to be anybody else's. So a process that
/// knows the name can remove the directory whether or not the process that was to make it lived to say so.
class TemporaryDirectory {
 public:
  /// Chooses a name.
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { remove(); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Makes it, for this user only. False, and errno, when that failed.
  [[nodiscard]] bool make() const;
  /// Removes it with all that is in it. May be repeated, here or in a forked process.
  void remove() const;
  /// Removes it once this process has ended, for one whose threads may be making files in it.
  void remove_afterwards() const;

 private:
  std::string path_;
};

}  // namespace rmarun
