#include "core/completion/requests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "core/completion/completion_context.hpp"

namespace librma {
namespace {

using End = RequestTable::End;

CompletionContext& any_context() {
  static ProgressEngine engine({}, std::chrono::seconds(60), [](int) { return 0U; });
  static CompletionContext context(8, engine);
  return context;
}

TEST(RequestTable, AnOperationIsCompleteWhenAllItsPartsHaveEnded) {
  RequestTable table;
  const rma_request_t request = table.open(5, any_context());
  ASSERT_NE(request, RMA_REQUEST_NULL);
  EXPECT_TRUE(table.known(request));
  EXPECT_EQ(table.rank(request), 5);
  table.add_part(request);
  table.add_part(request);
  EXPECT_EQ(table.finish_part(request, RMA_SUCCESS), End::pending);
  EXPECT_EQ(table.finish_part(request, RMA_SUCCESS), End::pending);
  EXPECT_FALSE(table.complete(request));
  EXPECT_EQ(table.finish_part(request, RMA_SUCCESS), End::complete);
  EXPECT_TRUE(table.complete(request));
  EXPECT_TRUE(table.known(request)) << "until it is closed";
  EXPECT_EQ(table.close(request), RMA_SUCCESS);
  EXPECT_FALSE(table.known(request));
}

TEST(RequestTable, TheFirstFailureIsTheOperations) {
  RequestTable table;
  const rma_request_t request = table.open(0, any_context());
  for (int i = 0; i < 3; ++i) table.add_part(request);
  table.finish_part(request, RMA_SUCCESS);
  table.finish_part(request, RMA_ERR_ADDRESS);
  table.finish_part(request, RMA_ERR_PEER_LOST);
  table.finish_part(request, RMA_SUCCESS);
  EXPECT_EQ(table.close(request), RMA_ERR_ADDRESS);
  const rma_request_t next = table.open(0, any_context());
  table.finish_part(next, RMA_SUCCESS);
  EXPECT_EQ(table.close(next), RMA_SUCCESS) << "a slot that is used again begins anew";
}

TEST(RequestTable, AHandleGoesStaleWhenItsSlotIsUsedAgain) {
  RequestTable table;
  std::set<rma_request_t> given;
  for (int i = 0; i < 1000; ++i) {
    const rma_request_t request = table.open(i, any_context());
    EXPECT_TRUE(given.insert(request).second) << "given before";
    table.finish_part(request, RMA_SUCCESS);
    EXPECT_EQ(table.close(request), RMA_SUCCESS);
    for (const rma_request_t old : {request, *given.begin()}) ASSERT_FALSE(table.known(old));
  }
}

TEST(RequestTable, HandlesOfATableThatIsGoneAreNoneOfTheNext) {
  std::set<rma_request_t> given;
  for (int tables = 0; tables < 5; ++tables) {
    RequestTable table;
    for (const rma_request_t old : given) ASSERT_FALSE(table.known(old));
    for (int i = 0; i < 3; ++i) {
      const rma_request_t request = table.open(i, any_context());
      EXPECT_TRUE(given.insert(request).second) << "given by a table before";
      table.finish_part(request, RMA_SUCCESS);
      if (i == 2) continue;  // one stays open
      EXPECT_EQ(table.close(request), RMA_SUCCESS);
    }
  }
}

TEST(RequestTable, AHandleThatWasNeverGivenIsNotKnown) {
  RequestTable table;
  EXPECT_FALSE(table.known(RMA_REQUEST_NULL));
  EXPECT_FALSE(table.known(kCompleteRequest));
  EXPECT_FALSE(table.known(std::uint64_t{1} << 32U)) << "no slot exists yet";
  const rma_request_t request = table.open(0, any_context());
  table.finish_part(request, RMA_SUCCESS);
  ASSERT_EQ(table.close(request), RMA_SUCCESS);
  constexpr std::uint64_t kSlots = (std::uint64_t{1} << 20U) + 2;
  for (std::uint64_t generation = 0; generation < 8; ++generation) {
    for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, RequestTable::kChunkSlots - 1,
                                      RequestTable::kChunkSlots, kSlots, std::uint64_t{0xffffffff}}) {
      const rma_request_t forged = (generation << 32U) | index;
      EXPECT_FALSE(table.known(forged)) << forged;
      EXPECT_FALSE(table.known(forged | (std::uint64_t{1} << 63U)));
    }
  }
}

TEST(RequestTable, AnOperationLeftIsReportedToWhoEndsItsLastPart) {
  RequestTable table;
  const rma_request_t request = table.open(0, any_context());
  table.add_part(request);
  table.leave(request);
  EXPECT_FALSE(table.complete(request));
  EXPECT_EQ(table.finish_part(request, RMA_ERR_SYSTEM), End::pending);
  EXPECT_EQ(table.finish_part(request, RMA_SUCCESS), End::left);
  EXPECT_TRUE(table.complete(request));
  EXPECT_EQ(table.close(request), RMA_ERR_SYSTEM);
  const rma_request_t next = table.open(0, any_context());
  EXPECT_EQ(table.finish_part(next, RMA_SUCCESS), End::complete) << "the next in the slot is not left";
}

