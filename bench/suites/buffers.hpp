/**
 * @file buffers.hpp
 * Helpers of the suites: private memory for the local side, and texts of sizes.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace rma::bench {

/** Page-aligned private memory whose pages exist. */
class LocalBuffer {
 public:
  explicit LocalBuffer(std::size_t bytes)
      : data_(static_cast<char*>(::operator new (bytes, std::align_val_t{kPage}))) {
    std::memset(data_.get(), 1, bytes);
  }
  [[nodiscard]] char* data() const { return data_.get(); }
  /** Returns the memory as `count` doubles, which are zero. */
  [[nodiscard]] double* doubles(std::size_t count) const {
    auto* const first = reinterpret_cast<double*>(data_.get());
    std::uninitialized_fill_n(first, count, 0.0);
    return first;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  struct Delete {
    void operator()(char* memory) const { ::operator delete (memory, std::align_val_t{kPage}); }
  };
  std::unique_ptr<char, Delete> data_;
};

/** "8 B", "64 KiB", "1 MiB". */
inline std::string size_text(std::size_t bytes) {
  constexpr std::size_t kStep = 1024;
  if (bytes >= kStep * kStep && bytes % (kStep * kStep) == 0)
    return std::to_string(bytes / (kStep * kStep)) + " MiB";
  if (bytes >= kStep && bytes % kStep == 0) return std::to_string(bytes / kStep) + " KiB";
  return std::to_string(bytes) + " B";
}

/** "2 ranks", "1 rank". */
inline std::string ranks_text(int ranks) { return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"); }

}  // namespace rma::bench
