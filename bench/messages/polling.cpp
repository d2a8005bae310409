/**
 * @file polling.cpp
 * rings-bench: the time that one look at all rings takes, by the number of connections in the polling set
 * (Liu et al., ICS 2003, figure 20). The paper simulates the connections. Here each is a real one: a channel
 * of its own in this process, which was offered a ring, has accepted it, and has sent messages through it.
 * The device between them is the one of the unit tests (tests/loopback), which copies at once, because the
 * time of a look does not depend on the device: the receiver reads its own memory.
 */
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "channel/channel.hpp"
#include "fabric/rails.hpp"
#include "harness/clock.hpp"
#include "harness/report.hpp"
#include "loopback/loopback_transport.hpp"
#include "util/statistics.hpp"

namespace rma::bench {
namespace {

using librma::Channel;
using librma::Counter;
using librma::Message;
using librma::Rails;
using librma::RingShape;
using librma::total_counts;
namespace transport = librma::transport;

constexpr std::size_t kMessageBytes = 2048;
constexpr RingShape kRing = {.slots = 16, .slot_bytes = 512};
constexpr std::uint16_t kKind = 1;
constexpr std::size_t kWarmUpMessages = 8;
constexpr std::size_t kLooks = 2000;  ///< of one sample
constexpr std::size_t kSamples = 25;

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "rings-bench: %s\n", reason.c_str());
  std::exit(EXIT_FAILURE);
}

std::uint64_t messages_by_ring() { return total_counts()[static_cast<std::size_t>(Counter::message_ring)]; }

/** A process of the job: rank 0, which polls, or one that sends to it. */
struct Process {
  std::unique_ptr<Rails> rails;
  std::unique_ptr<Channel> channel;

  Process(transport::LoopbackFabric& fabric, int rank, int ranks, std::size_t rings) {
    std::vector<std::unique_ptr<transport::Transport>> transports;
    transports.push_back(fabric.open(rank, {.max_message = 1 << 20, .max_outstanding = 16}));
    rails = std::make_unique<Rails>(std::move(transports));
    const Channel::Options options = {.message_bytes = kMessageBytes,
                                      .lent = 16,
                                      .own = 4,
                                      .ring = kRing,
                                      .polling = {.most = rings, .promote_messages = 1}};
    auto made = Channel::create(*rails, ranks, options);
    if (!made.ok()) fail(std::string(made.status().text()));
    channel = std::move(made).value();
    channel->on_message(kKind, [](const Message&) { return true; });
  }
};

/** Returns the time of one look of rank 0, which finds nothing, in ns per look: samples. */
std::vector<double> time_looks(Channel& channel) {
  std::vector<double> samples;
  samples.reserve(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) {
    samples.push_back(
        time_batch(kLooks, [&](std::size_t) { static_cast<void>(channel.progress(Channel::Turn::wait)); }) /
        static_cast<double>(kLooks));
  }
  return samples;
}

/** Connects rank 0 with a peer more than `rings`, gives all others a ring, and times its looks. */
std::vector<double> look_at(std::size_t rings) {
  transport::LoopbackFabric fabric;
  const int ranks = static_cast<int>(rings) + 2;  // one has no ring
  std::vector<std::unique_ptr<Process>> processes;
  processes.reserve(rings + 2);
  for (int rank = 0; rank < ranks; ++rank)
    processes.push_back(std::make_unique<Process>(fabric, rank, ranks, rank == 0 ? rings : 1));
  Process& poller = *processes[0];
  for (int peer = 1; peer < ranks; ++peer) {
    Rails& rails = *processes[static_cast<std::size_t>(peer)]->rails;
    if (!rails[0].connect(0, (*poller.rails)[0].card()).ok()) fail("cannot connect");
  }
  const auto send_all = [&] {
    for (std::size_t peer = 1; peer <= rings; ++peer) {
      processes[peer]->channel->send(0, 0, kKind, {}, {});
      while (poller.channel->progress(Channel::Turn::wait) ||
             processes[peer]->channel->progress(Channel::Turn::wait)) {
      }
    }
  };
  for (std::size_t i = 0; i < kWarmUpMessages; ++i) send_all();
  const std::uint64_t before = messages_by_ring();
  send_all();
  if (messages_by_ring() - before != rings) fail("not every peer uses a ring");
  std::vector<double> samples = time_looks(*poller.channel);
  // All channels end before any device does.
  for (const auto& process : processes) process->channel.reset();
  return samples;
}

int run(int argc, char** argv) {
  std::string json;
  std::vector<std::size_t> connections = {1, 2, 4, 8, 16, 32, 64, 128};
  CLI::App app{"Measures how long a look at all rings takes, by their number"};
  app.add_option("--json", json, "Write the results as JSON to this file (- for standard output)");
  app.add_option("--connections", connections, "Numbers of connections that have a ring")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  Report report;
  report.backend = "rma";
  report.ranks = 1;
  // A look also asks the device for completions. That part is measured without a ring, and subtracted.
  const Spread without = summarize(look_at(0));
  const auto record = [&](const std::string& row, std::size_t rings, std::vector<double> samples) {
    report.rows.push_back({.name = {.suite = "polling", .row = row, .form = "ring", .bytes = rings},
                           .unit = "ns",
                           .spread = summarize(std::move(samples))});
  };
  for (const std::size_t rings : connections) {
    std::vector<double> samples = look_at(rings);
    record("look", rings, samples);
    for (double& sample : samples) sample = std::max(sample - without.median, 0.0);
    record("rings of a look", rings, std::move(samples));
  }
  if (json != "-") report.print();
  if (!json.empty() && !report.write_json(json)) fail("cannot write the results to " + json);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::run(argc, argv); }
