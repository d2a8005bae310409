#include "atomics/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "atomics/types.hpp"
#include "model.hpp"

namespace librma {
namespace {

template <typename T>
void check(const T* scale, rma_type_t type, std::size_t count, std::size_t src_shift, Random& random) {
  const std::vector<T> x = random_elements<T>(random, count);
  std::vector<T> y = random_elements<T>(random, count + 1);  // one more, which must not change
  std::vector<T> expected = y;
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = model(y[i], scale != nullptr ? *scale : T(1), x[i]);
  }
  std::vector<std::byte> source(count * sizeof(T) + src_shift);
  if (count != 0) std::memcpy(source.data() + src_shift, x.data(), count * sizeof(T));
  Kernel(type, scale)
      .run(reinterpret_cast<std::byte*>(y.data()), source.data() + src_shift, count * sizeof(T));
  ASSERT_EQ(y, expected) << "type " << type << ", " << count << " elements, source shifted by " << src_shift;
}

TEST(Types, SizesAndAlignments) {
  for (const rma_type_t type : kTypes) {
    with_type(type, [&]<typename T>(T) {
      EXPECT_TRUE(valid_type(type));
      EXPECT_EQ(type_size(type), sizeof(T));
      EXPECT_EQ(type_alignment(type), alignof(T));
    });
  }
  EXPECT_FALSE(valid_type(static_cast<rma_type_t>(-1)));
  EXPECT_FALSE(valid_type(static_cast<rma_type_t>(RMA_COMPLEX_DOUBLE + 1)));
}

TEST(Kernels, AgreeWithOneElementAtATime) {
  Random random = seeded_random();
  for (const rma_type_t type : kTypes) {
    with_type(type, [&]<typename T>(T) {
      constexpr std::array<std::size_t, 18> kCounts = {0,  1,  2,  3,  4,  5,  7,  8,  9,
                                                       15, 16, 17, 31, 33, 63, 64, 65, 1001};
      for (const std::size_t count : kCounts) {
        for (const std::size_t shift : std::array<std::size_t, 3>{0, 1, 4}) {
          const T one(1);
          const T other = random_element<T>(random);
          check<T>(nullptr, type, count, shift, random);
          check<T>(&one, type, count, shift, random);
          check<T>(&other, type, count, shift, random);
        }
      }
    });
  }
}

TEST(Kernels, AddAnArrayToItself) {
  std::array<double, 37> y = {};
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i);
  const double scale = 3;
  auto* const bytes = reinterpret_cast<std::byte*>(y.data());
  Kernel(RMA_DOUBLE, &scale).run(bytes, bytes, sizeof y);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], 4.0 * static_cast<double>(i));
}

TEST(Kernels, KeepNaNsWhereTheyAre) {
  for (const double scale : {1.0, 2.0}) {
    std::array<double, 9> y = {};
    std::array<double, 9> x = {};
    x.fill(1);
    x[4] = std::nan("");
    y[7] = std::nan("");
    Kernel(RMA_DOUBLE, &scale)
        .run(reinterpret_cast<std::byte*>(y.data()), reinterpret_cast<const std::byte*>(x.data()), sizeof y);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (i == 4 || i == 7) {
        EXPECT_TRUE(std::isnan(y[i])) << i;
      } else {
        EXPECT_EQ(y[i], scale) << i;
      }
    }
  }
}

TEST(Kernels, DoNotMultiplyByAComplexOne) {
  // (1, 0) * (0, inf), multiplied out, has a real part of 0 * inf.
  const std::complex<float> one = 1;
  const std::complex<float> x = {0, INFINITY};
  std::complex<float> y = {5, 5};
  Kernel(RMA_COMPLEX_FLOAT, &one)
      .run(reinterpret_cast<std::byte*>(&y), reinterpret_cast<const std::byte*>(&x), sizeof y);
  EXPECT_EQ(y.real(), 5);
  EXPECT_EQ(y.imag(), INFINITY);
}

template <typename T>
void check_parts(rma_type_t type) {
  const std::complex<T> scale = {2, 3};
  const std::complex<T> x = {5, 7};
  const Kernel kernel(type, &scale);
  std::complex<T> product;
  kernel.product(reinterpret_cast<std::byte*>(&product), reinterpret_cast<const std::byte*>(&x));
  EXPECT_EQ(product, std::complex<T>(-11, 29));
  std::array<T, 2> y = {100, 1000};
  kernel.add_part(reinterpret_cast<std::byte*>(&y[1]), reinterpret_cast<std::byte*>(&product) + sizeof(T));
  EXPECT_EQ(y[0], 100);
  EXPECT_EQ(y[1], 1029);
}

TEST(Kernels, AddComplexProductsByTheirParts) {
  check_parts<float>(RMA_COMPLEX_FLOAT);
  check_parts<double>(RMA_COMPLEX_DOUBLE);
}

}  // namespace
}  // namespace librma
