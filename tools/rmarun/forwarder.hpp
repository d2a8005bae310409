#pragma once

#include <poll.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "rmarun/output.hpp"
#include "rmarun/spawn.hpp"

namespace rmarun {

/// Carries what the ranks write to rmarun's own stdout and stderr, line by line.
///
/// One turn: add_polls(), poll(2), handle() with the same entries.
class Forwarder {
 public:
  /// `label`: each line starts with "[rank] ". `ranks`: with more than one, each last line ends with a
  /// newline.
  Forwarder(int ranks, bool label)
      : ranks_(ranks), label_(label), outlet_(std::array{STDOUT_FILENO, STDERR_FILENO}) {}

  void add_rank(int rank, Descriptor out, Descriptor err);

  /// A line of rmarun's own, to stderr.
  void say(std::string_view text);

  void add_polls(std::vector<pollfd>& polls) const;
  /// False when stdout has no reader any more.
  bool handle(const std::vector<pollfd>& polls);

  /// No rank writes any more: takes what is left in the pipes, and what a missing newline held back.
  void drain();
  /// Nothing is left to be written.
  [[nodiscard]] bool empty() const { return outlet_.empty(); }

 private:
  struct Source {
    Descriptor from;
    Outlet::Stream to;
    LineAssembler lines;
  };

  /// Reads once. False when there is nothing to read now, or nothing more ever.
  bool read_some(Source& source);

  int ranks_;
  bool label_;
  Outlet outlet_;
  std::vector<Source> sources_;
};

}  // namespace rmarun
