#pragma once

#include <atomic>
#include <cstdint>

namespace rma {

/// Which sleepers of a word a wake-up is for: those whose set meets the waker's.
inline constexpr std::uint32_t kAllSleepers = 0xffffffff;

/// Sleeps while `word`, which processes may share, holds `expected`, until woken with a set that meets
/// `sleepers`. May also return for no reason: the caller looks at its condition again.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::uint32_t sleepers = kAllSleepers);

/// As futex_wait, but for `nanoseconds` at most: whether it slept for so long.
bool futex_nap(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t nanoseconds,
               std::uint32_t sleepers = kAllSleepers);

/// Wakes at most `most` of those sleepers.
void futex_wake(std::atomic<std::uint32_t>& word, int most, std::uint32_t sleepers = kAllSleepers);

}  // namespace rma
