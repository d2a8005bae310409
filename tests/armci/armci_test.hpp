#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "../multi/harness.hpp"
#include "armci.h"

// Helpers of the ARMCI tests with several processes, in addition to the harness of the runtime's tests.

namespace armci_test {

using multi::me;
using multi::Random;
using multi::ranks;

/// Memory of `bytes` bytes at every process. The constructor and the destructor are collective.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : addresses_(static_cast<std::size_t>(ranks())), bytes_(bytes) {
    EXPECT_EQ(ARMCI_Malloc(addresses_.data(), static_cast<armci_size_t>(bytes)), 0);
    if (bytes > 0) std::memset(mine(), 0, bytes);
    ARMCI_Barrier();
  }
  ~Memory() {
    ARMCI_Barrier();
    EXPECT_EQ(ARMCI_Free(mine()), 0);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Returns the memory's address at `process`.
  [[nodiscard]] char* at(int process) const {
    return static_cast<char*>(addresses_[static_cast<std::size_t>(process)]);
  }
  [[nodiscard]] char* mine() const { return at(me()); }
  template <typename T>
  [[nodiscard]] T* as(int process) const {
    return reinterpret_cast<T*>(at(process));
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::vector<void*> addresses_;
  std::size_t bytes_;
};

/// The arguments of a strided call, drawn at random so that no segments overlap.
struct Shape {
  int levels = 0;
  std::array<int, ARMCI_MAX_STRIDE_LEVEL> remote_strides = {};
  std::array<int, ARMCI_MAX_STRIDE_LEVEL> local_strides = {};
  std::array<int, ARMCI_MAX_STRIDE_LEVEL + 1> counts = {};
  std::size_t remote_extent = 0;
  std::size_t local_extent = 0;

  /// Draws a shape. `unit` divides counts[0] and all strides. If `empty` is allowed, some counts are 0.
  static Shape draw(Random& random, int unit, bool empty);

  /// Calls `visit(remote offset, local offset)` for each contiguous segment.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    visit_level(levels, 0, 0, visit);
  }

 private:
  template <typename Visit>
  void visit_level(int level, std::size_t remote, std::size_t local, const Visit& visit) const {
    if (level == 0) {
      visit(remote, local);
      return;
    }
    const auto above = static_cast<std::size_t>(level);
    for (int i = 0; i < counts[above]; ++i) {
      visit_level(level - 1,
                  remote + static_cast<std::size_t>(i) * static_cast<std::size_t>(remote_strides[above - 1]),
                  local + static_cast<std::size_t>(i) * static_cast<std::size_t>(local_strides[above - 1]),
                  visit);
    }
  }
};

inline Shape Shape::draw(Random& random, int unit, bool empty) {
  Shape shape;
  shape.levels = static_cast<int>(random.below(4));
  shape.counts[0] = unit * static_cast<int>(random.between(1, 24));
  int remote = shape.counts[0];
  int local = shape.counts[0];
  for (int i = 0; i < shape.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    shape.remote_strides[at] = remote + unit * static_cast<int>(random.below(4));
    shape.local_strides[at] = local + unit * static_cast<int>(random.below(4));
    shape.counts[at + 1] = static_cast<int>(random.between(1, 5));
    remote = shape.remote_strides[at] * shape.counts[at + 1];
    local = shape.local_strides[at] * shape.counts[at + 1];
  }
  shape.remote_extent = static_cast<std::size_t>(remote);
  shape.local_extent = static_cast<std::size_t>(local);
  if (empty && random.chance(5)) shape.counts[random.below(static_cast<std::size_t>(shape.levels) + 1)] = 0;
  return shape;
}

}  // namespace armci_test
