/**
 * @file global_ptr.hpp
 * A typed pointer to memory of any rank.
 */
#ifndef RMA_GLOBAL_PTR_HPP
#define RMA_GLOBAL_PTR_HPP

#include <compare>
#include <cstddef>
#include <type_traits>

#include "rma/direct.h"
#include "rma/rma.h"

namespace rma::inline v0 {

/** The types whose objects can be transferred between processes: their bytes are their value. */
template <class T>
concept Transferable = std::is_trivially_copyable_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>;

/**
 * A pointer to a T in the memory of one rank. It consists of the rank and of the address that the rank itself
 * would use. It is a plain value: a program may send it to other processes, where it means the same.
 * Arithmetic stays within the rank and is defined where it is defined for a T*. The pointer cannot be
 * dereferenced; the functions of transfer.hpp access the memory.
 */
template <class T>
class GlobalPtr {
  static_assert(std::is_trivially_copyable_v<T>,
                "only trivially copyable types can be moved between processes");

 public:
  using element_type = T;
  using difference_type = std::ptrdiff_t;

  /** Makes a null pointer. */
  constexpr GlobalPtr() noexcept = default;
  constexpr GlobalPtr(std::nullptr_t) noexcept {}
  constexpr GlobalPtr(T* address, int rank) noexcept : address_(address), rank_(rank) {}

  /** GlobalPtr<T> converts to GlobalPtr<const T>. */
  template <class U>
  requires(!std::is_same_v<U, T> &&
           std::is_convertible_v<U (*)[], T (*)[]>) constexpr GlobalPtr(GlobalPtr<U> other) noexcept
      : address_(other.address()), rank_(other.rank()) {}

  /** Returns the address that the owner would use. */
  [[nodiscard]] constexpr T* address() const noexcept { return address_; }
  /** Returns the owner's world rank, or -1 for a null pointer. */
  [[nodiscard]] constexpr int rank() const noexcept { return rank_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return address_ != nullptr; }

  constexpr GlobalPtr& operator+=(difference_type elements) noexcept {
    address_ += elements;
    return *this;
  }
  constexpr GlobalPtr& operator-=(difference_type elements) noexcept {
    address_ -= elements;
    return *this;
  }
  constexpr GlobalPtr& operator++() noexcept { return *this += 1; }
  constexpr GlobalPtr& operator--() noexcept { return *this -= 1; }
  [[nodiscard]] friend constexpr GlobalPtr operator+(GlobalPtr pointer, difference_type elements) noexcept {
    return pointer += elements;
  }
  [[nodiscard]] friend constexpr GlobalPtr operator-(GlobalPtr pointer, difference_type elements) noexcept {
    return pointer -= elements;
  }
  /** Returns the distance in elements between two pointers to the same rank. */
  [[nodiscard]] friend constexpr difference_type operator-(GlobalPtr left, GlobalPtr right) noexcept {
    return left.address_ - right.address_;
  }

  [[nodiscard]] friend constexpr bool operator==(GlobalPtr left, GlobalPtr right) noexcept {
    return left.rank_ == right.rank_ && left.address_ == right.address_;
  }
  /** Orders by rank, then by address. */
  [[nodiscard]] friend constexpr std::strong_ordering operator<=>(GlobalPtr left, GlobalPtr right) noexcept {
    if (left.rank_ != right.rank_) return left.rank_ <=> right.rank_;
    return std::compare_three_way{}(left.address_, right.address_);
  }

 private:
  T* address_ = nullptr;
  int rank_ = -1;
};

/** Returns the address at which this process has mapped the `count` elements at `pointer`, for plain loads
 *  and stores. Returns null if it has not mapped them. */
template <class T>
[[nodiscard]] T* direct(GlobalPtr<T> pointer, std::size_t count = 1) noexcept {
  if (count > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T)) return nullptr;
  return static_cast<T*>(rma_direct_address(pointer.address(), count * sizeof(T), pointer.rank()));
}

}  // namespace rma::inline v0

#endif
