#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "rmarun/merger.hpp"
#include "rmarun/output.hpp"
#include "rmarun/spawn.hpp"
#include "rmarun/verdict.hpp"

namespace rmarun {

/// Why a stream of rmarun's cannot be written.
struct OutputFailure {
  Outlet::Stream stream = Outlet::kOut;
  int error = 0;  ///< errno of write(2)

  /// Returns how the job ends. Returns nothing if nobody reads stderr: the job goes on then, as a program
  /// would without rmarun.
  [[nodiscard]] std::optional<Verdict> verdict() const;
};

/// Carries the ranks' output to rmarun's own stdout and stderr.
///
/// A turn of the caller's loop calls add_polls(), poll(2), and handle() with the same entries.
class Forwarder {
 public:
  using Clock = Merger::Clock;

  /// With `label`, each line starts with "[rank] ".
  Forwarder(int ranks, bool label);
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  void add_rank(int rank, Descriptor out, Descriptor err);
  /// Adds a rank whose output the caller brings by feed(), in the order of the ranks from 0.
  void add_remote_rank(int rank) { add_rank(rank, Descriptor(), Descriptor()); }
  void feed(int rank, Outlet::Stream from, std::string_view piece);
  /// Whether so much output waits for its readers that no more should come.
  [[nodiscard]] bool full() const { return outlet_.full(); }

  /// Writes a line of rmarun's own to stderr.
  void say(std::string_view text);

  void add_polls(std::vector<pollfd>& polls) const;
  /// When to call handle() even if poll(2) reports nothing.
  [[nodiscard]] std::optional<Clock::time_point> next_look() const;
  /// Returns nothing, or why the output cannot go on: it is lost from here.
  std::optional<OutputFailure> handle(const std::vector<pollfd>& polls);

  /// Takes the rest of the pipes and the unfinished last lines. Call it when no rank writes any more.
  void drain();
  /// Returns whether everything has been written.
  [[nodiscard]] bool empty() const { return outlet_.empty(); }

 private:
  struct Source {
    Descriptor from;
    Merger* to = nullptr;
    std::size_t stream = 0;
  };

  /// Reads once. Returns false if there is nothing to read now, or if the stream has ended.
  bool read_some(Source& source);
  void add_source(int rank, Descriptor from, Outlet::Stream to);

  bool label_;
  bool one_file_;  ///< stdout and stderr are the same file, so all output takes one way
  Outlet outlet_;
  std::array<Merger, 2> mergers_;  ///< for stdout and stderr
  std::vector<Source> sources_;
};

}  // namespace rmarun
