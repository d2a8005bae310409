#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/transport.hpp"

namespace librma::transport {

/// The pieces of memory of one system call, as struct iovec: as many as the kernel takes. Pieces that
/// continue the one before them are joined to it.
class Iovecs {
 public:
  static constexpr std::size_t kMost = 1024;  ///< the kernel's UIO_MAXIOV

  void clear() { first_ = end_ = 0; }
  [[nodiscard]] std::span<const iovec> get() const {
    return std::span(pieces_).subspan(first_, end_ - first_);
  }
  /// Returns whether `count` more pieces fit.
  [[nodiscard]] bool takes(std::size_t count) const { return count <= kMost - end_; }
  /// Adds a piece; takes(1) is true.
  void add(std::byte* address, std::size_t bytes) {
    if (bytes == 0) return;
    if (end_ != first_) {
      iovec& last = pieces_[end_ - 1];
      if (static_cast<std::byte*>(last.iov_base) + last.iov_len == address) {
        last.iov_len += bytes;
        return;
      }
    }
    pieces_[end_++] = {.iov_base = address, .iov_len = bytes};
  }
  /// Takes bytes off the front.
  void skip(std::size_t bytes) {
    while (bytes != 0) {
      iovec& first = pieces_[first_];
      const std::size_t part = std::min(bytes, first.iov_len);
      first.iov_base = static_cast<std::byte*>(first.iov_base) + part;
      first.iov_len -= part;
      bytes -= part;
      if (first.iov_len == 0) ++first_;
    }
  }

 private:
  std::array<iovec, kMost> pieces_;  // NOLINT(*-member-init): [first_, end_) are valid
  std::size_t first_ = 0;
  std::size_t end_ = 0;
};

/// Memory of this process and of another one, of equal size, between which one system call copies.
class IovecPair {
 public:
  void clear() {
    local_.clear();
    remote_.clear();
    bytes_ = 0;
  }
  /// Adds a work request. Returns false, and adds nothing, if it does not fit or there would be more than
  /// `most` bytes.
  [[nodiscard]] bool add(const Work& work, std::size_t most) {
    std::size_t bytes = 0;
    for (const Local& piece : work.pieces) bytes += piece.bytes;
    if (bytes > most - bytes_ || !local_.takes(work.pieces.size()) || !remote_.takes(1)) return false;
    for (const Local& piece : work.pieces) local_.add(piece.address, piece.bytes);
    remote_.add(reinterpret_cast<std::byte*>(work.remote.address), bytes);
    bytes_ += bytes;
    return true;
  }
  /// Adds the front of `local`, which belongs to the memory at `remote`, and returns how many bytes it has
  /// added: all, unless there would be more than `most` bytes; none if no piece fits.
  [[nodiscard]] std::size_t add_front(std::span<std::byte> local, std::uintptr_t remote, std::size_t most) {
    if (!local_.takes(1) || !remote_.takes(1)) return 0;
    const std::size_t bytes = std::min(local.size(), most - bytes_);
    local_.add(local.data(), bytes);
    remote_.add(reinterpret_cast<std::byte*>(remote), bytes);
    bytes_ += bytes;
    return bytes;
  }
  void skip(std::size_t bytes) {
    local_.skip(bytes);
    remote_.skip(bytes);
    bytes_ -= bytes;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::span<const iovec> local() const { return local_.get(); }
  [[nodiscard]] std::span<const iovec> remote() const { return remote_.get(); }

 private:
  Iovecs local_;
  Iovecs remote_;
  std::size_t bytes_ = 0;
};

}  // namespace librma::transport
