/**
 * @file pair.hpp
 * The rows of two ranks: latency, bandwidth in one and in both directions, and message rate, with hot and
 * cold buffers, buffers that are blocks of their own, a wildcard, and many receives that do not match. Ranks
 * beyond the second only wait.
 */
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "twosided/member.hpp"
#include "twosided/traffic.hpp"

namespace rma::bench {

inline constexpr std::array<std::size_t, 5> kFewSizes = {8, 4096, 65536, 1048576, 4194304};
/** Programs allocate their buffers one by one. librma maps such blocks of up to 4 MiB in the other ranks. */
inline constexpr std::array<std::size_t, 4> kBlockSizes = {16384, 65536, 1048576, 4194304};
inline constexpr std::array<std::size_t, 3> kRateSizes = {8, 512, 4096};
/** Rows of at least this size have a control. */
inline constexpr std::size_t kControlled = 65536;

/** Returns 0 B to 4 MiB, and 48 B, which is the most that fits into a cache line beside an envelope. */
inline std::vector<std::size_t> all_sizes() {
  constexpr std::size_t kLargest = 4194304;
  std::vector<std::size_t> sizes = {0, 1, 2, 4, 8, 16, 32, 48};
  for (std::size_t bytes = 64; bytes <= kLargest; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

/** The special circumstances of a row. */
enum class Variant { hot, own_blocks, cold, any_source, posted };

inline const char* variant_text(Variant variant) {
  switch (variant) {
    case Variant::own_blocks:
      return " malloc";
    case Variant::cold:
      return " cold";
    case Variant::any_source:
      return " any source";
    case Variant::posted:
      return " 1000 posted";
    default:
      return "";
  }
}

/** Receives that no message of a row matches. The destructor sends what they wait for. */
class OtherReceives {
 public:
  explicit OtherReceives(const Link& link) : link_(link) {
    if (!link_.takes_part()) return;
    requests_.resize(kReceives);
    for (std::size_t i = 0; i < kReceives; ++i)
      MPI_Irecv(nullptr, 0, MPI_BYTE, link_.partner, tag(i), link_.comm, &requests_[i]);
  }
  OtherReceives(const OtherReceives&) = delete;
  OtherReceives& operator=(const OtherReceives&) = delete;
  ~OtherReceives() {
    for (std::size_t i = 0; i < requests_.size(); ++i)
      MPI_Send(nullptr, 0, MPI_BYTE, link_.partner, tag(i), link_.comm);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  static constexpr std::size_t kReceives = 1000;
  static int tag(std::size_t i) { return kAnswerTag + 1 + static_cast<int>(i); }

  Link link_;
  std::vector<MPI_Request> requests_;
};

/** Checks a pattern's data and measures it, large messages beside a control. It uses all buffers once before:
 * the first copy from or to a page by the system takes 7 us longer on some virtual machines, and a row of few
 * long messages would meet more such pages the faster the rows before it were. */
template <typename Pattern>
void measure_pattern(MpiMeasure& measure, const RowName& name, Pattern pattern, bool controlled) {
  if (!measure.agree(name, pattern.is_right(measure.backend().rank()))) return;
  pattern.use_all_buffers();
  const auto op = [&](std::size_t) { pattern(); };
  if (controlled && Pattern::has_control()) {
    measure.together_beside(
        name, op, [&](std::size_t) { pattern.control(); }, pattern.operations());
  } else {
    measure.together(name, op, pattern.operations());
  }
}

/** Returns the link between ranks 0 and 1. */
inline Link link_of_two(int rank, Variant variant) {
  Link link;
  if (rank > 1) return link;
  link.partner = 1 - rank;
  link.source = variant == Variant::any_source ? MPI_ANY_SOURCE : link.partner;
  link.first = rank == 0;
  return link;
}

/** Measures a row for each size. `make(messages, bytes)` returns the pattern, which moves `moved * bytes`
 * bytes per operation. */
template <typename Sizes, typename Make>
void pair_rows(MpiMeasure& measure, const Memory& memory, const std::string& what, const Sizes& sizes,
               Variant variant, std::size_t moved, Make&& make) {
  const Link link = link_of_two(measure.backend().rank(), variant);
  const bool cold = variant == Variant::cold;
  for (const std::size_t bytes : sizes) {
    const RowName name{what, "twosided " + what + " " + size_text(bytes) + variant_text(variant), "",
                       moved * bytes};
    const auto run = [&] {
      const std::optional<Memory> blocks =
          variant == Variant::own_blocks ? std::optional<Memory>(bytes) : std::nullopt;
      const Memory& used = blocks ? *blocks : memory;
      const Messages messages(link, bytes, used.sent(bytes, cold), used.received(bytes, cold));
      measure_pattern(measure, name, make(messages, bytes), bytes >= kControlled);
    };
    if (variant == Variant::posted) {
      const OtherReceives others(link);
      run();
    } else {
      run();
    }
  }
}

/** Measures the rows of all variants. The plain ones have sizes of their own. */
template <typename HotSizes, typename Sizes, typename Make>
void pair_suite(MpiMeasure& measure, const std::string& what, const HotSizes& hot_sizes, const Sizes& sizes,
                std::size_t moved, Make&& make) {
  // The other ranks need no memory.
  const Memory memory(measure.backend().rank() < 2 ? cold_bytes(measure.options().quick) : 1);
  pair_rows(measure, memory, what, hot_sizes, Variant::hot, moved, make);
  if (what != "rate") pair_rows(measure, memory, what, kBlockSizes, Variant::own_blocks, moved, make);
  for (const Variant variant : {Variant::cold, Variant::any_source, Variant::posted})
    pair_rows(measure, memory, what, sizes, variant, moved, make);
}

inline void latency_suite(MpiMeasure& measure) {
  pair_suite(measure, "latency", all_sizes(), kFewSizes, 1,
             [](const Messages& messages, std::size_t) { return PingPong(messages); });
}

inline void bandwidth_suite(MpiMeasure& measure) {
  pair_suite(measure, "bandwidth", all_sizes(), kFewSizes, 1,
             [](const Messages& messages, std::size_t bytes) { return Stream(messages, window_of(bytes)); });
}

inline void bidirectional_suite(MpiMeasure& measure) {
  pair_suite(
      measure, "bidirectional", kFewSizes, kFewSizes, 2,
      [](const Messages& messages, std::size_t bytes) { return BothWays(messages, window_of(bytes)); });
}

inline void rate_suite(MpiMeasure& measure) {
  pair_suite(measure, "rate", kRateSizes, kRateSizes, 1,
             [](const Messages& messages, std::size_t) { return Stream(messages, kWindow); });
}

}  // namespace rma::bench
