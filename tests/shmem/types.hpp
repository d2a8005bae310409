#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

namespace shmem_tests {

// Types of one word, so that T(1) is an expression.
using LongLong = long long;
using LongDouble = long double;
using SignedChar = signed char;
using Uchar = unsigned char;
using Ushort = unsigned short;
using Uint = unsigned int;
using Ulong = unsigned long;
using Ulonglong = unsigned long long;

}  // namespace shmem_tests

// The element types that the standard lists for each family (OpenSHMEM 1.5, tables 5 to 10). EACH(name, type)
// is a macro that makes one check, because the names of types are parts of names of functions.

#define SHMEM_TEST_INTEGERS(EACH)         \
  EACH(int, int)                          \
  EACH(long, long)                        \
  EACH(longlong, shmem_tests::LongLong)   \
  EACH(uint, shmem_tests::Uint)           \
  EACH(ulong, shmem_tests::Ulong)         \
  EACH(ulonglong, shmem_tests::Ulonglong) \
  EACH(int32, std::int32_t)               \
  EACH(int64, std::int64_t)               \
  EACH(uint32, std::uint32_t)             \
  EACH(uint64, std::uint64_t)             \
  EACH(size, std::size_t)                 \
  EACH(ptrdiff, std::ptrdiff_t)

#define SHMEM_TEST_WAIT_TYPES(EACH) \
  SHMEM_TEST_INTEGERS(EACH) EACH(short, short) EACH(ushort, shmem_tests::Ushort)

#define SHMEM_TEST_BITWISE_ATOMICS(EACH)  \
  EACH(uint, shmem_tests::Uint)           \
  EACH(ulong, shmem_tests::Ulong)         \
  EACH(ulonglong, shmem_tests::Ulonglong) \
  EACH(int32, std::int32_t)               \
  EACH(int64, std::int64_t)               \
  EACH(uint32, std::uint32_t)             \
  EACH(uint64, std::uint64_t)

#define SHMEM_TEST_SMALL_INTEGERS(EACH) \
  EACH(int8, std::int8_t)               \
  EACH(int16, std::int16_t)             \
  EACH(uint8, std::uint8_t)             \
  EACH(uint16, std::uint16_t)

#define SHMEM_TEST_RMA_TYPES(EACH)     \
  SHMEM_TEST_WAIT_TYPES(EACH)          \
  SHMEM_TEST_SMALL_INTEGERS(EACH)      \
  EACH(char, char)                     \
  EACH(schar, shmem_tests::SignedChar) \
  EACH(uchar, shmem_tests::Uchar)      \
  EACH(float, float)                   \
  EACH(double, double)                 \
  EACH(longdouble, shmem_tests::LongDouble)

#define SHMEM_TEST_BITWISE_REDUCTIONS(EACH) \
  SHMEM_TEST_SMALL_INTEGERS(EACH)           \
  EACH(uchar, shmem_tests::Uchar)           \
  EACH(ushort, shmem_tests::Ushort)         \
  EACH(uint, shmem_tests::Uint)             \
  EACH(ulong, shmem_tests::Ulong)           \
  EACH(ulonglong, shmem_tests::Ulonglong)   \
  EACH(int32, std::int32_t)                 \
  EACH(int64, std::int64_t)                 \
  EACH(uint32, std::uint32_t)               \
  EACH(uint64, std::uint64_t)               \
  EACH(size, std::size_t)

#define SHMEM_TEST_COMPLEX(EACH) EACH(complexf, std::complex<float>) EACH(complexd, std::complex<double>)

#define SHMEM_TEST_OLD_INTEGERS(EACH) EACH(int, int) EACH(long, long) EACH(longlong, shmem_tests::LongLong)
