#pragma once

#include <atomic>
#include <cstdint>

namespace librma {

/// The set that meets every other one. A wake-up is for the sleepers whose set has a bit in common
/// with the waker's.
inline constexpr std::uint32_t kAllSleepers = 0xffffffff;

/// Sleeps until another thread wakes it with a set that has a bit in common with `sleepers`. Returns at once
/// if `word`, which processes may share, is not `expected`. May also return without a reason, so the caller
/// tests its condition again.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::uint32_t sleepers = kAllSleepers);

/// Does the same for at most `nanoseconds`. Returns whether it slept for that long.
bool futex_nap(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t nanoseconds,
               std::uint32_t sleepers = kAllSleepers);

/// Wakes at most `most` sleepers whose set has a bit in common with `sleepers`.
void futex_wake(std::atomic<std::uint32_t>& word, int most, std::uint32_t sleepers = kAllSleepers);

}  // namespace librma
