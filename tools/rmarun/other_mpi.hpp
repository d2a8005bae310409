#pragma once

#include <string>
#include <vector>

#include "rmarun/environment.hpp"
#include "rmarun/personality.hpp"
#include "util/system/descriptor.hpp"

namespace rmarun {

/// Notices that Open MPI's or MPICH's own library is loaded in a job that was not given librma's: by a
/// program that a shell or an interpreter has started, or by a plugin. rmarun cannot know that before.
///
/// The system tells of all processes that open the file. The owner calls look() then, which looks whether one
/// of the job's has.
class OtherMpi {
 public:
  /// Begins to watch the libraries that a rank with this environment would load. Later calls do nothing. A
  /// library that does not exist, or that the system refuses to watch, is not noticed.
  void watch(const Environment& environment);
  /// Returns a descriptor that becomes readable when a process has opened one of them; -1 if nothing is
  /// watched.
  [[nodiscard]] int news() const noexcept { return events_.get(); }
  /// Takes the news in, and notes the library that a process of the job uses.
  void look();
  /// Ends the watch.
  void stop() { events_ = {}; }
  /// Returns what to tell the user if look() has noted a library, and else an empty text.
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
  const Watched* loaded_ = nullptr;
};

}  // namespace rmarun
