#pragma once

#include <string>

#include "rmarun/environment.hpp"
#include "util/system/descriptor.hpp"

namespace rmarun {

/// Notices that Open MPI's own libmpi.so.40 is loaded while a job runs that was not given librma's: by a
/// program that a shell or an interpreter has started, or by a plugin. rmarun cannot know that before.
class OtherMpi {
 public:
  /// Begins to watch the libmpi.so.40 that a rank with this environment would load. Later calls do nothing.
  /// If no such file exists, or the system refuses the watch, opened() returns an empty text.
  void watch(const Environment& environment);
  /// Returns the file's path if a process has opened it since, and else an empty text.
  [[nodiscard]] std::string opened() const;

 private:
  librma::Descriptor events_;
  std::string path_;
};

}  // namespace rmarun
