/**
 * @file atomic.hpp
 * Accumulate by size, fetch-add alone and contended, and notification.
 */
#pragma once

#include <cstdint>

#include "harness/measure.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {

template <Backend B>
void accumulate_suite(Measure<B>& measure) {
  if constexpr (HasAccumulate<B>) {
    B& backend = measure.backend();
    constexpr std::size_t kMost = 8192;
    const LocalBuffer source(kMost * sizeof(double));
    const double* const src = source.doubles(kMost);
    // The target starts with zeros too, because the time of an addition may depend on the operands.
    std::fill_n(backend.local() + Arena::kData, kMost * sizeof(double), '\0');
    for (const std::size_t count : {std::size_t{1}, std::size_t{64}, kMost}) {
      const std::string text = std::to_string(count) + (count == 1 ? " double" : " doubles");
      measure.alone({"accumulate", "accumulate " + text, "", count * sizeof(double)},
                    [&](std::size_t) { backend.accumulate(Arena::kData, src, count, 1); });
    }
  }
}

template <Backend B>
void fetch_add_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  measure.alone({"fetch-add", "fetch-add alone", "", 0},
                [&](std::size_t) { backend.fetch_add(Arena::kCounter, 1, 1); });
  if constexpr (HasInlineFetchAdd<B>) {
    measure.alone({"fetch-add", "fetch-add alone inline", "", 0},
                  [&](std::size_t) { backend.fetch_add8(Arena::kCounter, 1, 1); });
  }
  measure.together({"fetch-add", "fetch-add contended " + ranks_text(backend.size()), "", 0},
                   [&](std::size_t) { backend.fetch_add(Arena::kCounter, 1, 0); });
}

/** Reads one word of each cache line of `bytes` bytes of this rank's own arena, as a program would
 * after a notification. */
inline void read_lines(const char* data, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t i = 0; i < bytes; i += kLine) *reinterpret_cast<const volatile std::uint64_t*>(data + i);
}

/** Ranks 0 and 1 answer each other's notifications and read the data. Half a round trip is one way. */
template <Backend B>
void notify_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  const LocalBuffer source(4096);
  const char* const src = source.data();
  const int rank = backend.rank();
  const int partner = measure.partner();
  std::uint64_t turn = 0;
  const auto ping_pong = [&](RowName name, std::size_t data) {
    const std::size_t bytes = name.bytes;
    measure.together(
        std::move(name),
        [&, bytes, data](std::size_t) {
          ++turn;
          if (rank == 0) backend.notify(data, src, bytes, Arena::kFlag, turn, partner);
          if (rank <= 1) {
            backend.wait_notify(Arena::kFlag, turn);
            read_lines(backend.local() + data, bytes);
          }
          if (rank == 1) backend.notify(data, src, bytes, Arena::kFlag, turn, partner);
        },
        2);
  };
  // The small data share the flag's cache line, as in a program that is tuned.
  ping_pong({"notify", "notify one way", "", 8}, Arena::kFlag + 8);
  ping_pong({"notify", "notify one way 4 KiB", "", 4096}, Arena::kData);
}

}  // namespace rma::bench
