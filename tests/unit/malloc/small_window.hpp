#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <utility>

#include "malloc/window.hpp"

namespace librma {

inline constexpr std::size_t kMiB = std::size_t{1} << 20U;

inline Window make_window(std::size_t limit, HugePages huge_pages = HugePages::off) {
  auto window = Window::create({.limit = limit, .huge_pages = huge_pages});
  EXPECT_TRUE(window.ok()) << window.status().text();
  return std::move(window).value();
}

/// Returns how many bytes the system holds for the window's file.
inline std::size_t bytes_held(const Window& window) {
  struct stat about {};
  EXPECT_EQ(fstat(window.fd(), &about), 0);
  return static_cast<std::size_t>(about.st_blocks) * 512;
}

}  // namespace librma
