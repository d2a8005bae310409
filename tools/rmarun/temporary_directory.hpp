#pragma once

#include <string>

#include "rmarun/spawn.hpp"

namespace rmarun {

/// A directory of this job alone, under $TMPDIR, else /tmp.
///
/// The constructor chooses the name before the directory is made. The name is random enough to be unique. So
/// a process that knows the name can remove the directory even if the process that makes it is killed.
/// The process that makes it holds a lock on it as long as it lives. A directory that nobody has locked is
/// abandoned, and remove_abandoned() of any later rmarun of the same user removes it.
class TemporaryDirectory {
 public:
  /// Chooses a name.
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { remove(); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Makes it, for this user only. Returns false and sets errno on failure.
  [[nodiscard]] bool make();
  /// Removes it with its contents. The call may be repeated, here or in a forked process.
  void remove() const;
  /// Removes it after this process has ended, for a process whose threads may still be making files in it.
  void remove_afterwards() const;

  /// Removes the directories of jobs both of whose processes were killed: those of this user in the same
  /// place that no process has locked. Follows no symbolic links, and touches nothing that others could
  /// write to.
  void remove_abandoned() const;

 private:
  std::string place_;   ///< the directory in which it is
  std::string name_;    ///< its name there, which begins with prefix_
  std::string prefix_;  ///< which all such names have that were given since this machine was started
  std::string path_;
  Descriptor lock_;
};

}  // namespace rmarun
