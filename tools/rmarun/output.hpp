#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace rmarun {

/// Joins the pieces in which one stream of one rank arrives into whole lines, each with `prefix` in front.
class LineAssembler {
 public:
  /// A longer line is passed on in pieces. This bounds the memory that a rank can make the launcher keep.
  static constexpr size_t kLongestLine = size_t{16} << 20;

  explicit LineAssembler(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Takes the next piece and appends the lines that are now complete to `lines`.
  void feed(std::string_view piece, std::string& lines);

  /// Takes the end of the stream and appends the rest. With `complete`, it adds the newline that the last
  /// line lacks, because lines of other streams may follow.
  void finish(std::string& lines, bool complete);

 private:
  void emit(std::string_view rest, std::string& lines);

  std::string prefix_;
  std::string partial_;
  bool inside_line_ = false;  ///< the prefix of the current line has been passed on
};

/// Writes two streams of lines, stdout and stderr, which may be the same file. It never blocks if a reader
/// does not read: the owner polls the descriptors and calls write_some() for those that are writable.
class Outlet {
 public:
  enum Stream { kOut = 0, kErr = 1 };

  explicit Outlet(std::array<int, 2> descriptors) : descriptors_(descriptors) {}

  /// Returns the queue to which lines for `stream` are appended.
  std::string& queue(Stream stream) { return queues_[stream]; }

  /// Returns whether `stream` can be written now: it has output, and the other stream is not inside a line.
  [[nodiscard]] bool wants(Stream stream) const;
  [[nodiscard]] int descriptor(Stream stream) const { return descriptors_[stream]; }
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool empty() const { return queues_[kOut].empty() && queues_[kErr].empty(); }

  /// Writes as much as a writable pipe takes without blocking. Returns false if nobody reads `stream` any
  /// more; later output to that stream is dropped.
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
