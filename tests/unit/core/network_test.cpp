#include "core/network/network.hpp"

#include <thread>

#include "network_world.hpp"

namespace librma {
namespace {

class NetworkTest : public NetworkWorld {
 protected:
  /// Checks that puts of these sizes from `local` arrive, and that gets into `local` bring the data back.
  void expect_transfers(const Pages& local, std::initializer_list<std::size_t> sizes) {
    for (const std::size_t bytes : sizes) {
      for (const std::size_t offset : {std::size_t{0}, kExtent - bytes / 2 - 1, kUser - 3}) {
        if (offset + bytes > kTheirs) continue;
        SCOPED_TRACE(testing::Message() << bytes << " bytes at " << offset);
        fill(local.data() + 5, bytes, static_cast<unsigned>(bytes + offset));
        std::fill_n(theirs.data(), kTheirs, std::byte{0});
        std::vector<std::byte> source(local.data() + 5, local.data() + 5 + bytes);
        const Status put_status = put(offset, local.data() + 5, bytes);
        ASSERT_TRUE(put_status.ok()) << put_status.text();
        fill(local.data() + 5, bytes, 99);  // it is the program's again
        const Status fenced = pending.fence(1);
        ASSERT_TRUE(fenced.ok()) << fenced.text();
        ASSERT_TRUE(same(theirs.data() + offset, source.data(), bytes));
        ASSERT_EQ(std::count(theirs.data(), theirs.data() + kTheirs, std::byte{0}),
                  static_cast<std::ptrdiff_t>(kTheirs - bytes))
            << "and nothing beside it";
        const Status got = get(local.data() + 9, offset, bytes);
        ASSERT_TRUE(got.ok()) << got.text();
        ASSERT_TRUE(same(local.data() + 9, source.data(), bytes));
      }
    }
  }
};

constexpr std::initializer_list<std::size_t> kSizes = {0,   1,    8,    16,   17,   256,   257,
                                                       300, 4095, 4096, 8192, 8193, 16384, 50000};

TEST_F(NetworkTest, MovesFromTheHeapWithoutCopies) {
  settings.local_buffers = LocalBufferSetting::cache;
  open(1);
  rails[0]->do_at_most(3);
  ASSERT_TRUE(put(0, own.data(), 100).ok());  // and so the directory is known
  const std::uint64_t bounced = counted(Counter::rdma_bounced);
  const std::uint64_t reads = counted(Counter::directory_read);
  fill(own.data(), 2 * kExtent, 3);
  ASSERT_TRUE(put(0, own.data(), 2 * kExtent).ok());
  ASSERT_TRUE(pending.fence(1).ok());
  EXPECT_TRUE(same(theirs.data(), own.data(), 2 * kExtent));
  EXPECT_EQ(counted(Counter::rdma_bounced), bounced);
  EXPECT_EQ(counted(Counter::directory_read), reads);
  expect_transfers(own, kSizes);
}

TEST_F(NetworkTest, AThreadThatIsAboutToSleepUnpinsWhatTheProgramHasUnmapped) {
  settings.local_buffers = LocalBufferSetting::cache;
  open(1);
  const std::uint64_t kept = counted(Counter::registration_hits);
  {
    const Pages given(2 * kExtent);
    fill(given.data(), given.size(), 1);
    ASSERT_TRUE(put(0, given.data(), 2 * kExtent).ok());
    ASSERT_TRUE(put(0, given.data(), 2 * kExtent).ok());
    if (counted(Counter::registration_hits) == kept) GTEST_SKIP() << "no unmap watch on this system";
  }
  const std::uint64_t before = counted(Counter::registration_invalidations);
  network->arm();
  EXPECT_GT(counted(Counter::registration_invalidations), before);
}

TEST_F(NetworkTest, AFenceInAnotherContextDoesNotWaitForPutsUnderWay) {
  open(1);
  ASSERT_TRUE(put(0, own.data(), 100).ok());  // and so the directory is known
  ASSERT_TRUE(pending.fence_all().ok());
  CompletionContexts& contexts = pending.contexts();
  CompletionContext& apart = contexts.take();
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{200}, kExtent}) {  // inline, bounced, zero-copy
    SCOPED_TRACE(testing::Message() << bytes << " bytes");
    fill(own.data(), bytes, static_cast<unsigned>(bytes));
    rails[0]->do_at_most(0);
    ASSERT_TRUE(leave_put(0, own.data(), bytes).ok());
    contexts.use(apart);
    ASSERT_TRUE(pending.fence(1).ok());
    ASSERT_TRUE(pending.fence_all().ok());
    EXPECT_GT(rails[0]->waiting(), 0U) << "the put is still under way";
    contexts.use(contexts.default_context());
    rails[0]->do_at_most(3);
    ASSERT_TRUE(pending.fence_all().ok());
    EXPECT_TRUE(same(theirs.data(), own.data(), bytes));
  }
}

