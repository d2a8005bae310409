#include "figures/raw_pair.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace rma::bench {
namespace {

constexpr std::size_t kPage = 4096;  ///< the words of a computing target; the data is behind them
constexpr std::size_t kPhase = 0;
constexpr std::size_t kRunning = 64;

/** One chunk of a transfer in segments, as src/strided cuts them. */
constexpr std::size_t kChunkPieces = 32;
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
/** Transfers in segments whose scatters are posted at once. */
constexpr std::size_t kPosted = 16;

bool contiguous(const Case& each) { return each.segment == each.bytes; }

std::size_t chunks_in(const Case& each) {
  const std::size_t segments = std::min(kChunkPieces, std::max<std::size_t>(kChunkBytes / each.segment, 1));
  const std::size_t all = each.bytes / each.segment;
  return (all + segments - 1) / segments;
}

}  // namespace

std::vector<Case> RawPair::all_cases() const {
  std::vector<Case> cases;
  const auto add = [&](const char* layout, std::size_t bytes, std::size_t segment, std::size_t named) {
    for (const bool put : {true, false}) {
      cases.push_back({.put = put,
                       .layout = layout,
                       .bytes = bytes,
                       .segment = segment,
                       .gap = bytes == segment ? 0 : segment,
                       .named = named});
    }
  };
  for (const std::size_t bytes : options_.sizes) add("contiguous", bytes, bytes, bytes);
  if (options_.segments.empty()) return cases;
  for (const std::size_t segment : options_.segments) add("strided", options_.total, segment, segment);
  for (const std::size_t bytes : options_.sizes) {
    if (bytes >= 2 * options_.segment) add("2-D", bytes, options_.segment, bytes);
  }
  return cases;
}

std::size_t RawPair::room() const {
  std::size_t most = 0;
  for (const Case& each : all_cases()) most = std::max(most, each.bytes * (contiguous(each) ? 1 : 2));
  return kPage + most;
}

RawDevice::Shape RawPair::shape() const {
  std::size_t chunks = 0;
  for (const Case& each : all_cases()) {
    if (!contiguous(each)) chunks = std::max(chunks, chunks_in(each));
  }
  if (chunks == 0) return {.asleep = options_.asleep};
  // The additional transfer is the one whose end the target has not seen yet.
  const auto depth = static_cast<std::uint32_t>(chunks * (kPosted + 1));
  return {.sends = depth, .receives = depth, .pieces = kChunkPieces, .asleep = options_.asleep};
}

std::vector<std::vector<ibv_sge>> RawPair::chunks_of(const Case& each) const {
  if (contiguous(each)) return {};
  std::vector<std::vector<ibv_sge>> chunks(chunks_in(each));
  const std::size_t segments = each.bytes / each.segment;
  const std::size_t most = std::min(kChunkPieces, std::max<std::size_t>(kChunkBytes / each.segment, 1));
  for (std::size_t i = 0; i < segments; ++i) {
    chunks[i / most].push_back(device_.piece(kPage + i * (each.segment + each.gap), each.segment));
  }
  return chunks;
}

RawPair::RawPair(const RawOptions& options, const Wire& wire)
    : options_(options), wire_(wire), device_(options.device, wire, room(), shape()) {
  for (const Case& each : all_cases()) {
    cases_.push_back(
        {.as = each, .chunks = chunks_of(each), .number = static_cast<std::uint32_t>(cases_.size())});
  }
}

std::uint64_t& RawPair::word(std::size_t offset) {
  return *std::launder(reinterpret_cast<std::uint64_t*>(device_.memory() + offset));
}

void RawPair::order(Order::What what, const Moved& each, std::size_t count) const {
  const Order given = {.what = what, .which = each.number, .count = static_cast<std::uint32_t>(count)};
  wire_.send(&given, sizeof given);
}

void RawPair::post(Order::What what, const Moved& each, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::vector<ibv_sge> chunk : each.chunks) {
      if (what == Order::What::gather) {
        device_.gather(chunk);
      } else {
        device_.scatter(chunk);
      }
    }
  }
}

void RawPair::prepare(const Moved& each, std::size_t count) const {
  if (each.chunks.empty()) return;
  if (!each.as.put) return post(Order::What::scatter, each, count);
  order(Order::What::scatter, each, count);
  char posted = 0;
  wire_.receive(&posted, 1);
}

void RawPair::start(const Moved& each) const {
  if (each.chunks.empty()) return device_.start(each.as.put, kPage, each.as.bytes);
  if (each.as.put) return post(Order::What::gather, each, 1);
  order(Order::What::gather, each, 1);
}

