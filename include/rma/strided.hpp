/**
 * @file strided.hpp
 * Transfers of N-dimensional blocks.
 *
 * A block is counts[0] contiguous elements, repeated counts[1] times at a distance of strides[0] elements;
 * all of that is repeated counts[2] times at a distance of strides[1], and so on. So strides have one entry
 * less than counts. Counts and strides are in elements of T. Strides may be negative. If a stride is not a
 * multiple of the element's size, use std::byte as T. If any count is 0, the transfer is empty.
 *
 * Each function has the three forms of transfer.hpp. Besides the errors named there, each throws
 * ArgumentError: with RMA_ERR_ARGUMENT if the numbers of strides and counts do not fit together or there are
 * more than RMA_MAX_LEVELS strides, and with RMA_ERR_SIZE if the extent overflows.
 */
#ifndef RMA_STRIDED_HPP
#define RMA_STRIDED_HPP

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/request.hpp"
#include "rma/transfer.hpp"

namespace rma::inline v0 {

using Strides = std::span<const std::ptrdiff_t>;
using Counts = std::span<const std::size_t>;

namespace detail {

// A shape in the units of the C interface. The constructor checks it.
template <class T>
class ByteShape {
 public:
  ByteShape(Strides dst_strides, Strides src_strides, Counts counts) {
    if (counts.empty() || counts.size() > kLevels + 1 || dst_strides.size() != counts.size() - 1 ||
        src_strides.size() != counts.size() - 1) {
      throw_error(RMA_ERR_ARGUMENT,
                  "strided transfer: " + std::to_string(dst_strides.size()) + " and " +
                      std::to_string(src_strides.size()) + " strides for " + std::to_string(counts.size()) +
                      " counts; each needs one less than counts, at " + "most " + std::to_string(kLevels));
    }
    levels_ = static_cast<int>(counts.size() - 1);
    for (std::size_t i = 0; i < counts.size(); ++i) counts_[i] = counts[i];
    in_bytes(counts[0], counts_[0]);
    for (std::size_t i = 0; i < dst_strides.size(); ++i) {
      in_bytes(dst_strides[i], dst_strides_[i]);
      in_bytes(src_strides[i], src_strides_[i]);
    }
  }

  [[nodiscard]] const std::ptrdiff_t* dst_strides() const noexcept { return dst_strides_.data(); }
  [[nodiscard]] const std::ptrdiff_t* src_strides() const noexcept { return src_strides_.data(); }
  [[nodiscard]] const std::size_t* counts() const noexcept { return counts_.data(); }
  [[nodiscard]] int levels() const noexcept { return levels_; }

 private:
  static constexpr std::size_t kLevels = RMA_MAX_LEVELS;

  template <class Number>
  static void in_bytes(Number elements, Number& bytes) {
    if (__builtin_mul_overflow(elements, static_cast<Number>(sizeof(T)), &bytes)) {
      throw_error(RMA_ERR_SIZE, "strided transfer: " + std::to_string(elements) + " elements of " +
                                    std::to_string(sizeof(T)) + " bytes overflow the range of addresses");
    }
  }

  // No call reads the entries past the levels.
  std::array<std::ptrdiff_t, kLevels> dst_strides_;
  std::array<std::ptrdiff_t, kLevels> src_strides_;
  std::array<std::size_t, kLevels + 1> counts_;
  int levels_;
};

}  // namespace detail

/** Copies the block at local `src` to the block at `dst`. */
template <Transferable T>
void put_strided(GlobalPtr<T> dst, Strides dst_strides, const std::type_identity_t<T>* src,
                 Strides src_strides, Counts counts) {
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  check(rma_put_strided(dst.address(), shape.dst_strides(), src, shape.src_strides(), shape.counts(),
                        shape.levels(), dst.rank()));
}

template <Transferable T>
[[nodiscard]] Request put_strided_nb(GlobalPtr<T> dst, Strides dst_strides,
                                     const std::type_identity_t<T>* src, Strides src_strides, Counts counts) {
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_put_strided_nb(dst.address(), shape.dst_strides(), src, shape.src_strides(), shape.counts(),
                           shape.levels(), dst.rank(), &handle));
  return Request(handle);
}

template <Transferable T>
void put_strided_nbi(GlobalPtr<T> dst, Strides dst_strides, const std::type_identity_t<T>* src,
                     Strides src_strides, Counts counts) {
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  check(rma_put_strided_nbi(dst.address(), shape.dst_strides(), src, shape.src_strides(), shape.counts(),
                            shape.levels(), dst.rank()));
}

/** Copies the block at `src` to the block at local `dst`. */
template <class T>
void get_strided(std::remove_const_t<T>* dst, Strides dst_strides, GlobalPtr<T> src, Strides src_strides,
                 Counts counts) {
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  check(rma_get_strided(dst, shape.dst_strides(), src.address(), shape.src_strides(), shape.counts(),
                        shape.levels(), src.rank()));
}

template <class T>
[[nodiscard]] Request get_strided_nb(std::remove_const_t<T>* dst, Strides dst_strides, GlobalPtr<T> src,
                                     Strides src_strides, Counts counts) {
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_get_strided_nb(dst, shape.dst_strides(), src.address(), shape.src_strides(), shape.counts(),
                           shape.levels(), src.rank(), &handle));
  return Request(handle);
}

template <class T>
void get_strided_nbi(std::remove_const_t<T>* dst, Strides dst_strides, GlobalPtr<T> src, Strides src_strides,
                     Counts counts) {
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  check(rma_get_strided_nbi(dst, shape.dst_strides(), src.address(), shape.src_strides(), shape.counts(),
                            shape.levels(), src.rank()));
}

/** Adds `scale` times the block at local `src` to the block at `dst`. The update of each element is atomic,
 *  as in accumulate(). */
template <Accumulable T>
void accumulate_strided(GlobalPtr<T> dst, Strides dst_strides, const std::type_identity_t<T>* src,
                        Strides src_strides, Counts counts, const std::type_identity_t<T>& scale = T(1)) {
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  check(rma_acc_strided(dst.address(), shape.dst_strides(), src, shape.src_strides(), shape.counts(),
                        shape.levels(), kElementType<T>, detail::scale_or_null(scale), dst.rank()));
}

template <Accumulable T>
[[nodiscard]] Request accumulate_strided_nb(GlobalPtr<T> dst, Strides dst_strides,
                                            const std::type_identity_t<T>* src, Strides src_strides,
                                            Counts counts, const std::type_identity_t<T>& scale = T(1)) {
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_acc_strided_nb(dst.address(), shape.dst_strides(), src, shape.src_strides(), shape.counts(),
                           shape.levels(), kElementType<T>, detail::scale_or_null(scale), dst.rank(),
                           &handle));
  return Request(handle);
}

template <Accumulable T>
void accumulate_strided_nbi(GlobalPtr<T> dst, Strides dst_strides, const std::type_identity_t<T>* src,
                            Strides src_strides, Counts counts, const std::type_identity_t<T>& scale = T(1)) {
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  check(rma_acc_strided_nbi(dst.address(), shape.dst_strides(), src, shape.src_strides(), shape.counts(),
                            shape.levels(), kElementType<T>, detail::scale_or_null(scale), dst.rank()));
}

}  // namespace rma::inline v0

#endif
