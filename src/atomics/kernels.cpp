#include "atomics/kernels.hpp"

#include <bit>
#include <cstring>

#include "atomics/types.hpp"
#include "kernels/unaligned.hpp"

namespace librma {
namespace {

// Elements of the user have any declared type and alignment.
using kernels::load_as;
using kernels::store_as;

// The loops below have no branches and no calls, so that the compiler turns them into vector code. Only
// accumulates scale, so these loops stand here and not in kernels/operators.cpp.

template <typename T>
[[gnu::always_inline]] inline void add_scaled_loop(const void* from, void* to, std::size_t count, T factor) {
  const auto* const src = static_cast<const std::byte*>(from);
  auto* const dst = static_cast<std::byte*>(to);
  for (std::size_t i = 0; i < count * sizeof(T); i += sizeof(T)) {
    store_as(dst + i, static_cast<T>(load_as<T>(dst + i) + factor * load_as<T>(src + i)));
  }
}

template <typename T>
void add_scaled(const void* src, void* dst, std::size_t count, void* scale) {
  add_scaled_loop<T>(src, dst, count, load_as<T>(static_cast<const std::byte*>(scale)));
}

#if defined(__x86_64__)
// The same loop for processors with vectors twice as long. It does not use fused multiplication, so that
// results do not depend on the processor.
template <typename T>
[[gnu::target("avx2")]] void add_scaled_avx2(const void* src, void* dst, std::size_t count, void* scale) {
  add_scaled_loop<T>(src, dst, count, load_as<T>(static_cast<const std::byte*>(scale)));
}

template <typename T>
auto best_add_scaled() {
  return __builtin_cpu_supports("avx2") != 0 ? add_scaled_avx2<T> : add_scaled<T>;
}
#else
template <typename T>
auto best_add_scaled() {
  return add_scaled<T>;
}
#endif

template <typename T>
void add_scaled_complex(const void* from, void* to, std::size_t count, void* scale) {
  const auto* const src = static_cast<const std::byte*>(from);
  auto* const dst = static_cast<std::byte*>(to);
  const T factor_re = load_as<T>(static_cast<const std::byte*>(scale));
  const T factor_im = load_as<T>(static_cast<const std::byte*>(scale) + sizeof(T));
  for (std::size_t i = 0; i < count * 2 * sizeof(T); i += 2 * sizeof(T)) {
    const T re = load_as<T>(src + i);
    const T im = load_as<T>(src + i + sizeof(T));
    store_as(dst + i, load_as<T>(dst + i) + (factor_re * re - factor_im * im));
    store_as(dst + i + sizeof(T), load_as<T>(dst + i + sizeof(T)) + (factor_re * im + factor_im * re));
  }
}

/// Returns whether `scale` points to the number 1, of type T or of a complex type with parts of type T.
template <typename T>
bool is_one(const std::byte* scale, bool complex) {
  return load_as<T>(scale) == T{1} && (!complex || load_as<T>(scale + sizeof(T)) == T{0});
}

}  // namespace

Kernel::Kernel(rma_type_t type, const void* scale)
    : element_bytes_(type_size(type)), part_bytes_(type_alignment(type)) {
  const bool complex = element_bytes_ != part_bytes_;
  if (scale != nullptr) std::memcpy(scale_.data(), scale, element_bytes_);

  const auto choose = [&]<typename T>(T /*part*/) {
    add_ = kernels::find(kernels::Operator::kSum, kernels::element_of<T>());
    function_ = best_add_scaled<T>();
    if (scale == nullptr || is_one<T>(scale_.data(), complex)) {
      function_ = add_;
      element_bytes_ = part_bytes_;
    } else if (complex) {
      function_ = add_scaled_complex<T>;
    }
  };
  switch (type) {  // integers are added as unsigned ones of the same size, which wrap around
    case RMA_INT:
      choose(static_cast<unsigned>(0));
      break;
    case RMA_LONG:
      choose(static_cast<unsigned long>(0));
      break;
    case RMA_LONG_LONG:
      choose(static_cast<unsigned long long>(0));
      break;
    case RMA_FLOAT:
    case RMA_COMPLEX_FLOAT:
      choose(0.0F);
      break;
    case RMA_DOUBLE:
    case RMA_COMPLEX_DOUBLE:
      choose(0.0);
      break;
  }
  element_shift_ = std::countr_zero(element_bytes_);
}

void Kernel::product(std::byte* dst, const std::byte* src) const {
  // Adding a number to -0 gives the number itself, also if it is 0 of either sign.
  if (part_bytes_ == sizeof(float)) {
    store_as(dst, -0.0F);
    store_as(dst + sizeof(float), -0.0F);
  } else {
    store_as(dst, -0.0);
    store_as(dst + sizeof(double), -0.0);
  }
  function_(src, dst, 1, scale());
}

}  // namespace librma
