/**
 * @file buffers.hpp
 * The buffers of messages: one that is used again and again, or many that take turns.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "suites/buffers.hpp"

namespace rma::bench {

/** The memory of the cold buffers of one direction: several times the last-level cache of common servers. A
 * quick run, which measures nothing, takes less. */
inline std::size_t cold_bytes(bool quick) { return std::size_t{quick ? 16U : 128U} << 20; }

/** Buffers of one size, which messages take in turn. */
class Rotation {
 public:
  /** A single buffer at `memory`. */
  Rotation(char* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  /** As many buffers as fit into `capacity` bytes. Each begins on a page of its own, and in another set of
   * the caches than the one before. */
  Rotation(char* memory, std::size_t bytes, std::size_t capacity)
      : memory_(memory),
        bytes_(bytes),
        stride_((bytes + kPage - 1) / kPage * kPage + kLine),
        count_(std::max(capacity / stride_, std::size_t{1})) {}

  /** Returns the buffer for the next message. */
  char* next() {
    char* const buffer = at(next_);
    if (++next_ == count_) next_ = 0;
    return buffer;
  }
  void start_again() { next_ = 0; }
  [[nodiscard]] std::size_t count() const { return count_; }

  /** Fills the first `messages` buffers with the data that `sender` sends. */
  void fill(std::size_t messages, int sender) {
    const std::vector<char> bytes = pattern();
    for (std::size_t i = 0; i < used(messages); ++i) std::memcpy(at(i), &bytes[start(i, sender)], bytes_);
  }
  void clear(std::size_t messages) {
    for (std::size_t i = 0; i < used(messages); ++i) std::memset(at(i), 0, bytes_);
  }
  /** Returns whether the first `messages` buffers hold the data that `sender` sends. */
  [[nodiscard]] bool holds(std::size_t messages, int sender) const {
    const std::vector<char> bytes = pattern();
    bool right = true;
    for (std::size_t i = 0; i < used(messages); ++i)
      right = right && std::memcmp(at(i), &bytes[start(i, sender)], bytes_) == 0;
    return right;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kPeriod = 113;

  [[nodiscard]] char* at(std::size_t i) const { return memory_ + i * stride_; }
  [[nodiscard]] std::size_t used(std::size_t messages) const { return std::min(messages, count_); }
  /** Returns the data of all messages: each begins at another place. No byte is 0, so that one which did not
   * arrive is noticed. */
  [[nodiscard]] std::vector<char> pattern() const {
    std::vector<char> bytes(bytes_ + kPeriod);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(1 + i % kPeriod);
    return bytes;
  }
  static std::size_t start(std::size_t message, int sender) {
    return (7 * message + 31 * static_cast<std::size_t>(sender)) % kPeriod;
  }

  char* memory_;
  std::size_t bytes_;
  std::size_t stride_ = 0;
  std::size_t count_ = 1;
  std::size_t next_ = 0;
};

/** The memory of both directions of a rank, for all rows of a suite. */
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), sent_(bytes), received_(bytes) {}
  [[nodiscard]] Rotation sent(std::size_t bytes, bool cold) const { return rotation(sent_, bytes, cold); }
  [[nodiscard]] Rotation received(std::size_t bytes, bool cold) const {
    return rotation(received_, bytes, cold);
  }

 private:
  [[nodiscard]] Rotation rotation(const LocalBuffer& buffer, std::size_t bytes, bool cold) const {
    return cold ? Rotation(buffer.data(), bytes, bytes_) : Rotation(buffer.data(), bytes);
  }

  std::size_t bytes_;
  LocalBuffer sent_;
  LocalBuffer received_;
};

}  // namespace rma::bench
