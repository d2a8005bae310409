/**
 * @file fresh_buffer.hpp
 * Memory that the library has never seen.
 */
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rma/rma.h"

namespace rma::bench {

/** Memory that the library has never seen, whose pages exist. */
class FreshBuffer {
 public:
  explicit FreshBuffer(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) {
      std::perror("network-bench: mmap");
      rma_abort(EXIT_FAILURE, "no memory");
    }
    std::memset(data_, 1, bytes);
  }
  ~FreshBuffer() { munmap(data_, bytes_); }
  FreshBuffer(const FreshBuffer&) = delete;
  FreshBuffer& operator=(const FreshBuffer&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

}  // namespace rma::bench
