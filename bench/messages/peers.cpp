/**
 * @file peers.cpp
 * Latency by the number of peers that send (Shipman et al., IPDPS 2006, figure 7). Rank 0 exchanges messages
 * with each of its peers in turn, so that all of them stay in its polling set, if it has one; the other ranks
 * wait.
 */
#include "messages/job.hpp"
#include "network/ticks.hpp"

namespace rma::bench {
namespace {

/** Rounds that are not measured: enough for every peer to be offered a ring, where RMA_PROMOTE is small. */
constexpr std::size_t kWarmUpRounds = 8;
constexpr std::size_t kBytes = 8;

}  // namespace

void measure_peers(const Job& job) {
  std::uint64_t word = 0;
  const std::span<std::uint64_t> data(&word, 1);
  static_assert(sizeof word == kBytes);
  for (const std::size_t peers : job.options.peers) {
    const std::size_t rounds = std::max<std::size_t>(job.options.iterations / peers, 1);
    if (job.rank() == 0) {
      std::vector<double> samples = time_each(rounds * peers, kWarmUpRounds * peers, [&](std::size_t i) {
        const auto peer = static_cast<int>(1 + i % peers);
        send(data, peer, kPing);
        recv(data, peer, kPong);
      });
      for (double& sample : samples) sample /= 2;
      job.record("peers", std::to_string(peers) + " peers", "ns", kBytes, std::move(samples));
    } else if (static_cast<std::size_t>(job.rank()) <= peers) {
      for (std::size_t i = 0; i < kWarmUpRounds + rounds; ++i) {
        recv(data, 0, kPing);
        send(data, 0, kPong);
      }
    }
    job.world.barrier();
  }
}

}  // namespace rma::bench
