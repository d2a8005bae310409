#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace rmarun {

/// Makes whole lines of the pieces in which one stream of one rank arrives, each with `prefix` in front.
class LineAssembler {
 public:
  /// A line that grows past this is passed on in pieces; it bounds what a rank can make the launcher keep.
  static constexpr size_t kLongestLine = size_t{16} << 20;

  explicit LineAssembler(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Takes the next piece and appends to `lines` what is complete now.
  void feed(std::string_view piece, std::string& lines);

  /// The stream has ended: appends what is left. `complete` gives it the newline it lacks, for a stream whose
  /// neighbours' lines may follow.
  void finish(std::string& lines, bool complete);

 private:
  void emit(std::string_view rest, std::string& lines);

  std::string prefix_;
  std::string partial_;
  bool inside_line_ = false;  ///< the current line's prefix has gone out already
};

/// Writes two streams of lines, stdout and stderr, which may be the same file, without ever blocking on a
/// reader who does not read: the owner polls the descriptors and calls write_some() for those that are
/// writable.
class Outlet {
 public:
  enum Stream { kOut = 0, kErr = 1 };

  explicit Outlet(std::array<int, 2> descriptors) : descriptors_(descriptors) {}

  /// Where to append lines for `stream`.
  std::string& queue(Stream stream) { return queues_[stream]; }

  /// Whether there is something to write to `stream` now. Not while the other one is inside a line.
  [[nodiscard]] bool wants(Stream stream) const;
  [[nodiscard]] int descriptor(Stream stream) const { return descriptors_[stream]; }
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool empty() const { return queues_[kOut].empty() && queues_[kErr].empty(); }

  /// Writes as much as a pipe that is writable takes without blocking. False when nobody reads `stream` any
  /// more; what goes there is dropped from then on.
  bool write_some(Stream stream);

 private:
  void drop(Stream stream);

  std::array<int, 2> descriptors_;
  std::array<std::string, 2> queues_;
  std::array<size_t, 2> written_{};    ///< how much of the queue's front has been written
  std::array<bool, 2> closed_{};       ///< writing failed
  std::array<bool, 2> inside_line_{};  ///< the last byte written was not a newline
};

}  // namespace rmarun