void RawPair::finish(const Moved& each) const {
  // The device completes requests in the order of posting, so none needs a name.
  for (std::size_t i = 0; i < std::max<std::size_t>(each.chunks.size(), 1); ++i) device_.finish();
}

double RawPair::stream_of_gathers(const Moved& each) const {
  double elapsed = 0;
  std::size_t count = 0;
  while (elapsed < kTrafficNs) {
    prepare(each, kPosted);
    const double begin = now_ns();
    if (!each.as.put) order(Order::What::gather, each, kPosted);
    for (std::size_t i = 0; i < kPosted; ++i) {
      if (each.as.put && i >= options_.window) finish(each);
      if (each.as.put) start(each);
      if (!each.as.put) finish(each);
    }
    for (std::size_t i = 0; each.as.put && i < std::min(kPosted, options_.window); ++i) finish(each);
    elapsed += now_ns() - begin;
    count += kPosted;
  }
  return static_cast<double>(count * each.as.bytes) / static_cast<double>(kMebi) / elapsed * 1e9;
}

double RawPair::stream(const Moved& each) const {
  if (!each.chunks.empty()) return stream_of_gathers(each);
  return bandwidth(
      each.as.bytes, kTrafficNs, options_.window, [&](std::size_t /*place*/) { start(each); },
      [&](std::size_t /*place*/) { finish(each); }, [] {});
}

void RawPair::measure_busy(const Moved& each, Samples& samples) {
  samples.add(row_name(each.as, "idle"), "MiB/s", each.as.named, stream(each));
  order(Order::What::compute, each, 0);
  char cleared = 0;
  wire_.receive(&cleared, 1);
  const auto running = [&] {
    device_.start(false, kRunning, sizeof(std::uint64_t));
    device_.finish();
    return word(kRunning) != 0;
  };
  const auto tell = [&](Phase phase) {
    word(kPhase) = static_cast<std::uint64_t>(phase);
    device_.start(true, kPhase, sizeof(std::uint64_t));
    device_.finish();
  };
  const double busy = busy_bandwidth(running, tell, [&] { return stream(each); });
  samples.add(row_name(each.as, "busy"), "MiB/s", each.as.named, busy);
  std::array<double, 2> rates = {};
  wire_.receive(rates.data(), sizeof rates);
  samples.add(row_name(each.as, "computation quiet"), "steps/s", each.as.named, rates[0]);
  samples.add(row_name(each.as, "computation disturbed"), "steps/s", each.as.named, rates[1]);
}

void RawPair::initiate(Report& report) {
  for (const Moved& each : cases_) {
    prepare(each, 1);
    start(each);
    finish(each);
  }
  Samples overlaps(options_.cold ? "overlap cold" : "overlap");
  CacheScrubber scrubber;
  for (std::size_t i = 0; i < options_.repetitions * kOverlapsPerRepetition; ++i) {
    for (const Moved& each : cases_) {
      if (each.as.layout == "strided") continue;
      prepare(each, 2);  // once alone, once beside the computation
      measure_overlap(
          each.as, overlaps, options_.cold ? &scrubber : nullptr, [&] { start(each); },
          [&] { finish(each); });
    }
  }
  overlaps.give(report, options_.form);
  Samples tolerance("cpu-tolerance");
  for (std::size_t i = 0; i < options_.repetitions; ++i) {
    for (const Moved& each : cases_) {
      if (each.as.layout != "2-D") measure_busy(each, tolerance);
    }
  }
  tolerance.give(report, options_.form);
  order(Order::What::end, cases_.front(), 0);
}

void RawPair::obey() {
  const char done = 1;
  while (true) {
    Order given = {};
    wire_.receive(&given, sizeof given);
    if (given.what == Order::What::end) return;
    device_.drain();
    switch (given.what) {
      case Order::What::compute:
        word(kPhase) = static_cast<std::uint64_t>(Phase::quiet);
        word(kRunning) = 0;
        wire_.send(&done, 1);
        computing_ = std::jthread([this] {
          const ComputeRates found = compute_until_end(word(kPhase), word(kRunning));
          const std::array<double, 2> rates = {found.quiet, found.traffic};
          wire_.send(rates.data(), sizeof rates);
        });
        break;
      case Order::What::scatter:
        post(given.what, cases_[given.which], given.count);
        wire_.send(&done, 1);
        break;
      default:
        post(given.what, cases_[given.which], given.count);
    }
  }
}

}  // namespace rma::bench