TEST(RequestTable, NothingButMemoryLimitsTheirNumber) {
  constexpr std::size_t kMany = fewer_if_sanitized((std::size_t{1} << 20U) + 300'001);
  RequestTable table;
  std::vector<rma_request_t> open;
  open.reserve(kMany);
  for (std::size_t i = 0; i < kMany; ++i) open.push_back(table.open(static_cast<int>(i), any_context()));
  for (std::size_t i = 0; i < kMany; i += 255) {
    ASSERT_TRUE(table.known(open[i]));
    ASSERT_EQ(table.rank(open[i]), static_cast<int>(i));
  }
  const rma_request_t first = open[777];
  std::sort(open.begin(), open.end());
  EXPECT_EQ(std::adjacent_find(open.begin(), open.end()), open.end()) << "no handle twice";
  table.finish_part(first, RMA_SUCCESS);
  EXPECT_EQ(table.close(first), RMA_SUCCESS);
  const rma_request_t again = table.open(3, any_context());
  EXPECT_NE(again, RMA_REQUEST_NULL);
  EXPECT_NE(again, first);
}

TEST(RequestTable, HandlesAreFoundWhileOtherThreadsOpenMore) {
  RequestTable table;
  std::atomic<bool> over = false;
  const rma_request_t own = table.open(12, any_context());
  std::thread reader([&] {
    while (!over.load(std::memory_order_relaxed)) {
      ASSERT_TRUE(table.known(own));
      ASSERT_EQ(table.rank(own), 12);
      ASSERT_FALSE(table.known(own + 1 + RequestTable::kChunkSlots * 1000));
    }
  });
  for (int i = 0; i < 100'000; ++i) static_cast<void>(table.open(i, any_context()));
  over.store(true, std::memory_order_relaxed);
  reader.join();
}

TEST(RequestTable, FollowsAModelThroughRandomSteps) {
  struct Model {
    rma_request_t request;
    int rank;
    int parts;
    rma_status_t status;
    bool left;
  };
  std::mt19937_64 random(test_seed());
  RequestTable table;
  std::vector<Model> open;
  for (int step = 0; step < 20000; ++step) {
    if (open.empty() || (open.size() < 600 && random() % 3 == 0)) {
      const int rank = static_cast<int>(random() % 100);
      open.push_back({table.open(rank, any_context()), rank, 1, RMA_SUCCESS, random() % 2 == 0});
      if (open.back().left) table.leave(open.back().request);
      for (std::uint64_t more = random() % 3; more > 0; --more, ++open.back().parts)
        table.add_part(open.back().request);
      continue;
    }
    const std::size_t at = random() % open.size();
    Model& model = open[at];
    ASSERT_TRUE(table.known(model.request));
    ASSERT_EQ(table.rank(model.request), model.rank);
    ASSERT_FALSE(table.complete(model.request));
    const rma_status_t status = random() % 4 == 0 ? RMA_ERR_ADDRESS : RMA_SUCCESS;
    if (model.status == RMA_SUCCESS) model.status = status;
    const End expected = --model.parts > 0 ? End::pending : model.left ? End::left : End::complete;
    ASSERT_EQ(table.finish_part(model.request, status), expected);
    if (model.parts > 0) continue;
    ASSERT_EQ(table.close(model.request), model.status);
    ASSERT_FALSE(table.known(model.request));
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

/// One thread issues operations that it waits for, and operations that it leaves, in the same slots. Another
/// thread ends their parts. Each operation must be closed once, by the right thread.
TEST(RequestTable, WhoEndsTheLastPartNeverTakesTheNextOperationForTheOneThatEnded) {
  constexpr std::uint64_t kOperations = 20000;  // each is handed over twice, which takes long under load
  RequestTable table;
  std::atomic<rma_request_t> posted = RMA_REQUEST_NULL;
  std::atomic<bool> over = false;
  std::uint64_t closed_left = 0;
  std::thread device([&] {
    while (true) {
      const rma_request_t request = posted.exchange(RMA_REQUEST_NULL, std::memory_order_acq_rel);
      if (request == RMA_REQUEST_NULL) {
        if (over.load(std::memory_order_acquire)) return;
        std::this_thread::yield();
        continue;
      }
      if (table.finish_part(request, RMA_ERR_ADDRESS) != End::left) continue;
      ++closed_left;
      EXPECT_EQ(table.close(request), RMA_ERR_ADDRESS);
    }
  });
  const auto post = [&](rma_request_t request) {
    table.add_part(request);
    rma_request_t none = RMA_REQUEST_NULL;
    while (!posted.compare_exchange_weak(none, request, std::memory_order_acq_rel)) {
      none = RMA_REQUEST_NULL;
      std::this_thread::yield();
    }
  };
  std::uint64_t closed_by_issuer = 0;
  for (std::uint64_t i = 0; i < kOperations; ++i) {
    const rma_request_t waited = table.open(0, any_context());
    post(waited);
    table.finish_part(waited, RMA_SUCCESS);
    while (!table.complete(waited)) std::this_thread::yield();
    ASSERT_EQ(table.close(waited), RMA_ERR_ADDRESS);
    const rma_request_t left = table.open(0, any_context());
    table.leave(left);
    post(left);
    if (table.finish_part(left, RMA_SUCCESS) == End::left) {
      ++closed_by_issuer;
      ASSERT_EQ(table.close(left), RMA_ERR_ADDRESS);
    }
  }
  over.store(true, std::memory_order_release);
  device.join();
  EXPECT_EQ(closed_left + closed_by_issuer, kOperations);
}

}  // namespace
}  // namespace librma
