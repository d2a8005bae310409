#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "util/status.hpp"

namespace rma {

/// Writes what each call did and when as Chrome-trace JSON, one file per rank. Thread-safe.
///
/// A file that was not closed (the process died) lacks only its final bracket, which Perfetto forgives.
class Trace {
 public:
  /// RMA_ERR_SYSTEM when the file cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<Trace>> open(const std::string& path, int rank);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  using Clock = std::chrono::steady_clock;

  /// One call that began at `begin` and ends now. `name` is a function's name; `target` is -1 where there is
  /// none.
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

/// `path` with every %r replaced by `rank`.
[[nodiscard]] std::string path_for_rank(std::string_view path, int rank);

}  // namespace rma
