#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "collectives/schedules/plans.hpp"
#include "plan_network.hpp"

// What the tests of plans share: numbers of members, random data, and elements whose combination does not
// commute.

namespace librma {
namespace {

using testing_plans::PlanNetwork;

/// An element of the reductions: the map x -> a * x + b. One map after the other is another one; that is
/// associative and does not commute.
struct Map {
  std::uint64_t a = 1;
  std::uint64_t b = 0;
  bool operator==(const Map&) const = default;
};

Map after(const Map& lower, const Map& higher) {
  return {.a = lower.a * higher.a, .b = lower.b * higher.a + higher.b};
}
/// This one commutes.
Map both(const Map& lower, const Map& higher) { return {.a = lower.a * higher.a, .b = lower.b + higher.b}; }

template <Map (*kCombine)(const Map&, const Map&)>
void combine(const void* in, void* inout, std::size_t count, void* /*context*/) {
  const auto* const from = static_cast<const Map*>(in);
  auto* const to = static_cast<Map*>(inout);
  for (std::size_t i = 0; i < count; ++i) to[i] = kCombine(from[i], to[i]);
}

/// The numbers of members that teams have here. The two largest teams take most of the time, so a build
/// with a sanitizer leaves them out.
inline std::vector<int> team_sizes() {
  std::vector<int> sizes = {1, 2, 3, 4, 5, 7, 8};
  if (!kSanitized) sizes.insert(sizes.end(), {11, 16});
  return sizes;
}

class Plans : public testing::TestWithParam<int> {
 protected:
  int members = GetParam();
  std::mt19937_64 random{test_seed() * 100 + static_cast<std::uint64_t>(members)};

  [[nodiscard]] std::size_t n() const { return static_cast<std::size_t>(members); }

  /// Executes the operation that `of` returns for each member.
  void execute(const std::function<rma_collective_t(int)>& of, const char* what) {
    std::vector<Plan> plans;
    for (int member = 0; member < members; ++member) {
      plan_collective(plans.emplace_back(member, members), of(member));
    }
    EXPECT_TRUE(PlanNetwork(plans, of(0).reducer, random()).run()) << what << ", " << members << " members";
  }

  std::vector<std::byte> bytes(std::size_t size) {
    std::vector<std::byte> made(size);
    for (std::byte& one : made) one = static_cast<std::byte>(random());
    return made;
  }
  std::vector<std::vector<std::byte>> of_each(std::size_t size) {
    std::vector<std::vector<std::byte>> made;
    for (int member = 0; member < members; ++member) made.push_back(bytes(size));
    return made;
  }
  /// Returns a list of blocks of random sizes in `buffer`, with gaps.
  std::vector<rma_block_t> spread(std::vector<std::byte>& buffer,
                                  const std::function<std::size_t(int)>& size) {
    std::size_t total = 0;
    for (int member = 0; member < members; ++member) total += size(member) + 3;
    buffer = bytes(total);
    std::vector<rma_block_t> list;
    std::size_t at = 0;
    for (int member = 0; member < members; ++member) {
      list.push_back({.address = buffer.data() + at, .bytes = size(member)});
      at += size(member) + 3;
    }
    return list;
  }
};

std::vector<std::byte> contents(const rma_block_t& block) {
  const auto* const begin = static_cast<const std::byte*>(block.address);
  return {begin, begin + block.bytes};
}

rma_collective_t call_of(rma_collective_kind_t kind) {
  rma_collective_t made = {};
  made.kind = kind;
  return made;
}

/// The reductions, by both operations and in place or not.
class Reductions : public Plans {
 protected:
  static constexpr std::array<std::size_t, 7> kCounts = {0, 1, 3, 17, 100, 2047, 2500};

  /// Calls `check` for each count, operation and way. `commutes` and `in_place` are members then.
  void each(const std::function<void(std::size_t)>& check) {
    for (const std::size_t count : kCounts) {
      for (const bool commuting : {false, true}) {
        for (const bool same_buffer : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << count << " elements, commutes " << commuting << ", in place " << same_buffer);
          commutes = commuting;
          in_place = same_buffer;
          check(count);
        }
      }
    }
  }
  std::vector<std::vector<Map>> draw(std::size_t count) {
    std::vector<std::vector<Map>> made(n());
    for (auto& one : made) {
      one.resize(count);
      for (Map& map : one) map = {.a = random(), .b = random()};
    }
    return made;
  }
  [[nodiscard]] Map combined(const std::vector<std::vector<Map>>& of, std::size_t i, std::size_t end) const {
    Map sum = of[0][i];
    for (std::size_t member = 1; member < end; ++member) {
      sum = commutes ? both(sum, of[member][i]) : after(sum, of[member][i]);
    }
    return sum;
  }
  [[nodiscard]] rma_collective_t reduction(rma_collective_kind_t kind, Map* dst, const Map* src,
                                           std::size_t count) const {
    rma_collective_t call = call_of(kind);
    call.dst = dst;
    call.src = in_place ? dst : src;
    call.count = count;
    call.reducer = {.combine = commutes ? combine<both> : combine<after>,
                    .context = nullptr,
                    .element_bytes = sizeof(Map),
                    .commutes = commutes ? 1 : 0};
    return call;
  }

  bool commutes = false;
  bool in_place = false;
};

}  // namespace
}  // namespace librma
