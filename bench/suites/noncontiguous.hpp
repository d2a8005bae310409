/**
 * @file noncontiguous.hpp
 * Strided and vector transfers by segment size.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "harness/measure.hpp"
#include "suites/beside_memcpy.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {

inline constexpr std::array<StridedShape, 4> kStridedShapes = {{
    {1024, 8, 64},    // a column of doubles, one from each cache line
    {1024, 64, 128},  // 64 KiB in all from here on
    {128, 512, 1024},
    {16, 4096, 8192},
}};

/** Returns a text such as "1024 x 8 B stride 64 B". The stride is left out if it is twice the segment. */
inline std::string strided_text(const StridedShape& shape) {
  std::string text = std::to_string(shape.segments) + " x " + size_text(shape.segment_bytes);
  if (shape.stride != 2 * shape.segment_bytes) text += " stride " + size_text(shape.stride);
  return text;
}

template <Backend B>
void strided_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  const LocalBuffer buffer(Arena::kBytes);
  for (const StridedShape& shape : kStridedShapes) {
    const std::vector<const char*> forms = B::strided_forms(shape);
    const std::size_t bytes = shape.segments * shape.segment_bytes;
    typename B::Strided plan = backend.plan_strided(shape, buffer.data(), Arena::kData);
    for (std::size_t form = 0; form < forms.size(); ++form) {
      char* const local = buffer.data();
      const auto copy_segments = [&shape](char* dst, const char* src) {
        for (std::size_t i = 0; i < shape.segments; ++i) {
          copy_opaquely(dst + i * shape.stride, src + i * shape.stride, shape.segment_bytes);
        }
      };
      alone_beside_memcpy(
          measure, {"strided", "strided put " + strided_text(shape), forms[form], bytes},
          [&](std::size_t) { backend.put_strided(plan, form, 1); },
          [&](char* there) { copy_segments(there, local); });
      alone_beside_memcpy(
          measure, {"strided", "strided get " + strided_text(shape), forms[form], bytes},
          [&](std::size_t) { backend.get_strided(plan, form, 1); },
          [&](const char* there) { copy_segments(local, there); });
    }
  }
}

/** Returns `segments` pieces in a fixed random order. Each has a slot of 64 bytes or of twice its size,
 * whichever is larger. */
inline VectorShape shuffled_vector(std::size_t segments, std::size_t segment_bytes) {
  const std::size_t slot = std::max<std::size_t>(64, 2 * segment_bytes);
  VectorShape shape;
  shape.segment_bytes = segment_bytes;
  for (std::size_t i = 0; i < segments; ++i) shape.offsets.push_back(i * slot);
  std::shuffle(shape.offsets.begin(), shape.offsets.end(), std::mt19937_64(1));
  return shape;
}

template <Backend B>
void vector_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  const LocalBuffer buffer(Arena::kBytes);
  const std::vector<const char*> forms = B::vector_forms();
  for (const auto& [segments, segment_bytes] :
       {std::pair<std::size_t, std::size_t>{8192, 8}, {1024, 64}, {128, 512}}) {
    const VectorShape shape = shuffled_vector(segments, segment_bytes);
    const std::string text = std::to_string(segments) + " x " + size_text(segment_bytes);
    const std::size_t bytes = segments * segment_bytes;
    typename B::Vector plan = backend.plan_vector(shape, buffer.data(), Arena::kData);
    for (std::size_t form = 0; form < forms.size(); ++form) {
      measure.alone({"vector", "vector put " + text, forms[form], bytes},
                    [&](std::size_t) { backend.put_vector(plan, form, 1); });
      measure.alone({"vector", "vector get " + text, forms[form], bytes},
                    [&](std::size_t) { backend.get_vector(plan, form, 1); });
    }
  }
}

}  // namespace rma::bench