struct Variant {
  LocalBufferSetting strategy;
  std::size_t rails;
};
class NetworkVariants : public NetworkTest, public testing::WithParamInterface<Variant> {};

TEST_P(NetworkVariants, MoveFromOutsideTheHeap) {
  settings.local_buffers = GetParam().strategy;
  open(GetParam().rails);
  for (SlowRail* const rail : rails) rail->do_at_most(3);
  const std::uint64_t bounced = counted(Counter::rdma_bounced);
  expect_transfers(outside, kSizes);
  EXPECT_GT(counted(Counter::rdma_bounced), bounced);
  const std::uint64_t second = counted(Counter::rdma_bytes_rail1);
  const std::uint64_t registered = counted(Counter::registration);
  const std::uint64_t copies = counted(Counter::rdma_bounced);
  ASSERT_TRUE(put(0, outside.data(), 2 * kExtent).ok());
  const bool copied = GetParam().strategy == LocalBufferSetting::bounce;
  EXPECT_EQ(counted(Counter::rdma_bytes_rail1) > second,
            GetParam().rails > 1 && !copied && GetParam().strategy != LocalBufferSetting::pipeline)
      << "a share for each rail";
  EXPECT_EQ(counted(Counter::rdma_bounced) > copies, copied);
  if (copied) {
    EXPECT_EQ(counted(Counter::registration), registered);
  }
  if (GetParam().strategy == LocalBufferSetting::pipeline) {
    EXPECT_EQ(counted(Counter::registration) - registered,
              2 * kExtent / settings.pipeline_bytes * GetParam().rails);
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllStrategies, NetworkVariants,
    testing::Values(Variant{LocalBufferSetting::cache, 1}, Variant{LocalBufferSetting::register_each, 1},
                    Variant{LocalBufferSetting::pipeline, 1}, Variant{LocalBufferSetting::bounce, 1},
                    Variant{LocalBufferSetting::cache, 2}, Variant{LocalBufferSetting::register_each, 2},
                    Variant{LocalBufferSetting::pipeline, 2}, Variant{LocalBufferSetting::bounce, 2}));

TEST_F(NetworkTest, SmallPutsTravelInTheRequest) {
  open(1);
  ASSERT_TRUE(put(0, outside.data(), 16).ok());
  ASSERT_TRUE(pending.fence(1).ok());
  const std::uint64_t in_request = counted(Counter::rdma_inline);
  const std::uint64_t bounced = counted(Counter::rdma_bounced);
  rails[0]->do_at_most(0);
  for (unsigned i = 0; i < 6; ++i) {
    fill(outside.data(), 16, i);
    ASSERT_TRUE(put(16 * i, outside.data(), 16).ok()) << "does not wait";
  }
  EXPECT_EQ(theirs[0], std::byte{0});
  EXPECT_EQ(counted(Counter::rdma_inline) - in_request, 6U);
  EXPECT_EQ(counted(Counter::rdma_bounced), bounced);
  rails[0]->do_at_most(3);
  ASSERT_TRUE(pending.fence(1).ok());
  for (unsigned i = 0; i < 6; ++i) {
    fill(outside.data(), 16, i);
    EXPECT_TRUE(same(theirs.data() + std::size_t{16} * i, outside.data(), 16)) << i;
  }
}

TEST_F(NetworkTest, FullQueuesAndTakenBuffersAreWaitedFor) {
  open(1);
  rails[0]->do_at_most(1);
  // More operations of each kind than the queue's 8 and the pool's 4.
  fill(outside.data(), kUser, 1);
  for (std::size_t i = 0; i < 60; ++i) ASSERT_TRUE(put(i * 8, outside.data() + i * 8, 8).ok());
  for (std::size_t i = 0; i < 60; ++i)
    ASSERT_TRUE(put(1024 + i * 200, outside.data() + 1024 + i * 200, 200).ok());
  ASSERT_TRUE(blocking([&](Batch& batch) {
                for (std::size_t i = 0; i < 60; ++i) {
                  const std::size_t at = 20'000 + i * 100;
                  Status status =
                      network->transfers().put(batch, theirs.data() + at, outside.data() + at, 100);
                  if (!status.ok()) return status;
                }
                return Status();
              }).ok());
  ASSERT_TRUE(pending.fence(1).ok());
  EXPECT_TRUE(same(theirs.data(), outside.data(), 480));
  EXPECT_TRUE(same(theirs.data() + 1024, outside.data() + 1024, 12000));
  EXPECT_TRUE(same(theirs.data() + 20'000, outside.data() + 20'000, 6000));
}

/// Each part first reads the directory's version, which takes a buffer too.
TEST_F(NetworkTest, NobodyWaitsForBuffersWhenLostRanksHaveAll) {
  transport::Limits limits = kLimits;
  limits.late_transfers = true;
  open(1, limits);
  BouncePool& buffers = *own_rails->buffers();
  std::byte* last = buffers.take();
  ASSERT_NE(last, nullptr);
  while (std::byte* const buffer = buffers.take()) buffers.give_lost(buffer);
  std::byte more[64] = {};
  Status waited;
  std::thread waiter([&] { waited = put(0, more, sizeof more); });
  buffers.give_lost(last);
  waiter.join();
  EXPECT_EQ(waited.code(), RMA_ERR_NO_MEMORY);
  const Status later = get(more, 0, sizeof more);
  EXPECT_EQ(later.code(), RMA_ERR_NO_MEMORY);
  EXPECT_NE(later.text().find("lost"), std::string::npos) << later.text();
}

TEST_F(NetworkTest, ManyPartsToRegisteredMemoryDoNotWaitForTheirOwnBuffers) {
  open(1);
  fill(outside.data(), kExtent, 2);
  ASSERT_TRUE(blocking([&](Batch& batch) {
                for (std::size_t i = 0; i < 20; ++i) {
                  const std::size_t at = i * 100;
                  Status status =
                      network->transfers().put(batch, theirs.data() + kUser + at, outside.data() + at, 100);
                  if (!status.ok()) return status;
                }
                return Status();
              }).ok());
  ASSERT_TRUE(pending.fence(1).ok());
  EXPECT_TRUE(same(theirs.data() + kUser, outside.data(), 2000));
}

TEST_F(NetworkTest, RefusedRegistrationsOnlyMakeItCopy) {
  open(1);
  fill(outside.data(), 50'000, 4);
  rails[0]->inner().set_faults({.registrations = 0});
  ASSERT_TRUE(put(100, outside.data(), 50'000).ok());
  ASSERT_TRUE(pending.fence(1).ok());
  EXPECT_TRUE(same(theirs.data() + 100, outside.data(), 50'000));
  std::fill_n(outside.data(), 50'000, std::byte{0});
  ASSERT_TRUE(get(outside.data(), 100, 50'000).ok());
  EXPECT_TRUE(same(theirs.data() + 100, outside.data(), 50'000));
}

TEST_F(NetworkTest, WhereNothingIsReachableSaysWhy) {
  open(1);
  std::byte byte = {};
  EXPECT_EQ(blocking([&](Batch& batch) { return network->transfers().put(batch, &byte, &byte, 1); }).code(),
            RMA_ERR_ADDRESS);
  EXPECT_EQ(put(kTheirs, &byte, 1).code(), RMA_ERR_ADDRESS) << "one past the end";
  EXPECT_EQ(put(kTheirs - 1, own.data(), 2).code(), RMA_ERR_ADDRESS) << "and across it";
  card.rails.clear();
  EXPECT_TRUE(put(0, own.data(), 1).ok()) << "the card was asked for once";
}

TEST_F(NetworkTest, UnregisteredMemoryIsNotReachedAndWithNewKeysItIs) {
  open(1);
  fill(own.data(), 1000, 5);
  ASSERT_TRUE(put(kUser, own.data(), 1000).ok());
  unlist_user();
  EXPECT_EQ(put(kUser, own.data(), 1000).code(), RMA_ERR_ADDRESS);
  user = list(kUser, kExtent, kRegionForeign);
  fill(own.data(), 1000, 6);
  ASSERT_TRUE(put(kUser, own.data(), 1000).ok());
  ASSERT_TRUE(pending.fence(1).ok());
  EXPECT_TRUE(same(theirs.data() + kUser, own.data(), 1000));
}

/// The memory of rank 1 stays in its directory, but its device knows it no more. The parameter is the size of
/// the transfer: inlined, by a bounce buffer, in one piece, in several.
class Withdrawn : public NetworkWorld, public testing::WithParamInterface<std::size_t> {
 protected:
  [[nodiscard]] rma_status_t outcome(Status status) {
    return status.ok() ? pending.fence(1).code() : status.code();
  }
  /// Learns where all of the memory is.
  void open_and_learn() {
    open(1);
    ASSERT_TRUE(get(own.data(), 0, kTheirs).ok());
  }
};

TEST_P(Withdrawn, AHeapLastsAsLongAsItsRank) {
  open_and_learn();
  their_rails->remove(extent);
  EXPECT_EQ(outcome(put(0, own.data(), GetParam())), RMA_ERR_PEER_LOST);
  EXPECT_EQ(outcome(put(0, own.data(), GetParam())), RMA_ERR_PEER_LOST) << "from then on";
}

TEST_P(Withdrawn, AHeapIsNotReadWithoutItsRank) {
  open_and_learn();
  their_rails->remove(extent);
  EXPECT_EQ(get(own.data(), 0, GetParam()).code(), RMA_ERR_PEER_LOST);
}

TEST_P(Withdrawn, MemoryOfTheUserIsRefused) {
  open_and_learn();
  their_rails->remove(user);
  EXPECT_EQ(outcome(put(kUser, own.data(), GetParam())), RMA_ERR_ADDRESS);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Withdrawn, testing::Values(8, 200, 8192, 50000));

TEST_F(NetworkTest, AtomicsGiveTheValueBefore) {
  open(2);
  for (SlowRail* const rail : rails) rail->do_at_most(2);
  auto* const word = reinterpret_cast<std::uint64_t*>(theirs.data() + 64);
  *word = 40;
  EXPECT_EQ(network->words().atomic(RMA_FETCH_ADD, word, 2, 0, 1).value(), 40U);
  EXPECT_EQ(network->words().atomic(RMA_COMPARE_SWAP, word, 7, 42, 1).value(), 42U);
  EXPECT_EQ(network->words().atomic(RMA_COMPARE_SWAP, word, 9, 42, 1).value(), 7U);
  EXPECT_EQ(*word, 7U);
  EXPECT_EQ(network->words().atomic(RMA_FETCH_ADD, word, ~std::uint64_t{0}, 0, 1).value(), 7U);
  EXPECT_EQ(*word, 6U);
  auto* const past = reinterpret_cast<std::uint64_t*>(theirs.data() + kTheirs);
  EXPECT_EQ(network->words().atomic(RMA_FETCH_ADD, past, 1, 0, 1).status().code(), RMA_ERR_ADDRESS);
}

TEST_F(NetworkTest, AtomicsThatTheDeviceDoesNotHaveAreRefused) {
  transport::Limits limits = kLimits;
  limits.atomics64 = false;
  open(1, limits);
  auto* const word = reinterpret_cast<std::uint64_t*>(theirs.data());
  EXPECT_EQ(network->words().atomic(RMA_FETCH_ADD, word, 2, 0, 1).status().code(), RMA_ERR_UNSUPPORTED);
}

TEST_F(NetworkTest, ThreadsDoNotDisturbEachOther) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kRounds = 100;
  constexpr std::size_t kShare = 40'000;
  open(2);
  for (SlowRail* const rail : rails) rail->do_at_most(4);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      std::mt19937_64 random(seed + number);
      std::vector<std::byte> source(kShare);
      std::vector<std::byte> back(kShare);
      const std::size_t mine = number * kShare;
      for (std::size_t round = 0; round < kRounds; ++round) {
        constexpr std::array<std::size_t, 5> kBytes = {8, 200, 3000, 20'000, kShare};
        const std::size_t bytes = kBytes[random() % kBytes.size()];
        fill(source.data(), bytes, static_cast<unsigned>(random() % 1000));
        const bool good =
            put(mine, source.data(), bytes).ok() && get(back.data(), mine, bytes).ok() &&
            same(source.data(), back.data(), bytes) && pending.fence(1).ok() &&
            network->words()
                .atomic(RMA_FETCH_ADD, reinterpret_cast<std::uint64_t*>(theirs.data() + kTheirs - 8), 1, 0, 1)
                .ok();
        if (!good) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(theirs.data() + kTheirs - 8), kThreads * kRounds);
}

}  // namespace
}  // namespace librma
