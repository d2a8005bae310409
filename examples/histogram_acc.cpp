// Accumulate. A histogram is distributed over all ranks. Each rank counts its own samples locally and then
// adds its counts to every rank's share of the bins. All ranks add to the same bins at the same time without
// locks, because accumulate is atomic for each element.
//
//   rmarun -n 4 example-histogram_acc

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <rma/rma.hpp>
#include <span>
#include <vector>

namespace {

constexpr std::size_t kBinsPerRank = 64;
constexpr long kSamplesPerRank = 20000;

// Counts the samples of one rank. The rank is the seed, so that every rank can repeat the samples of every
// other.
std::vector<long> local_histogram(int rank, std::size_t bins) {
  std::vector<long> counts(bins, 0);
  std::minstd_rand random(static_cast<std::uint32_t>(rank) + 1);
  for (long i = 0; i < kSamplesPerRank; ++i) {
    // The sum of two makes the middle bins the busy ones.
    ++counts[(random() % bins + random() % bins) / 2];
  }
  return counts;
}

int run() {
  const rma::Environment environment;
  const rma::Team world = rma::Team::world();
  const std::size_t bins = kBinsPerRank * static_cast<std::size_t>(rma::size());

  const rma::SharedArray<long> histogram(world, kBinsPerRank);
  for (long& count : histogram.local()) count = 0;
  world.barrier();

  // One nonblocking accumulate to each rank; all are under way at once.
  const std::vector<long> counts = local_histogram(rma::rank(), bins);
  std::vector<rma::Request> requests;
  for (int owner = 0; owner < rma::size(); ++owner) {
    const auto share =
        std::span(counts).subspan(static_cast<std::size_t>(owner) * kBinsPerRank, kBinsPerRank);
    requests.push_back(rma::accumulate_nb(histogram[owner], share));
  }
  rma::wait_all(requests);
  world.barrier();

  // This rank's bins must hold the sum of all ranks' counts for them.
  std::vector<long> expected(bins, 0);
  for (int r = 0; r < rma::size(); ++r) {
    const std::vector<long> theirs = local_histogram(r, bins);
    for (std::size_t b = 0; b < bins; ++b) expected[b] += theirs[b];
  }
  long wrong = 0;
  long total = 0;
  for (std::size_t b = 0; b < kBinsPerRank; ++b) {
    const long count = histogram.local()[b];
    total += count;
    if (count != expected[static_cast<std::size_t>(rma::rank()) * kBinsPerRank + b]) ++wrong;
  }
  wrong = world.allreduce(wrong, rma::Reduction::kSum);
  total = world.allreduce(total, rma::Reduction::kSum);
  if (rma::rank() == 0) std::printf("%ld samples in %zu bins, %ld bins wrong\n", total, bins, wrong);
  return wrong == 0 && total == kSamplesPerRank * rma::size() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const rma::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
