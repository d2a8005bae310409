#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "harness.hpp"
#include "rma/messages.h"

// What the tests of two-sided messages share.

namespace multi {

/// The contents of a message, which depend on its number, its sender and its receiver.
inline std::vector<std::byte> contents(std::size_t bytes, std::uint64_t number, int from, int to) {
  std::vector<std::byte> all(bytes);
  std::uint64_t state =
      (number << 20U) + (static_cast<std::uint64_t>(from) << 10U) + static_cast<std::uint64_t>(to);
  for (std::size_t at = 0; at < bytes; at += 8) {
    state = (state + 1) * 0x9e3779b97f4a7c15U;
    const std::uint64_t word = state ^ (state >> 29U);
    std::memcpy(all.data() + at, &word, std::min<std::size_t>(8, bytes - at));
  }
  return all;
}

/// The sizes at which the way of a message changes. The longest is shorter in large jobs.
inline std::vector<std::size_t> message_sizes() {
  std::vector<std::size_t> sizes = {0, 1, 8, 47, 48, 49, 63, 64, 65, 991, 992, 993, 8191, 8192, 8193, 65536};
  if (ranks() <= 4) sizes.push_back((std::size_t{1} << 20U) + 3);
  return sizes;
}

/// The most memory that this process has ever used, in KiB.
inline long peak_memory() {
  std::FILE* const file = std::fopen("/proc/self/status", "re");
  if (file == nullptr) return 0;
  long peak = 0;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "VmHWM:", 6) == 0) peak = std::strtol(line + 6, nullptr, 10);
  }
  std::fclose(file);
  return peak;
}

/// Checks what a receive says of its message.
inline void expect_info(const rma_message_info_t& info, int source, int tag, std::size_t bytes) {
  EXPECT_EQ(info.source, source);
  EXPECT_EQ(info.tag, tag);
  EXPECT_EQ(info.bytes, bytes);
}

}  // namespace multi
