/**
 * @file effective.cpp
 * The effective bandwidth of all ranks, b_eff (Koniges, Rabenseifner, Solchenbach, "Benchmark design for
 * characterization of balanced high-performance architectures", 2001), for few ranks and short messages:
 *
 *     b_eff = logavg(logavg over ring patterns, logavg over random patterns)
 *             of the mean over 21 sizes of the best bandwidth of the methods
 *
 * A pattern divides the ranks into rings, and each rank sends a message to both of its neighbours. The rings
 * have 2, 4, 8... members and, in the last pattern, all. In a random pattern the ranks are shuffled before.
 * The sizes are the powers of two up to 4 KiB, and eight more that grow by equal factors up to the longest.
 * The two methods are one exchange after the other, and both at once. (The original has a third,
 * MPI_Alltoallv, up to 128 MiB, and takes the best of three repetitions.)
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "harness/clock.hpp"
#include "messages/job.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {
namespace {

constexpr std::size_t kEvenTo = 4096;  ///< sizes are powers of two up to here
constexpr int kBeyond = 8;             ///< sizes beyond
constexpr std::size_t kMostLoops = 20;
constexpr int kRepetitions = 2;
constexpr std::uint32_t kSeed = 20060917;  ///< of the random patterns; the same on all ranks

/** The neighbours of this rank in one pattern. */
struct Neighbours {
  int left;
  int right;
};

/** Divides the ranks, in the given order, into rings of `members`; the last ring may be larger. */
Neighbours neighbours_in(const std::vector<int>& order, std::size_t members, int rank) {
  const std::size_t rings = std::max<std::size_t>(order.size() / members, 1);
  const auto place = static_cast<std::size_t>(std::ranges::find(order, rank) - order.begin());
  const std::size_t ring = std::min(place / members, rings - 1);
  const std::size_t first = ring * members;
  const std::size_t size = ring == rings - 1 ? order.size() - first : members;
  const std::size_t within = place - first;
  return {order[first + (within + size - 1) % size], order[first + (within + 1) % size]};
}

/** The memory of this rank: the two messages that it sends and the two that it receives. */
struct Exchange {
  std::span<char> to_left, to_right, from_left, from_right;

  void one_after_the_other(const Neighbours& to) const {
    Request receive = recv_nb(from_left, to.left, kPing);
    send(to_right, to.right, kPing);
    receive.wait();
    receive = recv_nb(from_right, to.right, kPong);
    send(to_left, to.left, kPong);
    receive.wait();
  }
  void at_once(const Neighbours& to) const {
    std::array requests = {recv_nb(from_left, to.left, kPing), recv_nb(from_right, to.right, kPong),
                           send_nb(to_right, to.right, kPing), send_nb(to_left, to.left, kPong)};
    wait_all(requests);
  }
};

std::vector<std::size_t> message_sizes(std::size_t longest) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size <= kEvenTo; size *= 2) sizes.push_back(size);
  const double factor = std::pow(static_cast<double>(longest) / kEvenTo, 1.0 / kBeyond);
  for (int i = 1; i <= kBeyond; ++i)
    sizes.push_back(static_cast<std::size_t>(std::lround(kEvenTo * std::pow(factor, i))));
  return sizes;
}

/** Returns the bandwidth of all ranks together in MiB/s: the best of the methods and repetitions. */
double best_bandwidth(const Job& job, const LocalBuffer& memory, const Neighbours& to, std::size_t bytes) {
  const Exchange exchange = {.to_left = {memory.data(), bytes},
                             .to_right = {memory.data() + bytes, bytes},
                             .from_left = {memory.data() + 2 * bytes, bytes},
                             .from_right = {memory.data() + 3 * bytes, bytes}};
  const std::size_t loops = std::clamp<std::size_t>(job.options.budget / bytes, 1, kMostLoops);
  const double moved = 2.0 * job.world.size() * static_cast<double>(bytes * loops) / kMebi;
  double best = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    for (const bool at_once : {false, true}) {
      job.world.barrier();
      const double begin = now_ns();
      for (std::size_t i = 0; i < loops; ++i) {
        if (at_once) {
          exchange.at_once(to);
        } else {
          exchange.one_after_the_other(to);
        }
      }
      const double slowest = job.world.allreduce(now_ns() - begin, Reduction::kMax);
      best = std::max(best, moved / slowest * 1e9);
    }
  }
  return best;
}

double log_average(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

double average(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void measure_effective(const Job& job) {
  const std::vector<std::size_t> sizes = message_sizes(job.options.longest);
  const LocalBuffer memory(4 * job.options.longest);
  const auto ranks = static_cast<std::size_t>(job.world.size());
  std::vector<std::size_t> rings;
  for (std::size_t members = 2; members < ranks; members *= 2) rings.push_back(members);
  rings.push_back(ranks);

  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(kSeed);
  std::vector<double> of_kind;     // the ring patterns' and the random patterns' average
  std::vector<double> at_longest;  // the same for the longest message alone
  for (const bool shuffled : {false, true}) {
    std::vector<double> means;
    std::vector<double> longest;
    for (const std::size_t members : rings) {
      if (shuffled) std::ranges::shuffle(order, random);
      const Neighbours to = neighbours_in(order, members, job.rank());
      std::vector<double> each;
      each.reserve(sizes.size());
      for (const std::size_t bytes : sizes) each.push_back(best_bandwidth(job, memory, to, bytes));
      means.push_back(average(each));
      longest.push_back(each.back());
    }
    of_kind.push_back(log_average(means));
    at_longest.push_back(log_average(longest));
  }
  job.record("effective", "b_eff", "MiB/s", 0, {log_average(of_kind)});
  job.record("effective", "b_eff at the longest", "MiB/s", 0, {log_average(at_longest)});
  job.record("effective", "b_eff at the longest, rings only", "MiB/s", 0, {at_longest[0]});
  const double per_rank = log_average(of_kind) / static_cast<double>(ranks);
  job.record("effective", "b_eff of a rank", "MiB/s", 0, {per_rank});
}

}  // namespace rma::bench
