/**
 * @file contiguous.hpp
 * put and get by size, with hot and with cold buffers, and the message rate.
 */
#pragma once

#include <array>

#include "harness/measure.hpp"
#include "suites/beside_memcpy.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {

inline constexpr std::array<std::size_t, 8> kSizes = {8, 64, 512, 4096, 32768, 65536, 1048576, 4194304};

/** Cold transfers: each of `count` operations has its own place, `stride` bytes after the last one. */
struct ColdShape {
  std::size_t bytes;
  std::size_t count;
  std::size_t stride;
};
// The stride of the small ones is more than a page and not a power of two, so that they do not
// share cache sets.
inline constexpr std::array<ColdShape, 2> kColdShapes = {{{8, 2048, 4160}, {65536, 128, 65536}}};
static_assert(Arena::kData + 2048 * 4160 <= Arena::kLargeBytes &&
              Arena::kData + 128 * 65536 <= Arena::kLargeBytes);
static_assert(Arena::kData + 4194304 <= Arena::kLargeBytes);

template <Backend B>
void put_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  const LocalBuffer source(Arena::kLargeBytes);
  const char* const src = source.data();
  for (const std::size_t bytes : kSizes) {
    alone_beside_memcpy(
        measure, {"put", "put " + size_text(bytes), "", bytes},
        [&](std::size_t) { backend.put(Arena::kData, src, bytes, 1); },
        [&](char* there) { copy_opaquely(there, src, bytes); });
  }
  if constexpr (HasInline8<B>) {
    measure.alone({"put", "put 8 B inline", "", 8}, [&](std::size_t i) { backend.put8(Arena::kData, i, 1); });
  }
  for (const ColdShape& shape : kColdShapes) {
    measure.cold({"put", "put " + size_text(shape.bytes) + " cold", "", shape.bytes}, shape.count,
                 [&](std::size_t i) {
                   backend.put(Arena::kData + i * shape.stride, src + i * shape.stride, shape.bytes, 1);
                 });
  }
}

template <Backend B>
void get_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  const LocalBuffer target(Arena::kLargeBytes);
  char* const dst = target.data();
  for (const std::size_t bytes : kSizes) {
    alone_beside_memcpy(
        measure, {"get", "get " + size_text(bytes), "", bytes},
        [&](std::size_t) { backend.get(dst, Arena::kData, bytes, 1); },
        [&](const char* there) { copy_opaquely(dst, there, bytes); });
  }
  if constexpr (HasInline8<B>) {
    // The sum is used afterwards, so the compiler keeps every load.
    std::uint64_t sum = 0;
    measure.alone({"get", "get 8 B inline", "", 8},
                  [&](std::size_t) { sum += backend.get8(Arena::kData, 1); });
    *reinterpret_cast<volatile std::uint64_t*>(dst) = sum;
  }
  for (const ColdShape& shape : kColdShapes) {
    measure.cold({"get", "get " + size_text(shape.bytes) + " cold", "", shape.bytes}, shape.count,
                 [&](std::size_t i) {
                   backend.get(dst + i * shape.stride, Arena::kData + i * shape.stride, shape.bytes, 1);
                 });
  }
}

/** The number of messages under way before they are completed together. */
inline constexpr std::size_t kRateWindow = 64;

template <Backend B>
void rate_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  const LocalBuffer source(4096);
  const char* const src = source.data();
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{256}}) {
    measure.alone(
        {"rate", "rate put " + size_text(bytes), "", bytes},
        [&](std::size_t) {
          for (std::size_t i = 0; i < kRateWindow; ++i)
            backend.put_nbi(Arena::kData + i * bytes, src, bytes, 1);
          backend.flush(1);
        },
        kRateWindow);
  }
}

}  // namespace rma::bench
