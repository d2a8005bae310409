#pragma once

#include <poll.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "rmarun/output.hpp"
#include "rmarun/spawn.hpp"

namespace rmarun {

/// Carries the ranks' output to rmarun's own stdout and stderr, line by line.
///
/// A turn of the caller's loop calls add_polls(), poll(2), and handle() with the same entries.
class Forwarder {
 public:
  /// With `label`, each line starts with "[rank] ". With more than one rank, the forwarder adds a newline to
  /// a last line that lacks it.
  Forwarder(int ranks, bool label)
      : ranks_(ranks), label_(label), outlet_(std::array{STDOUT_FILENO, STDERR_FILENO}) {}

  void add_rank(int rank, Descriptor out, Descriptor err);

  /// Writes a line of rmarun's own to stderr.
  void say(std::string_view text);

  void add_polls(std::vector<pollfd>& polls) const;
  /// Returns false if stdout has no reader any more.
  bool handle(const std::vector<pollfd>& polls);

  /// Takes the rest of the pipes and the unfinished last lines. Call it when no rank writes any more.
  void drain();
  /// Returns whether everything has been written.
  [[nodiscard]] bool empty() const { return outlet_.empty(); }

 private:
  struct Source {
    Descriptor from;
    Outlet::Stream to;
    LineAssembler lines;
  };

  /// Reads once. Returns false if there is nothing to read now, or if the stream has ended.
  bool read_some(Source& source);

  int ranks_;
  bool label_;
  Outlet outlet_;
  std::vector<Source> sources_;
};

}  // namespace rmarun
