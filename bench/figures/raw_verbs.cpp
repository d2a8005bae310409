/**
 * @file raw_verbs.cpp
 * raw-verbs: overlap and CPU tolerance of the device itself, measured as figures-bench measures the library.
 * Without --connect it is the target.
 */
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "figures/measured.hpp"
#include "figures/raw_device.hpp"

namespace rma::bench {
namespace {

constexpr std::size_t kPage = 4096;  ///< the words of a computing target; the data follows
constexpr std::size_t kPhase = 0;
constexpr std::size_t kRunning = 64;
constexpr std::size_t kTold = 128;  ///< the initiator's local copy, which it writes to kPhase

struct RawOptions {
  std::string device = "rxe0";
  std::string connect;
  std::string json;
  int port = 18516;
  std::size_t repetitions = 5;
  std::size_t window = kWindow;
  std::vector<std::size_t> sizes = {std::size_t{16} << 10, std::size_t{64} << 10, std::size_t{256} << 10,
                                    std::size_t{1} << 20};
  bool cold = false;
};

class Pair {
 public:
  Pair(const RawOptions& options, const Wire& wire)
      : options_(options),
        wire_(wire),
        device_(options.device, wire, kPage + *std::max_element(options.sizes.begin(), options.sizes.end())) {
    for (const std::size_t bytes : options.sizes) {
      for (const bool put : {true, false}) {
        cases_.push_back(
            {.put = put, .layout = "contiguous", .bytes = bytes, .segment = bytes, .named = bytes});
      }
    }
  }

  void initiate(Report& report) {
    for (const Case& each : cases_) move(each);
    Samples overlaps(options_.cold ? "overlap cold" : "overlap");
    CacheScrubber scrubber;
    for (std::size_t i = 0; i < options_.repetitions * kOverlapsPerRepetition; ++i) {
      for (const Case& each : cases_) {
        measure_overlap(
            each, overlaps, options_.cold ? &scrubber : nullptr,
            [&] { device_.start(each.put, kPage, each.bytes); }, [&] { device_.finish(); });
      }
    }
    overlaps.give(report, "raw");
    Samples tolerance("cpu-tolerance");
    for (std::size_t i = 0; i < options_.repetitions; ++i) {
      for (const Case& each : cases_) initiate_busy(each, tolerance);
    }
    tolerance.give(report, "raw");
  }

  void be_target() {
    for (std::size_t i = 0; i < options_.repetitions * cases_.size(); ++i) {
      word(kPhase) = static_cast<std::uint64_t>(Phase::quiet);
      word(kRunning) = 0;
      wire_.meet();
      const ComputeRates found = compute_until_end(word(kPhase), word(kRunning));
      const std::array<double, 2> rates = {found.quiet, found.traffic};
      wire_.send(rates.data(), sizeof rates);
    }
  }

 private:
  std::uint64_t& word(std::size_t offset) {
    return *std::launder(reinterpret_cast<std::uint64_t*>(device_.memory() + offset));
  }
  void move(const Case& each) {
    device_.start(each.put, kPage, each.bytes);
    device_.finish();
  }
  /** The device completes requests in the order of posting, so they need no names. */
  double stream(const Case& each) {
    return bandwidth(
        each.bytes, kTrafficNs, options_.window,
        [&](std::size_t /*place*/) { device_.start(each.put, kPage, each.bytes); },
        [&](std::size_t /*place*/) { device_.finish(); }, [] {});
  }
  void initiate_busy(const Case& each, Samples& samples) {
    samples.add(row_name(each, "idle"), "MiB/s", each.named, stream(each));
    wire_.meet();
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
    samples.add(row_name(each, "busy"), "MiB/s", each.named, busy);
    std::array<double, 2> rates = {};
    wire_.receive(rates.data(), sizeof rates);
    samples.add(row_name(each, "computation quiet"), "steps/s", each.named, rates[0]);
    samples.add(row_name(each, "computation disturbed"), "steps/s", each.named, rates[1]);
  }

  const RawOptions& options_;
  const Wire& wire_;
  RawDevice device_;
  std::vector<Case> cases_;
};

int run(int argc, char** argv) {
  RawOptions options;
  CLI::App app{"Measures overlap and CPU tolerance of an RDMA device; both sides need the same options"};
  app.add_option("--device", options.device, "RDMA device")->capture_default_str();
  app.add_option("--connect", options.connect,
                 "Host on which the target runs; without it this is the target");
  app.add_option("--port", options.port, "TCP port by which the two meet")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--json", options.json, "Write the results as JSON to this file (- for standard output)");
  app.add_option("--repetitions", options.repetitions, "Samples of each row")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--window", options.window, "Transfers of a bandwidth that are under way at once")
      ->check(CLI::Range(1, static_cast<int>(RawDevice::kDepth)))
      ->capture_default_str();
  app.add_option("--sizes", options.sizes, "Bytes of a transfer")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber);
  app.add_flag("--cold", options.cold, "Empty the caches before each overlapped transfer");
  CLI11_PARSE(app, argc, argv);
  const Wire wire(options.connect, options.port);
  Pair pair(options, wire);
  if (options.connect.empty()) {
    pair.be_target();
    return EXIT_SUCCESS;
  }
  Report report;
  report.backend = "raw verbs";
  report.ranks = 2;
  pair.initiate(report);
  if (options.json != "-") report.print();
  if (!options.json.empty() && !report.write_json(options.json)) {
    std::fprintf(stderr, "raw-verbs: cannot write the results to %s\n", options.json.c_str());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::run(argc, argv); }
