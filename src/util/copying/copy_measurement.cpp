#include <sys/mman.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime() is POSIX's

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "util/clock.hpp"
#include "util/copying/copy_table.hpp"

namespace librma {
namespace {

/// A size that is measured, and the classes that it decides. In each round every method takes one sample, so
/// that a disturbance by other work falls on all of them, and each method's best sample counts.
struct Probe {
  std::size_t bytes;
  std::size_t first_class;
  std::size_t end_class;
  int copies;  ///< in a sample: so many that reading the clock does not count
  int rounds;  ///< the first one also brings the data into the caches
};
constexpr std::array<Probe, 5> kProbes = {{
    {.bytes = 4096, .first_class = 0, .end_class = 2, .copies = 8, .rounds = 6},
    {.bytes = 16384, .first_class = 2, .end_class = 4, .copies = 4, .rounds = 6},
    {.bytes = 32768, .first_class = 4, .end_class = 5, .copies = 2, .rounds = 6},
    {.bytes = 65536, .first_class = 5, .end_class = 7, .copies = 1, .rounds = 6},
    {.bytes = 262144, .first_class = 7, .end_class = kCopyClasses, .copies = 1, .rounds = 3},
}};
constexpr std::size_t kMostBytes = kProbes.back().bytes;
/// Where the destination lies relative to the source's cache lines if the two do not lie alike.
constexpr std::size_t kShift = 24;
/// A method must be so much faster than the one of the next smaller class to be chosen instead of it.
constexpr double kGain = 0.97;

/// Returns the method for blocks that are longer than what is measured. A tie between memcpy and `rep movsb`
/// goes to the latter. glibc's memcpy is that instruction too for what fits into the second-level cache, and
/// changes to a loop of vectors above, which was 15 to 25 % slower from 1 to 8 MiB (AMD family 26). To
/// measure such a block would take longer than all the others together, because its pages must be cleared
/// first.
CopyMethod beyond(CopyMethod chosen, const std::array<double, kCopyMethods>& times) {
  const double library = times[static_cast<std::size_t>(CopyMethod::library)];
  const double movsb = times[static_cast<std::size_t>(CopyMethod::movsb)];
  return chosen == CopyMethod::library && kGain * movsb <= library ? CopyMethod::movsb : chosen;
}

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

/// Returns the nanoseconds that each method takes for a block of `probe`; the greatest number for a method
/// that is no candidate.
std::array<double, kCopyMethods> times_of(const Probe& probe, std::byte* to, const std::byte* from) {
  constexpr std::array kCandidates = {CopyMethod::library, CopyMethod::vectors32, CopyMethod::vectors64,
                                      CopyMethod::movsb};
  std::array<double, kCopyMethods> times = {};
  times.fill(std::numeric_limits<double>::max());
  for (int round = 0; round < probe.rounds; ++round) {
    for (const CopyMethod method : kCandidates) {
      const BlockCopy copy = block_copy(method);
      if (copy == nullptr) continue;
      const std::int64_t began = monotonic_nanoseconds();
      for (int i = 0; i < probe.copies; ++i) copy(to, from, probe.bytes);
      double& best = times[static_cast<std::size_t>(method)];
      best = std::min(best, static_cast<double>(monotonic_nanoseconds() - began) / probe.copies);
    }
  }
  return times;
}

}  // namespace

CopyTable measure_copies(std::chrono::nanoseconds budget) {
  CopyTable table = CopyTable::of(CopyMethod::library);
  const std::int64_t end = thread_nanoseconds() + budget.count();
  const Buffers buffers;
  if (!buffers.good()) return table;
  std::array<CopyMethod, 2> chosen = {CopyMethod::library, CopyMethod::library};
  for (const Probe& probe : kProbes) {
    for (const std::size_t alike : {std::size_t{1}, std::size_t{0}}) {
      if (thread_nanoseconds() > end) return table;
      const auto times = times_of(probe, buffers.destination() + (alike != 0 ? 0 : kShift), buffers.source());
      const auto best = std::min_element(times.begin(), times.end());
      if (*best < kGain * times[static_cast<std::size_t>(chosen[alike])]) {
        chosen[alike] = static_cast<CopyMethod>(best - times.begin());
      }
      if (probe.end_class == kCopyClasses) chosen[alike] = beyond(chosen[alike], times);
      CopyTable::Row& row = table.methods[alike];
      std::fill(row.begin() + static_cast<std::ptrdiff_t>(probe.first_class),
                row.begin() + static_cast<std::ptrdiff_t>(probe.end_class), chosen[alike]);
    }
  }
  return table;
}

}  // namespace librma
