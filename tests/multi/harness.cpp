#include "harness.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "../sanitized.hpp"

namespace multi {
namespace {

std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325U;  // FNV-1a
  for (const std::byte byte : bytes) sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  return sum;
}

/// Returns the draws for the slice that `initiator` has at `target`.
Random slice_draws(int target, int initiator) {
  return {0x51, static_cast<std::uint64_t>(target), static_cast<std::uint64_t>(initiator)};
}

std::size_t in_world(std::size_t bytes) { return bytes * static_cast<std::size_t>(ranks()); }

}  // namespace

std::uint64_t seed() {
  static const std::uint64_t kSeed = [] {
    const char* const given = std::getenv("LIBRMA_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : 20040426ULL;
  }();
  return kSeed;
}

Random::Random(std::initializer_list<std::uint64_t> key) {
  std::vector<std::uint64_t> words = {seed(), seed() >> 32U};
  words.insert(words.end(), key);
  std::seed_seq sequence(words.begin(), words.end());
  engine_.seed(sequence);
}

void Random::fill(std::span<std::byte> bytes) {
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    const std::uint64_t eight = word();
    std::memcpy(bytes.data() + at, &eight, 8);
  }
  for (; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(word());
}

testing::AssertionResult ok(rma_status_t status) {
  if (status == RMA_SUCCESS) return testing::AssertionSuccess();
  return testing::AssertionFailure() << rma_strerror(status) << ": " << rma_last_error();
}

testing::AssertionResult refused(rma_status_t status, rma_status_t code,
                                 std::initializer_list<std::string_view> words) {
  if (status != code) {
    return testing::AssertionFailure() << "returned " << rma_strerror(status) << ", not "
                                       << rma_strerror(code) << "; last error: " << rma_last_error();
  }
  const std::string text = rma_last_error();
  for (const std::string_view word : words) {
    if (text.find(word) == std::string::npos) {
      return testing::AssertionFailure() << "'" << text << "' does not name '" << word << "'";
    }
  }
  return testing::AssertionSuccess();
}

int fewer_rounds() {
  for (int rank = 0; rank < ranks(); ++rank) {
    if (rma_same_host(rank) == 0) return 40;
  }
  return kSanitized ? 3 : 1;
}

const char* name(Remote kind) { return kind == Remote::window ? "remote window" : "remote registered"; }

const char* name(Local kind) {
  constexpr std::array kNames = {"local plain", "local window", "local registered"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* name(Mode mode) {
  constexpr std::array kNames = {"blocking", "request", "implicit"};
  return kNames[static_cast<std::size_t>(mode)];
}

Memory::Memory(Remote kind, std::size_t bytes, rma_team_t team) : kind_(kind), team_(team) {
  int size = 0;
  EXPECT_TRUE(ok(rma_team_info(team, nullptr, &size)));
  addresses_.resize(static_cast<std::size_t>(size));
  void* mine = nullptr;
  if (kind == Remote::window) {
    EXPECT_TRUE(ok(rma_malloc(team, bytes, 0, addresses_.data(), &mine)));
  } else {
    own_.resize(bytes);
    mine = own_.data();
    EXPECT_TRUE(ok(rma_register(mine, bytes)));
    EXPECT_TRUE(ok(rma_allgather(team, addresses_.data(), &mine, sizeof mine)));
  }
  mine_ = {static_cast<std::byte*>(mine), bytes};
}

Memory::~Memory() {
  if (kind_ == Remote::window) {
    EXPECT_TRUE(ok(rma_free(team_, mine_.data())));
  } else {
    EXPECT_TRUE(ok(rma_barrier(team_)));
    EXPECT_TRUE(ok(rma_unregister(mine_.data())));
  }
}

Buffer::Buffer(Local kind, std::size_t bytes) : kind_(kind) {
  void* address = nullptr;
  if (kind == Local::window) {
    EXPECT_TRUE(ok(rma_malloc_local(bytes, 0, &address)));
  } else {
    own_.resize(bytes);
    address = own_.data();
    if (kind == Local::registered) EXPECT_TRUE(ok(rma_register(address, bytes)));
  }
  bytes_ = {static_cast<std::byte*>(address), bytes};
}

Buffer::~Buffer() {
  if (kind_ == Local::window) EXPECT_TRUE(ok(rma_free_local(bytes_.data())));
  if (kind_ == Local::registered) EXPECT_TRUE(ok(rma_unregister(bytes_.data())));
}

Slices::Slices(Remote kind, std::size_t bytes, const Fill& fill)
    : bytes_(bytes), memory_(kind, in_world(bytes)) {
  for (int other = 0; other < ranks(); ++other) {
    Random here = slice_draws(me(), other);
    fill(here, memory_.mine().subspan(static_cast<std::size_t>(other) * bytes, bytes));
    Random there = slice_draws(other, me());
    fill(there, models_.emplace_back(bytes));
  }
  barrier();
}

void Slices::check() {
  barrier();
  std::vector<std::uint64_t> sums;
  std::vector<std::byte> got(bytes_);
  for (int target = 0; target < ranks(); ++target) {
    EXPECT_TRUE(ok(rma_get(got.data(), at(target), bytes_, target)));
    const std::size_t different = first_difference(got, model(target));
    EXPECT_EQ(different, bytes_) << "slice at rank " << target << " differs from its model in that byte";
    sums.push_back(checksum(model(target)));
  }
  std::vector<std::uint64_t> all(in_world(sums.size()));
  EXPECT_TRUE(ok(rma_allgather(rma_team_world(), all.data(), sums.data(), sums.size() * sizeof sums[0])));
  for (int other = 0; other < ranks(); ++other) {
    const std::uint64_t expected =
        all[static_cast<std::size_t>(other) * sums.size() + static_cast<std::size_t>(me())];
    EXPECT_EQ(checksum(memory_.mine().subspan(static_cast<std::size_t>(other) * bytes_, bytes_)), expected)
        << "the slice of rank " << other << " in this rank's memory";
  }
  barrier();
}

std::size_t first_difference(std::span<const std::byte> one, std::span<const std::byte> other) {
  return static_cast<std::size_t>(std::mismatch(one.begin(), one.end(), other.begin()).first - one.begin());
}

}  // namespace multi
