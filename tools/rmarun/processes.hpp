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

/// A directory that is removed, with what is in it, when this ends in the process that made it.
class TemporaryDirectory {
 public:
  /// Makes one under $TMPDIR, else /tmp. path() is empty and errno set when that failed.
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  pid_t owner_;
};

}  // namespace rmarun
