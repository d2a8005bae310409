#pragma once

#include <bit>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace librma {

/// A queue whose owner reserves room first, so that to add an element needs no memory and cannot fail.
/// Elements have a default value. Not thread-safe.
template <typename T>
class Fifo {
 public:
  /// Makes room for `elements` elements in all. Returns false, and changes nothing, if there is no memory.
  [[nodiscard]] bool reserve(std::size_t elements) noexcept {
    if (elements <= ring_.size()) return true;
    try {
      std::vector<T> larger(std::bit_ceil(elements));
      for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
      ring_ = std::move(larger);
      first_ = 0;
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The element at a place, counted from the front.
  [[nodiscard]] T& operator[](std::size_t place) { return ring_[(first_ + place) & (ring_.size() - 1)]; }
  [[nodiscard]] T& front() { return (*this)[0]; }
  /// Precondition: there is room.
  void push_back(T element) {
    ++size_;
    (*this)[size_ - 1] = std::move(element);
  }
  void pop_front() {
    ++first_;
    --size_;
  }

 private:
  std::vector<T> ring_;  ///< its size is 0 or a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace librma
