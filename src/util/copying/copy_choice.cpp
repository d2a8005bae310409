#include <algorithm>
#include <cstddef>
#include <limits>

#include "util/copying/copy_table.hpp"

namespace librma {
namespace {

/// A method must be so much faster than the one of the next smaller size to be chosen instead of it.
constexpr double kGain = 0.97;
/// Two measurements of the same code differ by up to this factor.
constexpr double kTie = 1.05;
/// The least class of blocks that are much longer than those that are measured: 256 KiB.
constexpr std::size_t kFirstLongClass = 7;
static_assert(copy_class_bytes(kFirstLongClass) == 4 * kCopyProbes.back().bytes);

/// Returns the nanoseconds of `method`; the greatest number if it was not measured.
double time_of(const CopyTimes::OfMethods& times, CopyMethod method) {
  const double time = times[static_cast<std::size_t>(method)];
  return time == 0 ? std::numeric_limits<double>::max() : time;
}

bool measured(const CopyTimes::OfMethods& times) {
  return times[static_cast<std::size_t>(CopyMethod::library)] != 0;
}

CopyMethod fastest(const CopyTimes::OfMethods& times) {
  CopyMethod best = CopyMethod::library;
  for (std::size_t i = 0; i < kCopyMethods; ++i) {
    const auto method = static_cast<CopyMethod>(i);
    if (time_of(times, method) < time_of(times, best)) best = method;
  }
  return best;
}

/// Returns whether blocks of kFirstLongClass and more go by `rep movsb` although memcpy is as fast at the
/// longest measured size. glibc's memcpy is that instruction too for what fits into the second-level cache,
/// and changes to a loop of vectors above, which was 15 to 27 % slower from 1 to 8 MiB (AMD family 26). To
/// measure such a block would take longer than all the others together, because its pages must be cleared
/// first.
bool movsb_beyond(const CopyTimes::OfMethods& longest) {
  return measured(longest) &&
         time_of(longest, CopyMethod::movsb) <= kTie * time_of(longest, CopyMethod::library);
}

}  // namespace

CopyTable fastest_copies(const CopyTimes& times) {
  CopyTable table = CopyTable::of(CopyMethod::library);
  for (std::size_t alike = 0; alike < table.methods.size(); ++alike) {
    CopyTable::Row& row = table.methods[alike];
    CopyMethod chosen = CopyMethod::library;
    for (std::size_t probe = 0; probe < kCopyProbes.size(); ++probe) {
      const CopyTimes::OfMethods& all = times.at[alike][probe];
      if (!measured(all)) continue;
      const CopyMethod best = fastest(all);
      if (time_of(all, best) < kGain * time_of(all, chosen)) chosen = best;
      const bool last = probe + 1 == kCopyProbes.size();
      const std::size_t end = last ? kCopyClasses : kCopyProbes[probe + 1].first_class;
      for (std::size_t i = kCopyProbes[probe].first_class; i < end; ++i) row[i] = chosen;
    }
    if (row.back() == CopyMethod::library && movsb_beyond(times.at[alike].back())) {
      for (std::size_t i = kFirstLongClass; i < kCopyClasses; ++i) row[i] = CopyMethod::movsb;
    }
  }
  return table;
}

}  // namespace librma
