#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

namespace librma::mpi {

/// A list that is short in most calls: up to kFew elements need no memory of their own. So a collective call
/// of few ranks or neighbours allocates none. The room for them is not cleared, so a call without a list pays
/// nothing.
template <typename T, std::size_t kFew = 8>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ShortList() = default;  // NOLINT(cppcoreguidelines-pro-type-member-init): see above
  ~ShortList() = default;
  ShortList(const ShortList&) = delete;
  ShortList& operator=(const ShortList&) = delete;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return many_.empty() ? reinterpret_cast<T*>(few_.data()) : many_.data(); }
  [[nodiscard]] const T* data() const {
    return many_.empty() ? reinterpret_cast<const T*>(few_.data()) : many_.data();
  }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t place) { return data()[place]; }
  [[nodiscard]] const T& operator[](std::size_t place) const { return data()[place]; }

  /// Makes the list one of `size` new elements. Throws std::bad_alloc.
  void renew(std::size_t size) {
    if (size > kFew) many_.resize(size);
    size_ = size;
    std::fill(begin(), end(), T{});
  }
  void push_back(const T& element) {
    if (size_ == kFew && many_.empty()) many_.assign(begin(), end());
    if (size_ < kFew) {
      new (data() + size_) T(element);
    } else {
      many_.push_back(element);
    }
    ++size_;
  }

 private:
  // T may be a pointer, whose size is meant: NOLINTNEXTLINE(bugprone-sizeof-expression)
  alignas(T) std::array<std::byte, kFew * sizeof(T)> few_;
  std::vector<T> many_;  ///< all of them, if they are more than kFew
  std::size_t size_ = 0;
};

}  // namespace librma::mpi
