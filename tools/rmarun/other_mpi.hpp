#pragma once

#include <string>
#include <vector>

#include "rmarun/environment.hpp"
#include "rmarun/personality.hpp"
#include "util/system/descriptor.hpp"

namespace rmarun {

/// Notices that Open MPI's or MPICH's own library is loaded while a job runs that was not given librma's: by
/// a program that a shell or an interpreter has started, or by a plugin. rmarun cannot know that before.
class OtherMpi {
 public:
  /// Begins to watch the libraries that a rank with this environment would load. Later calls do nothing. A
  /// library that does not exist, or that the system refuses to watch, is not noticed.
  void watch(const Environment& environment);
  /// Returns what to tell the user if a process has opened one of them since, and else an empty text.
  [[nodiscard]] std::string advice() const;

 private:
  void watch(const std::string& library, const Personality& instead, const Environment& environment);

  struct Watched {
    int number;  ///< of the watch
    std::string path;
    const Personality* instead;
  };
  librma::Descriptor events_;
  std::vector<Watched> watched_;
};

}  // namespace rmarun
