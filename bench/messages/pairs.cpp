/**
 * @file pairs.cpp
 * Latency, host overhead and bandwidth of messages between ranks 0 and 1, as the paper of the eager ring
 * measures them (Liu, Wu, Kini, Wyckoff, Panda, ICS 2003, section 6).
 */
#include <unistd.h>

#include <ctime>

#include "messages/job.hpp"
#include "network/ticks.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {
namespace {

/** These are enough for a ring to be offered and accepted, where RMA_PROMOTE is small. */
constexpr std::size_t kWarmUp = 20;

std::span<char> bytes_of(const LocalBuffer& buffer, std::size_t bytes) { return {buffer.data(), bytes}; }

/** The time that all threads of this process have used so far, in nanoseconds. */
double processor_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void latency(const Job& job, std::size_t bytes) {
  const LocalBuffer buffer(std::max<std::size_t>(bytes, 1));
  const std::span<char> data = bytes_of(buffer, bytes);
  std::vector<double> samples = time_each(job.options.iterations, kWarmUp, [&](std::size_t) {
    if (job.rank() == 0) {
      send(data, 1, kPing);
      recv(data, 1, kPong);
    } else {
      recv(data, 0, kPing);
      send(data, 0, kPong);
    }
  });
  for (double& sample : samples) sample /= 2;
  job.record("latency", "one way", "ns", bytes, std::move(samples));
}

/** The sender's part: the processor time of the calls that send, a sample each. */
std::vector<double> overhead_of_sends(const Job& job, std::span<char> data) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < kWarmUp + job.options.iterations; ++i) {
    const double begin = processor_ns();
    send(data, 1, kPing);
    const double used = processor_ns() - begin;
    recv(std::span<char>(), 1, kPong);
    if (i >= kWarmUp) samples.push_back(used);
  }
  return samples;
}

/** The receiver's part. A message arrives while the receiver sleeps. So the processor time from before the
 * sleep to the end of the call has no waiting in it, but the work of a helper thread. The time of the sleep
 * itself, without a message, is subtracted. */
double overhead_of_receives(const Job& job, std::span<char> data) {
  const auto pause = static_cast<useconds_t>(job.options.pause);
  for (std::size_t i = 0; i < kWarmUp; ++i) {
    recv(data, 0, kPing);
    send(std::span<char>(), 0, kPong);
  }
  double used = 0;
  for (std::size_t i = 0; i < job.options.iterations; ++i) {
    const double begin = processor_ns();
    usleep(pause);
    recv(data, 0, kPing);
    used += processor_ns() - begin;
    send(std::span<char>(), 0, kPong);
  }
  // Nothing arrives any more.
  usleep(pause);
  const double begin = processor_ns();
  for (std::size_t i = 0; i < job.options.iterations; ++i) usleep(pause);
  used -= processor_ns() - begin;
  return used / static_cast<double>(job.options.iterations);
}

void overhead(const Job& job, std::size_t bytes) {
  const LocalBuffer buffer(std::max<std::size_t>(bytes, 1));
  const std::span<char> data = bytes_of(buffer, bytes);
  if (job.rank() == 1) {
    send_value(overhead_of_receives(job, data), 0, kResult);
    return;
  }
  std::vector<double> sends = overhead_of_sends(job, data);
  const auto receive = recv_value<double>(1, kResult);
  const Spread spread = summarize(sends);
  job.record("overhead", "send", "ns", bytes, std::move(sends));
  job.record("overhead", "receive", "ns", bytes, {receive});
  job.record("overhead", "send and receive", "ns", bytes, {spread.median + receive});
}

/** One window: `window` messages one after the other, and a reply. */
void push(const Job& job, std::span<char> data, std::vector<Request>& requests) {
  requests.clear();
  if (job.rank() == 0) {
    for (std::size_t i = 0; i < job.options.window; ++i) requests.push_back(send_nb(data, 1, kPing));
    wait_all(requests);
    recv(std::span<char>(), 1, kPong);
  } else {
    for (std::size_t i = 0; i < job.options.window; ++i) requests.push_back(recv_nb(data, 0, kPing));
    wait_all(requests);
    send(std::span<char>(), 0, kPong);
  }
}

void bandwidth(const Job& job, std::size_t bytes) {
  const LocalBuffer buffer(std::max<std::size_t>(bytes, 1));
  const std::span<char> data = bytes_of(buffer, bytes);
  std::vector<Request> requests;
  push(job, data, requests);  // connects, and is too short for nothing to be promoted
  std::vector<double> rates;
  std::vector<double> bandwidths;
  for (std::size_t i = 0; i < job.options.windows; ++i) {
    const double begin = now_ns();
    push(job, data, requests);
    const double seconds = (now_ns() - begin) / 1e9;
    const auto count = static_cast<double>(job.options.window);
    rates.push_back(count / seconds);
    bandwidths.push_back(count * static_cast<double>(bytes) / static_cast<double>(kMebi) / seconds);
  }
  job.record("rate", "messages", "1/s", bytes, std::move(rates));
  if (bytes > 0) job.record("bandwidth", "stream", "MiB/s", bytes, std::move(bandwidths));
}

template <typename Measure>
void for_sizes(const Job& job, const std::vector<std::size_t>& own, Measure&& measure) {
  for (const std::size_t bytes : job.sizes(own)) {
    if (job.rank() <= 1) measure(job, bytes);
    job.world.barrier();
  }
}

}  // namespace

void measure_latency(const Job& job) {
  for_sizes(job, {8, 64, 256, kKibi, 2 * kKibi, 4 * kKibi, 16 * kKibi, 64 * kKibi}, latency);
}

void measure_overhead(const Job& job) { for_sizes(job, {8, 64, 256, kKibi}, overhead); }

void measure_bandwidth(const Job& job) {
  for_sizes(job, {8, 64, 256, kKibi, 2 * kKibi, 4 * kKibi, 16 * kKibi, 64 * kKibi}, bandwidth);
}

}  // namespace rma::bench
