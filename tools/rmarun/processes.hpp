#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rmarun {

/// All processes below this one in the process tree. Complete for whoever is a child subreaper
/// (PR_SET_CHILD_SUBREAPER): no process can leave the tree by losing its parent, whatever group or session it
/// opens.
std::vector<pid_t> descendants();

/// Sends `signal` to every descendant. One that is being born meanwhile may be missed: repeat until none is
/// left.
void signal_descendants(int signal);

/// Kills and reaps descendants until there are none.
void kill_descendants();

/// A directory of this job alone.
class TemporaryDirectory {
 public:
  /// Makes one under $TMPDIR, else /tmp. path() is empty and errno set when that failed.
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { remove(); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Removes it with all that is in it. May be repeated, here or in a forked process.
  void remove() const;

 private:
  std::string path_;
};

}  // namespace rmarun
