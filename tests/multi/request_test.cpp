// Requests and fences. Transfers with registered memory of another process go through a device, so their
// requests stay open. The exceptions are puts whose data the network device takes at once. Transfers with
// heap memory of this host are complete at once.

#include <algorithm>

#include "harness.hpp"

namespace multi {
namespace {

constexpr std::size_t kBlock = 128;
constexpr std::size_t kMany = 300;

/// Puts kMany blocks to the next rank, and keeps the requests.
class Puts {
 public:
  Puts() : slices_(Remote::registered, kBlock * kMany), source_(kBlock * kMany), requests_(kMany) {
    Random random({91, static_cast<std::uint64_t>(me())});
    random.fill(source_);
    for (std::size_t i = 0; i < kMany; ++i) {
      EXPECT_TRUE(ok(rma_put_nb(slices_.at(target_) + i * kBlock, source_.data() + i * kBlock, kBlock,
                                target_, &requests_[i])));
    }
    std::copy(source_.begin(), source_.end(), slices_.model(target_).begin());
  }
  [[nodiscard]] std::vector<rma_request_t>& requests() { return requests_; }
  /// Checks that everything has arrived. Collective.
  void check() {
    EXPECT_EQ(std::count(requests_.begin(), requests_.end(), RMA_REQUEST_NULL), kMany);
    slices_.check();
  }

 private:
  int target_ = neighbour(1);
  Slices slices_;
  std::vector<std::byte> source_;
  std::vector<rma_request_t> requests_;
};

/// Gets kMany blocks from the next rank, with requests that are not complete when they are issued.
class Gets {
 public:
  Gets() : slices_(Remote::registered, kBlock * kMany), sink_(kBlock * kMany), requests_(kMany) {
    for (std::size_t i = 0; i < kMany; ++i) {
      EXPECT_TRUE(ok(rma_get_nb(sink_.data() + i * kBlock, slices_.at(target_) + i * kBlock, kBlock, target_,
                                &requests_[i])));
    }
  }
  [[nodiscard]] std::vector<rma_request_t>& requests() { return requests_; }
  /// Checks that everything is here. Collective.
  void check() {
    EXPECT_EQ(std::count(requests_.begin(), requests_.end(), RMA_REQUEST_NULL), kMany);
    EXPECT_EQ(first_difference(sink_, slices_.model(target_)), sink_.size());
    slices_.check();
  }

