#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace rmarun {

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

  /// Writes as much as a writable pipe takes without blocking. Returns 0, or errno if `stream` cannot be
  /// written (EPIPE: nobody reads it any more); later output to that stream is dropped.
  int write_some(Stream stream);

 private:
  void drop(Stream stream);

  std::array<int, 2> descriptors_;
  std::array<std::string, 2> queues_;
  std::array<size_t, 2> written_{};    ///< how much of the queue's front has been written
  std::array<bool, 2> closed_{};       ///< writing failed
  std::array<bool, 2> inside_line_{};  ///< the last byte written was not a newline
};

}  // namespace rmarun
