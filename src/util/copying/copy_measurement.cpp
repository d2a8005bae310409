#include <sys/mman.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime() is POSIX's

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "util/clock.hpp"
#include "util/copying/copy_table.hpp"

namespace librma {
namespace {

/// How a size is measured. In each round every method takes one sample, so that a disturbance by other work
/// falls on all of them, and each method's best sample counts.
struct Sampling {
  int copies;  ///< in a sample: so many that reading the clock does not count
  int rounds;  ///< the first one also brings the data into the caches
};
constexpr std::array<Sampling, kCopyProbes.size()> kSamplings = {{
    {.copies = 8, .rounds = 6},
    {.copies = 4, .rounds = 6},
    {.copies = 2, .rounds = 6},
    {.copies = 1, .rounds = 6},
}};
constexpr std::size_t kMostBytes = kCopyProbes.back().bytes;
/// Where the destination lies relative to the source's cache lines if the two do not lie alike.
constexpr std::size_t kShift = 24;

/// Two blocks of private memory.
class Buffers {
 public:
  Buffers()
      : memory_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
                     0)) {}
  ~Buffers() {
    if (good()) munmap(memory_, kBytes);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  [[nodiscard]] bool good() const { return memory_ != MAP_FAILED; }
  [[nodiscard]] const std::byte* source() const { return static_cast<const std::byte*>(memory_); }
  [[nodiscard]] std::byte* destination() const {
    return static_cast<std::byte*>(memory_) + kMostBytes + kPage / 2;
  }

 private:
  /// The two blocks begin half a page apart, because processors take a load for one of a recent store if the
  /// addresses differ by whole pages.
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kBytes = 2 * kMostBytes + kPage;
  void* memory_;
};

/// Returns the processor time of this thread. Time in which others had the processor does not count, so that
/// a busy machine measures as much as an idle one.
std::int64_t thread_nanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Returns the nanoseconds that each method takes for a block of `bytes`; 0 for a method that is no
/// candidate.
CopyTimes::OfMethods times_of(std::size_t bytes, const Sampling& sampling, std::byte* to,
                              const std::byte* from) {
  constexpr std::array kCandidates = {CopyMethod::library, CopyMethod::vectors32, CopyMethod::vectors64,
                                      CopyMethod::movsb};
  CopyTimes::OfMethods times = {};
  for (int round = 0; round < sampling.rounds; ++round) {
    for (const CopyMethod method : kCandidates) {
      const BlockCopy copy = block_copy(method);
      if (copy == nullptr) continue;
      const std::int64_t began = monotonic_nanoseconds();
      for (int i = 0; i < sampling.copies; ++i) copy(to, from, bytes);
      // A clock may stand still for a short sample. 0 means that nobody measured.
      const std::int64_t took = std::max(monotonic_nanoseconds() - began, std::int64_t{1});
      double& best = times[static_cast<std::size_t>(method)];
      const double sample = static_cast<double>(took) / sampling.copies;
      best = best == 0 ? sample : std::min(best, sample);
    }
  }
  return times;
}

}  // namespace

CopyTimes time_copies(std::chrono::nanoseconds budget) {
  CopyTimes times;
  const Buffers buffers;
  if (!buffers.good()) return times;
  // In some virtual machines the first touch of a page takes longer than the samples of a size: 12 us were
  // seen for a page that the system had populated. So it does not count.
  std::memcpy(buffers.destination(), buffers.source(), kMostBytes);
  const std::int64_t end = thread_nanoseconds() + budget.count();
  // The longest blocks come first: their classes are the most, and gain the most time.
  for (std::size_t probe = kCopyProbes.size(); probe-- > 0;) {
    for (const std::size_t alike : {std::size_t{1}, std::size_t{0}}) {
      if (thread_nanoseconds() > end) return times;
      times.at[alike][probe] = times_of(kCopyProbes[probe].bytes, kSamplings[probe],
                                        buffers.destination() + (alike != 0 ? 0 : kShift), buffers.source());
    }
  }
  return times;
}

}  // namespace librma
