#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "util/status.hpp"

namespace librma {

/// Writes an event for each call as Chrome-trace JSON, one file per rank. Thread-safe.
///
/// If the process dies, the file lacks only its final bracket, and Perfetto can still read it.
class Trace {
 public:
  /// Opens the file. RMA_ERR_SYSTEM if it cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<Trace>> open(const std::string& path, int rank);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  using Clock = std::chrono::steady_clock;

  /// Records a call that began at `begin` and ends now. `name` is the function's name. `target` is -1 if the
  /// call has no target.
  void record(std::string_view name, Clock::time_point begin, int target, std::uint64_t bytes) noexcept;

 private:
  struct Closer {
    void operator()(std::FILE* file) const;
  };
  Trace(std::FILE* file, int rank);

  std::mutex lock_;
  std::unique_ptr<std::FILE, Closer> file_;
  const int rank_;
  bool first_ = true;
};

/// Returns `path` with every %r replaced by `rank`.
[[nodiscard]] std::string path_for_rank(std::string_view path, int rank);

}  // namespace librma