 private:
  int target_ = neighbour(1);
  Slices slices_;
  std::vector<std::byte> sink_;
  std::vector<rma_request_t> requests_;
};

TEST(Request, WaitedForInAnyOrder) {
  Puts puts;
  std::vector<std::size_t> order(kMany);
  for (std::size_t i = 0; i < kMany; ++i) order[i] = i;
  Random random({92, static_cast<std::uint64_t>(me())});
  std::shuffle(order.begin(), order.end(), random.engine());
  for (const std::size_t i : order) EXPECT_TRUE(ok(rma_wait(&puts.requests()[i])));
  puts.check();
}

TEST(Request, WaitAll) {
  Puts puts;
  EXPECT_TRUE(ok(rma_wait_all(puts.requests().data(), kMany)));
  puts.check();
}

TEST(Request, WaitAnyNamesEachOnce) {
  Puts puts;
  std::vector<bool> seen(kMany);
  while (true) {
    std::size_t index = kMany + 1;
    EXPECT_TRUE(ok(rma_wait_any(puts.requests().data(), kMany, &index)));
    if (index >= kMany) {
      EXPECT_EQ(index, kMany);
      break;
    }
    EXPECT_FALSE(seen[index]);
    EXPECT_EQ(puts.requests()[index], RMA_REQUEST_NULL);
    seen[index] = true;
  }
  EXPECT_EQ(seen, std::vector<bool>(kMany, true));
  puts.check();
}

TEST(Request, TestedUntilDone) {
  Puts puts;
  for (rma_request_t& request : puts.requests()) {
    int done = 0;
    while (done == 0) {
      const rma_status_t status = rma_test(&request, &done);
      EXPECT_TRUE(ok(status));
      if (status != RMA_SUCCESS) break;
    }
    EXPECT_EQ(request, RMA_REQUEST_NULL);
  }
  puts.check();
}

TEST(Request, AFenceCoversThoseNotWaitedForYet) {
  // The data is there after the fence. The program still has to wait for the request.
  Puts puts;
  EXPECT_TRUE(ok(rma_fence(neighbour(1))));
  EXPECT_TRUE(ok(rma_wait_all(puts.requests().data(), kMany)));
  puts.check();
}

TEST(Request, LiveWithOtherProcesses) {
  // The tests of stale handles need requests that differ.
  Gets gets;
  if (ranks() > 1) EXPECT_NE(gets.requests()[0], gets.requests()[1]);
  EXPECT_TRUE(ok(rma_wait_all(gets.requests().data(), kMany)));
  gets.check();
}

TEST(Request, HeapTransfersOnThisHostAreCompleteAtOnce) {
  int target = me();
  for (int rank = 0; rank < ranks(); ++rank) {
    if (rank != me() && rma_same_host(rank) != 0) target = rank;
  }
  Slices slices(Remote::window, 64);
  std::vector<std::byte> source(64, std::byte{7});
  rma_request_t request = RMA_REQUEST_NULL;
  EXPECT_TRUE(ok(rma_put_nb(slices.at(target), source.data(), 64, target, &request)));
  EXPECT_NE(request, RMA_REQUEST_NULL) << "a wait for any counts it";
  int done = 0;
  EXPECT_TRUE(ok(rma_test(&request, &done)));
  EXPECT_EQ(done, 1);
  EXPECT_EQ(request, RMA_REQUEST_NULL);
  std::copy(source.begin(), source.end(), slices.model(target).begin());
  slices.check();
}

TEST(Request, NullIsComplete) {
  rma_request_t request = RMA_REQUEST_NULL;
  EXPECT_TRUE(ok(rma_wait(&request)));
  int done = 0;
  EXPECT_TRUE(ok(rma_test(&request, &done)));
  EXPECT_EQ(done, 1);
  std::array<rma_request_t, 3> all = {};
  EXPECT_TRUE(ok(rma_wait_all(all.data(), 3)));
  std::size_t index = 9;
  EXPECT_TRUE(ok(rma_wait_any(all.data(), 3, &index)));
  EXPECT_EQ(index, 3U);
  EXPECT_TRUE(ok(rma_wait_any(nullptr, 0, &index)));
  EXPECT_EQ(index, 0U);
  EXPECT_TRUE(ok(rma_wait_all(nullptr, 0)));
}

TEST(Request, StaleAndGarbageHandlesAreRefused) {
  Gets gets;
  std::vector<rma_request_t> stale = gets.requests();
  EXPECT_TRUE(ok(rma_wait_all(gets.requests().data(), kMany)));
  int done = 5;
  std::size_t index = 5;
  for (rma_request_t garbage : {stale[0], stale[kMany - 1], rma_request_t{0xdeadbeef}, ~rma_request_t{0}}) {
    if (ranks() == 1 && (garbage == stale[0] || garbage == stale[kMany - 1]))
      continue;  // complete when issued
    const rma_request_t before = garbage;
    EXPECT_TRUE(refused(rma_wait(&garbage), RMA_ERR_ARGUMENT, {"rma_wait", "request"}));
    EXPECT_TRUE(refused(rma_test(&garbage, &done), RMA_ERR_ARGUMENT, {"rma_test", "request"}));
    EXPECT_TRUE(refused(rma_wait_any(&garbage, 1, &index), RMA_ERR_ARGUMENT, {"rma_wait_any"}));
    EXPECT_TRUE(refused(rma_wait_all(&garbage, 1), RMA_ERR_ARGUMENT, {"rma_wait_all"}));
    EXPECT_EQ(garbage, before);
  }
  EXPECT_EQ(done, 5);
  EXPECT_EQ(index, 5U);
  // If a list names a handle twice, the second place is invalid.
  std::vector<std::byte> sink(kBlock);
  rma_request_t request = RMA_REQUEST_NULL;
  const Memory memory(Remote::registered, kBlock);
  EXPECT_TRUE(ok(rma_get_nb(sink.data(), memory.at(neighbour(1)), kBlock, neighbour(1), &request)));
  if (ranks() > 1) {  // otherwise it was complete when it was issued
    std::array<rma_request_t, 2> twice = {request, request};
    EXPECT_TRUE(refused(rma_wait_all(twice.data(), 2), RMA_ERR_ARGUMENT, {"rma_wait_all"}));
  }
  gets.check();
}

TEST(Request, NullPointersAreRefused) {
  int done = 0;
  rma_request_t request = RMA_REQUEST_NULL;
  EXPECT_TRUE(refused(rma_wait(nullptr), RMA_ERR_ARGUMENT, {"rma_wait", "request"}));
  EXPECT_TRUE(refused(rma_test(nullptr, &done), RMA_ERR_ARGUMENT, {"rma_test", "request"}));
  EXPECT_TRUE(refused(rma_test(&request, nullptr), RMA_ERR_ARGUMENT, {"rma_test", "done"}));
  EXPECT_TRUE(refused(rma_wait_any(&request, 1, nullptr), RMA_ERR_ARGUMENT, {"rma_wait_any", "index"}));
  EXPECT_TRUE(refused(rma_wait_all(nullptr, 2), RMA_ERR_ARGUMENT, {"rma_wait_all", "requests"}));
  const std::byte byte{1};
  EXPECT_TRUE(
      refused(rma_put_nb(&request, &byte, 1, me(), nullptr), RMA_ERR_ARGUMENT, {"rma_put_nb", "request"}));
}

TEST(Request, FencesOfRanks) {
  for (int rank = 0; rank < ranks(); ++rank) EXPECT_TRUE(ok(rma_fence(rank)));
  EXPECT_TRUE(refused(rma_fence(ranks()), RMA_ERR_RANK, {"rma_fence", std::to_string(ranks())}));
  EXPECT_TRUE(refused(rma_fence(-2), RMA_ERR_RANK, {"rma_fence", "-2"}));
  EXPECT_TRUE(ok(rma_fence_all()));
}

}  // namespace
}  // namespace multi
