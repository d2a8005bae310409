// Bad arguments of transfers, atomics and notification. Each call returns its code, sets a text that names
// the call, the rank and the value, and changes nothing.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include "harness.hpp"
#include "rma/launcher.h"
#include "rma/messages.h"

namespace multi {
namespace {

constexpr std::size_t kMisuseRoom = 1024;
constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max() - 16;

/// A slice at the next rank, and local bytes. Neither may have changed at the end of the test.
class Misuse : public testing::Test {
 protected:
  Misuse() : buffer_(kMisuseRoom, std::byte{0x33}) {}
  ~Misuse() override {
    EXPECT_EQ(std::count(buffer_.begin(), buffer_.end(), std::byte{0x33}),
              static_cast<std::ptrdiff_t>(kMisuseRoom));
    slices_.check();
  }

  [[nodiscard]] std::byte* there() const { return slices_.at(target_); }
  [[nodiscard]] std::byte* here() { return buffer_.data(); }

  int target_ = neighbour(1);
  std::string rank_ = "rank " + std::to_string(target_);
  rma_request_t request_ = RMA_REQUEST_NULL;
  std::array<std::size_t, 3> counts_ = {8, 4, 4};
  std::array<std::ptrdiff_t, 2> strides_ = {16, 64};

 private:
  Slices slices_{Remote::window, kMisuseRoom};
  std::vector<std::byte> buffer_;
};

TEST_F(Misuse, NoSuchRank) {
  auto* const word = reinterpret_cast<std::uint64_t*>(there());
  auto* const half = reinterpret_cast<std::uint32_t*>(there());
  const std::array<void*, 1> dst = {there()};
  const std::array<const void*, 1> src = {here()};
  const rma_iov_t iov = {.dst = dst.data(), .src = src.data(), .segments = 1, .bytes = 8};
  const auto* const strides = strides_.data();
  const auto* const counts = counts_.data();
  for (const int rank : {ranks(), -1, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    const std::string value = std::to_string(rank);
    const auto bad = [&](rma_status_t status, const char* call) {
      EXPECT_TRUE(refused(status, RMA_ERR_RANK, {std::string(call) + ":", value}));
    };
    bad(rma_put(there(), here(), 8, rank), "rma_put");
    bad(rma_put_nb(there(), here(), 8, rank, &request_), "rma_put_nb");
    bad(rma_put_nbi(there(), here(), 8, rank), "rma_put_nbi");
    bad(rma_get(here(), there(), 8, rank), "rma_get");
    bad(rma_get_nb(here(), there(), 8, rank, &request_), "rma_get_nb");
    bad(rma_get_nbi(here(), there(), 8, rank), "rma_get_nbi");
    bad(rma_put(nullptr, nullptr, 0, rank), "rma_put");
    bad(rma_acc(there(), here(), 1, RMA_INT, nullptr, rank), "rma_acc");
    bad(rma_acc_nb(there(), here(), 1, RMA_INT, nullptr, rank, &request_), "rma_acc_nb");
    bad(rma_acc_nbi(there(), here(), 1, RMA_INT, nullptr, rank), "rma_acc_nbi");
    bad(rma_put_strided(there(), strides, here(), strides, counts, 2, rank), "rma_put_strided");
    bad(rma_get_strided(here(), strides, there(), strides, counts, 2, rank), "rma_get_strided");
    bad(rma_acc_strided(there(), strides, here(), strides, counts, 2, RMA_INT, nullptr, rank),
        "rma_acc_strided");
    bad(rma_put_vector(&iov, 1, rank), "rma_put_vector");
    bad(rma_get_vector(&iov, 1, rank), "rma_get_vector");
    bad(rma_acc_vector(&iov, 1, RMA_INT, nullptr, rank), "rma_acc_vector");
    bad(rma_atomic64(RMA_SET, word, 1, 0, nullptr, rank), "rma_atomic64");
    bad(rma_atomic32(RMA_SET, half, 1, 0, nullptr, rank), "rma_atomic32");
    bad(rma_put_notify(there(), here(), 8, word, 1, rank), "rma_put_notify");
    bad(rma_put_strided_notify(there(), strides, here(), strides, counts, 2, word, 1, rank),
        "rma_put_strided_notify");
    bad(rma_fence(rank), "rma_fence");
    void* mapped = nullptr;
    bad(rma_map(there(), 8, rank, &mapped), "rma_map");
  }
  EXPECT_EQ(request_, RMA_REQUEST_NULL);
}

TEST_F(Misuse, Null) {
  const auto bad = [&](rma_status_t status, std::string_view call, std::string_view argument) {
    EXPECT_TRUE(refused(status, RMA_ERR_ARGUMENT, {call, argument, "null"}));
  };
  bad(rma_put(nullptr, here(), 8, target_), "rma_put:", "dst");
  bad(rma_put(there(), nullptr, 8, target_), "rma_put:", "src");
  bad(rma_get(nullptr, there(), 8, target_), "rma_get:", "dst");
  bad(rma_get(here(), nullptr, 8, target_), "rma_get:", "src");
  bad(rma_acc(nullptr, here(), 1, RMA_INT, nullptr, target_), "rma_acc:", "dst");
  bad(rma_acc(there(), nullptr, 1, RMA_INT, nullptr, target_), "rma_acc:", "src");
  bad(rma_put_nb(there(), here(), 8, target_, nullptr), "rma_put_nb:", "request");
  bad(rma_get_nb(here(), there(), 8, target_, nullptr), "rma_get_nb:", "request");
  bad(rma_acc_nb(there(), here(), 1, RMA_INT, nullptr, target_, nullptr), "rma_acc_nb:", "request");
  const auto* const strides = strides_.data();
  const auto* const counts = counts_.data();
  bad(rma_put_strided(nullptr, strides, here(), strides, counts, 2, target_), "rma_put_strided:", "dst");
  bad(rma_put_strided(there(), nullptr, here(), strides, counts, 2, target_),
      "rma_put_strided:", "dst_strides");
  bad(rma_put_strided(there(), strides, here(), nullptr, counts, 2, target_),
      "rma_put_strided:", "src_strides");
  bad(rma_get_strided(here(), strides, there(), strides, nullptr, 2, target_), "rma_get_strided:", "counts");
  bad(rma_put_vector(nullptr, 1, target_), "rma_put_vector:", "iov");
  const rma_iov_t no_lists = {.dst = nullptr, .src = nullptr, .segments = 3, .bytes = 8};
  bad(rma_get_vector(&no_lists, 1, target_), "rma_get_vector:", "descriptor 0");
  const std::array<void*, 2> dst = {there(), nullptr};
  const std::array<const void*, 2> src = {here(), here()};
  const rma_iov_t hole = {.dst = dst.data(), .src = src.data(), .segments = 2, .bytes = 8};
  bad(rma_put_vector(&hole, 1, target_), "rma_put_vector:", "piece 1");
  bad(rma_acc_vector(&hole, 1, RMA_LONG, nullptr, target_), "rma_acc_vector:", "piece 1");
  bad(rma_atomic64(RMA_SET, nullptr, 1, 0, nullptr, target_), "rma_atomic64:", "target");
  bad(rma_atomic32(RMA_SET, nullptr, 1, 0, nullptr, target_), "rma_atomic32:", "target");
  bad(rma_put_notify(there(), here(), 8, nullptr, 1, target_), "rma_put_notify:", "flag");
  bad(rma_wait_until(nullptr, RMA_EQ, 0, nullptr), "rma_wait_until:", "flag");
  const std::uint64_t word = 0;
  bad(rma_test_until(&word, RMA_EQ, 0, nullptr), "rma_test_until:", "met");
  bad(rma_wait_until_all(nullptr), "rma_wait_until_all:", "words");
  const rma_words_t one = {&word, 1, sizeof word, 0, nullptr, RMA_EQ, &word, 1};
  bad(rma_test_until_all(&one, nullptr), "rma_test_until_all:", "met");
  bad(rma_wait_until_any(&one, nullptr), "rma_wait_until_any:", "index");
  std::size_t index = 0;
  bad(rma_wait_until_some(&one, nullptr, &index), "rma_wait_until_some:", "indices");
  bad(rma_test_until_some(&one, &index, nullptr), "rma_test_until_some:", "found");
  rma_words_t wrong = one;
  wrong.bytes = 3;
  EXPECT_TRUE(
      refused(rma_wait_until_all(&wrong), RMA_ERR_ARGUMENT, {"rma_wait_until_all:", "8 bytes, not 3"}));
  wrong = one;
  wrong.values = nullptr;
  bad(rma_test_until_any(&wrong, &index), "rma_test_until_any:", "values");
  wrong = one;
  wrong.compare = static_cast<rma_compare_t>(6);
  EXPECT_TRUE(
      refused(rma_test_until_any(&wrong, &index), RMA_ERR_ARGUMENT, {"rma_test_until_any:", "comparison 6"}));
  bad(rma_register(nullptr, 8), "rma_register:", "address");
  bad(rma_map(there(), 8, target_, nullptr), "rma_map:", "here");
  bad(rma_alias(nullptr, 8), "rma_alias:", "address");
  bad(rma_alias_at_init(nullptr, 8), "rma_alias_at_init:", "address");
  bad(rma_find_alias(here(), 8, nullptr), "rma_find_alias:", "heap_address");
  std::size_t bytes = 0;
  void* found = nullptr;
  bad(rma_alias_range(nullptr, &bytes, &found), "rma_alias_range:", "address");
  bad(rma_alias_range(&found, nullptr, &found), "rma_alias_range:", "bytes");
  bad(rma_alias_range(&found, &bytes, nullptr), "rma_alias_range:", "heap_address");
}

TEST_F(Misuse, MemoryThatTheTargetDoesNotOffer) {
  std::vector<std::uint64_t> own(64);  // neither in the heap nor registered
  auto* const foreign = gather(own.data())[static_cast<std::size_t>(target_)];
  const auto bad = [&](rma_status_t status, std::string_view call) {
    EXPECT_TRUE(refused(status, RMA_ERR_ADDRESS, {call, rank_, text(foreign)}));
  };
  // The helper of a rank on another host does not say which of several pieces it refuses.
  const auto bad_there = [&](rma_status_t status, std::string_view call) {
    if (rma_same_host(target_) != 0) return bad(status, call);
    EXPECT_TRUE(refused(status, RMA_ERR_ADDRESS, {call, rank_}));
  };
  bad(rma_put(foreign, here(), 8, target_), "rma_put:");
  bad(rma_get(here(), foreign, 8, target_), "rma_get:");
  bad(rma_put_nb(foreign, here(), 8, target_, &request_), "rma_put_nb:");
  bad(rma_get_nbi(here(), foreign, 8, target_), "rma_get_nbi:");
  bad(rma_acc(foreign, here(), 1, RMA_INT, nullptr, target_), "rma_acc:");
  bad(rma_atomic32(RMA_FETCH_ADD, reinterpret_cast<std::uint32_t*>(foreign), 1, 0, nullptr, target_),
      "rma_atomic32:");
  bad(rma_atomic64(RMA_FETCH_ADD, foreign, 1, 0, nullptr, target_), "rma_atomic64:");
  bad(rma_put_notify(there(), here(), 8, foreign, 1, target_), "rma_put_notify:");
  const auto* const strides = strides_.data();
  bad(rma_put_strided(foreign, strides, here(), strides, counts_.data(), 2, target_), "rma_put_strided:");
  bad(rma_get_strided(here(), strides, foreign, strides, counts_.data(), 2, target_), "rma_get_strided:");
  bad(rma_acc_strided(foreign, strides, here(), strides, counts_.data(), 2, RMA_INT, nullptr, target_),
      "rma_acc_strided:");
  // The valid piece before the bad one must not move either.
  const std::array<void*, 2> dst = {there(), foreign};
  const std::array<const void*, 2> src = {here(), here()};
  const rma_iov_t iov = {.dst = dst.data(), .src = src.data(), .segments = 2, .bytes = 8};
  bad(rma_put_vector(&iov, 1, target_), "rma_put_vector:");
  bad_there(rma_acc_vector(&iov, 1, RMA_INT, nullptr, target_), "rma_acc_vector:");
  const std::array<void*, 2> sinks = {here(), here() + 8};
  const std::array<const void*, 2> sources = {there(), foreign};
  const rma_iov_t back = {.dst = sinks.data(), .src = sources.data(), .segments = 2, .bytes = 8};
  bad(rma_get_vector(&back, 1, target_), "rma_get_vector:");
  barrier();
  EXPECT_EQ(std::count(own.begin(), own.end(), 0U), 64);
}

TEST_F(Misuse, Misaligned) {
  for (std::size_t offset = 1; offset < 8; ++offset) {
    auto* const word = reinterpret_cast<std::uint64_t*>(there() + offset);
    EXPECT_TRUE(refused(rma_atomic64(RMA_FETCH_ADD, word, 1, 0, nullptr, target_), RMA_ERR_ALIGNMENT,
                        {"rma_atomic64:", text(word), "8"}));
    EXPECT_TRUE(refused(rma_put_notify(there(), here(), 8, word, 1, target_), RMA_ERR_ALIGNMENT,
                        {"rma_put_notify:", text(word)}));
    EXPECT_TRUE(refused(rma_acc(word, here(), 1, RMA_COMPLEX_DOUBLE, nullptr, target_), RMA_ERR_ALIGNMENT,
                        {"rma_acc:", text(word), "8"}));
    int met = 0;
    EXPECT_TRUE(refused(rma_test_until(reinterpret_cast<std::uint64_t*>(here() + offset), RMA_EQ, 0, &met),
                        RMA_ERR_ALIGNMENT, {"rma_test_until:"}));
    if (offset % 4 == 0) continue;
    auto* const half = reinterpret_cast<std::uint32_t*>(there() + offset);
    EXPECT_TRUE(refused(rma_atomic32(RMA_FETCH_ADD, half, 1, 0, nullptr, target_), RMA_ERR_ALIGNMENT,
                        {"rma_atomic32:", text(half), "4"}));
    EXPECT_TRUE(
        refused(rma_acc(half, here(), 1, RMA_INT, nullptr, target_), RMA_ERR_ALIGNMENT, {"rma_acc:"}));
  }
  const std::array<std::ptrdiff_t, 2> odd = {18, 64};
  EXPECT_TRUE(refused(rma_acc_strided(there(), odd.data(), here(), strides_.data(), counts_.data(), 2,
                                      RMA_DOUBLE, nullptr, target_),
                      RMA_ERR_ALIGNMENT, {"rma_acc_strided:"}));
  const std::array<void*, 2> dst = {there(), there() + 12};
  const std::array<const void*, 2> src = {here(), here()};
  const rma_iov_t iov = {.dst = dst.data(), .src = src.data(), .segments = 2, .bytes = 8};
  EXPECT_TRUE(
      refused(rma_acc_vector(&iov, 1, RMA_DOUBLE, nullptr, target_), RMA_ERR_ALIGNMENT, {"rma_acc_vector:"}));
}

TEST_F(Misuse, SizesThatOverflow) {
  const std::string value = std::to_string(kHuge);
  EXPECT_TRUE(
      refused(rma_put(there(), here(), kHuge, target_), RMA_ERR_SIZE, {"rma_put:", value, text(there())}));
  EXPECT_TRUE(refused(rma_get(here(), there(), kHuge, target_), RMA_ERR_SIZE, {"rma_get:", value}));
  EXPECT_TRUE(refused(rma_register(here(), kHuge), RMA_ERR_SIZE, {"rma_register:", value}));
  EXPECT_TRUE(refused(rma_alias(here(), kHuge), RMA_ERR_SIZE, {"rma_alias:", value}));
  EXPECT_TRUE(refused(rma_alias(here(), 8), RMA_ERR_STATE, {"rma_alias:", "before rma_init"}));
  EXPECT_TRUE(refused(rma_acc(there(), here(), kHuge, RMA_DOUBLE, nullptr, target_), RMA_ERR_SIZE,
                      {"rma_acc:", value}));
  EXPECT_TRUE(
      refused(rma_put_notify(there(), here(), kHuge, reinterpret_cast<std::uint64_t*>(there()), 1, target_),
              RMA_ERR_SIZE, {"rma_put_notify:", value}));
  const std::array<std::size_t, 3> many = {8, kHuge, 4};
  const std::array<std::size_t, 3> wide = {kHuge, 2, 2};
  const std::array<std::ptrdiff_t, 2> far = {std::numeric_limits<std::ptrdiff_t>::max(), 64};
  const auto strided = [&](const std::size_t* counts, const std::ptrdiff_t* strides) {
    EXPECT_TRUE(refused(rma_put_strided(there(), strides, here(), strides_.data(), counts, 2, target_),
                        RMA_ERR_SIZE, {"rma_put_strided:"}));
    EXPECT_TRUE(refused(rma_get_strided(here(), strides_.data(), there(), strides, counts, 2, target_),
                        RMA_ERR_SIZE, {"rma_get_strided:"}));
    EXPECT_TRUE(refused(
        rma_acc_strided(there(), strides, here(), strides_.data(), counts, 2, RMA_LONG, nullptr, target_),
        RMA_ERR_SIZE, {"rma_acc_strided:"}));
  };
  strided(many.data(), strides_.data());
  strided(wide.data(), strides_.data());
  strided(counts_.data(), far.data());
  const std::array<void*, 1> dst = {there()};
  const std::array<const void*, 1> src = {here()};
  const rma_iov_t iov = {.dst = dst.data(), .src = src.data(), .segments = kHuge, .bytes = 16};
  EXPECT_TRUE(refused(rma_put_vector(&iov, 1, target_), RMA_ERR_SIZE, {"rma_put_vector:", value}));
  // The number of bytes is not a multiple of an element.
  const std::array<std::size_t, 2> uneven = {12, 4};
  EXPECT_TRUE(refused(rma_acc_strided(there(), strides_.data(), here(), strides_.data(), uneven.data(), 1,
                                      RMA_DOUBLE, nullptr, target_),
                      RMA_ERR_SIZE, {"rma_acc_strided:", "12"}));
  const rma_iov_t part = {.dst = dst.data(), .src = src.data(), .segments = 1, .bytes = 12};
  EXPECT_TRUE(refused(rma_acc_vector(&part, 1, RMA_DOUBLE, nullptr, target_), RMA_ERR_SIZE,
                      {"rma_acc_vector:", "12"}));
}

TEST_F(Misuse, PastTheEndOfTheHeap) {
  EXPECT_TRUE(refused(rma_put(there(), here(), std::size_t{1} << 46, target_), RMA_ERR_ADDRESS,
                      {"rma_put:", rank_, std::to_string(std::size_t{1} << 46)}));
}

TEST_F(Misuse, LevelsOutOfRange) {
  for (const int levels : {-1, RMA_MAX_LEVELS + 1, std::numeric_limits<int>::max()}) {
    EXPECT_TRUE(refused(
        rma_put_strided(there(), strides_.data(), here(), strides_.data(), counts_.data(), levels, target_),
        RMA_ERR_ARGUMENT, {"rma_put_strided:", "levels", std::to_string(levels)}));
  }
}

TEST_F(Misuse, UnknownEnumerators) {
  auto* const word = reinterpret_cast<std::uint64_t*>(there());
  for (const int value : {-1, 99}) {
    const std::string shown = std::to_string(value);
    EXPECT_TRUE(refused(rma_acc(there(), here(), 1, static_cast<rma_type_t>(value), nullptr, target_),
                        RMA_ERR_ARGUMENT, {"rma_acc:", shown}));
    EXPECT_TRUE(refused(rma_atomic64(static_cast<rma_atomic_op_t>(value), word, 1, 0, nullptr, target_),
                        RMA_ERR_ARGUMENT, {"rma_atomic64:", shown}));
    EXPECT_TRUE(refused(rma_wait_until(reinterpret_cast<std::uint64_t*>(here()),
                                       static_cast<rma_compare_t>(value), 1, nullptr),
                        RMA_ERR_ARGUMENT, {"rma_wait_until:", shown}));
  }
  EXPECT_STREQ(rma_strerror(RMA_ERR_RANK), "RMA_ERR_RANK");
  EXPECT_NE(rma_strerror(static_cast<rma_status_t>(-7)), nullptr);
}

TEST_F(Misuse, NumbersOfContextsThatNobodyDraws) {
  const int mine = me();
  EXPECT_EQ(rma_contexts_draw(nullptr), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_contexts_return(0, nullptr, 1), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_contexts_return(0, &mine, 0), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_contexts_return(0, &mine, -1), RMA_ERR_ARGUMENT);
  const int outside = ranks();
  EXPECT_EQ(rma_contexts_return(0, &outside, 1), RMA_ERR_RANK);
  // The numbers are divided among a power of two of ranks, of which the last may not exist.
  const std::uint32_t last = (std::uint32_t{1} << 28U) - 1;
  if (std::popcount(static_cast<unsigned>(ranks())) != 1) {
    EXPECT_EQ(rma_contexts_return(last, &mine, 1), RMA_ERR_ARGUMENT);
  }
  EXPECT_EQ(rma_contexts_return(last + 1, &mine, 1), RMA_ERR_ARGUMENT);
}

TEST_F(Misuse, NothingToMoveNeedsNoPointers) {
  EXPECT_TRUE(ok(rma_put(nullptr, nullptr, 0, target_)));
  EXPECT_TRUE(ok(rma_get(nullptr, nullptr, 0, target_)));
  EXPECT_TRUE(ok(rma_acc(nullptr, nullptr, 0, RMA_DOUBLE, nullptr, target_)));
  EXPECT_TRUE(ok(rma_put_vector(nullptr, 0, target_)));
  const rma_iov_t empty = {.dst = nullptr, .src = nullptr, .segments = 0, .bytes = 8};
  EXPECT_TRUE(ok(rma_get_vector(&empty, 1, target_)));
  rma_request_t request = 77;
  EXPECT_TRUE(ok(rma_put_nb(nullptr, nullptr, 0, target_, &request)));
  EXPECT_TRUE(ok(rma_wait(&request)));
  EXPECT_EQ(request, RMA_REQUEST_NULL);
}

TEST_F(Misuse, RequestsToTheLauncher) {
  const int self = rma_rank();
  const int nobody = rma_seats();
  const std::array<const char*, 2> command = {"program", nullptr};
  const rma_launch_program_t program = {1, command.data(), nullptr, nullptr, nullptr, nullptr};
  int first = 0;
  int started = 0;
  const auto launch = [&](const int* parents, int parent_count) {
    return rma_launch(&program, 1, parents, parent_count, 1, &first, &started);
  };
  EXPECT_TRUE(refused(launch(nullptr, 1), RMA_ERR_ARGUMENT, {"rma_launch:", "ranks"}));
  for (const int count : {0, -1})
    EXPECT_TRUE(refused(launch(&self, count), RMA_ERR_ARGUMENT, {"rma_launch:", std::to_string(count)}));
  EXPECT_TRUE(refused(launch(&nobody, 1), RMA_ERR_RANK, {"rma_launch:", std::to_string(nobody)}));
  EXPECT_TRUE(refused(rma_launch(nullptr, 1, &self, 1, 1, &first, &started), RMA_ERR_ARGUMENT,
                      {"rma_launch:", "programs"}));
  EXPECT_TRUE(refused(rma_meet_later(&self, -1, 1), RMA_ERR_ARGUMENT, {"rma_meet_later:", "-1"}));
  EXPECT_TRUE(
      refused(rma_meet_later(&nobody, 1, 1), RMA_ERR_RANK, {"rma_meet_later:", std::to_string(nobody)}));
  EXPECT_TRUE(refused(rma_port_meet(1, 1, 0, here(), 1, nullptr, nullptr), RMA_ERR_ARGUMENT,
                      {"rma_port_meet:", "take"}));
  const auto take = [](void* /*context*/, const void* /*theirs*/, size_t /*bytes*/) {};
  EXPECT_TRUE(refused(rma_port_meet(1, 0, -1, here(), 1, take, nullptr), RMA_ERR_ARGUMENT,
                      {"rma_port_meet:", "seconds is -1"}));
  EXPECT_TRUE(refused(rma_port_open(nullptr), RMA_ERR_ARGUMENT, {"rma_port_open:", "port"}));
}

}  // namespace
}  // namespace multi
