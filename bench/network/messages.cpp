/**
 * @file messages.cpp
 * Two-sided messages between ranks 0 and 1: latency, and bandwidth by size from ordinary buffers that are
 * used again and that are not. RMA_RENDEZVOUS chooses the protocol of long ones.
 */
#include "rma/messages.h"

#include <algorithm>
#include <memory>
#include <string>

#include "harness/clock.hpp"
#include "network/fresh_buffer.hpp"
#include "network/job.hpp"
#include "network/ticks.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {
namespace {

constexpr std::uint32_t kContext = 3;
constexpr int kTag = 1;
constexpr std::size_t kMessageWarmUp = 20;
constexpr std::size_t kMessageMebi = std::size_t{1} << 20;
/** The most fresh buffers at a time: all of a sample. */
constexpr std::size_t kMostFresh = 64;
constexpr std::size_t kSamples = 5;

void send(const void* data, std::size_t bytes, int to) { check(rma_send(data, bytes, to, kTag, kContext)); }
void receive(void* data, std::size_t bytes, int from) {
  check(rma_recv(data, bytes, from, kTag, kContext, nullptr));
}

void latency(const Job& job) {
  const int partner = 1 - job.rank;
  std::uint64_t word = 0;
  std::vector<double> samples = time_each(job.options.iterations, kMessageWarmUp, [&](std::size_t) {
    if (job.rank == 0) send(&word, sizeof word, partner);
    receive(&word, sizeof word, partner);
    if (job.rank == 1) send(&word, sizeof word, partner);
  });
  for (double& sample : samples) sample /= 2;
  job.record("messages", "latency 8 B", "ns", 8, std::move(samples));
}

/** Rank 0 sends `count` messages, each from the buffer that at(i) returns. Rank 1 receives them alike, and
 * sends an answer when it has all. Returns MiB/s. */
template <typename At>
double stream(const Job& job, std::size_t bytes, std::size_t count, const At& at) {
  char answer = 0;
  if (job.rank == 1) {
    receive(&answer, 1, 0);
    for (std::size_t i = 0; i < count; ++i) receive(at(i), bytes, 0);
    send(&answer, 1, 0);
    return 0;
  }
  send(&answer, 1, 1);
  const double begin = now_ns();
  for (std::size_t i = 0; i < count; ++i) send(at(i), bytes, 1);
  receive(&answer, 1, 1);
  return static_cast<double>(count * bytes) / static_cast<double>(kMessageMebi) / (now_ns() - begin) * 1e9;
}

}  // namespace

void measure_messages(const Job& job) {
  if (job.rank > 1) return check(rma_barrier(rma_team_world()));
  latency(job);
  for (const std::size_t bytes : job.options.sizes) {
    const std::size_t count = std::max<std::size_t>(job.options.megabytes * kMessageMebi / bytes, 4);
    std::vector<double> again;
    std::vector<double> fresh;
    const FreshBuffer buffer(bytes);
    stream(job, bytes, 4, [&](std::size_t) { return buffer.data(); });  // not timed: connects and registers
    for (std::size_t sample = 0; sample < kSamples; ++sample) {
      again.push_back(stream(job, bytes, count, [&](std::size_t) { return buffer.data(); }));
      std::vector<std::unique_ptr<FreshBuffer>> buffers(std::min(count, kMostFresh));
      for (auto& fresh_buffer : buffers) fresh_buffer = std::make_unique<FreshBuffer>(bytes);
      fresh.push_back(stream(job, bytes, buffers.size(), [&](std::size_t i) { return buffers[i]->data(); }));
    }
    job.record("messages", size_text(bytes) + " same buffer", "MiB/s", bytes, std::move(again));
    job.record("messages", size_text(bytes) + " fresh buffers", "MiB/s", bytes, std::move(fresh));
  }
  check(rma_barrier(rma_team_world()));
}

}  // namespace rma::bench
