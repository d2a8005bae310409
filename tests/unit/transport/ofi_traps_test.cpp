// Traps of libfabric that the reference names (docs/testing.md lists them with their tests).

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "ofi_pair.hpp"
#include "transport/ofi/fabric_choice.hpp"
#include "transport/ofi/libfabric.hpp"

namespace librma::transport {
namespace {

// T6: providers of 1.17 claim atomics and have none, so the transport must not offer them.
TEST_F(OfiPair, AtomicsAreLeftToTheHelper) {
  ASSERT_TRUE(connect().ok());
  EXPECT_FALSE(ends[0]->transport->limits().atomics64);
  EXPECT_EQ(
      ends[0]->transport->post_atomic(1, RMA_FETCH_ADD, ends[1]->remote(0), 1, 0, ends[0]->local(0, 8), 1),
      RMA_ERR_UNSUPPORTED);
}

// T5: a write without data and with key 0 breaks the connection. The peer's end names a key for them.
TEST_F(OfiPair, AnEmptyWriteHasAKey) {
  ASSERT_TRUE(connect().ok());
  const Work empty = {.direction = Direction::write, .remote = {}, .pieces = {}, .cookie = 1, .flags = {}};
  std::size_t posted = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(ends[0]->transport->post(1, {&empty, 1}, &posted), RMA_SUCCESS);
    EXPECT_EQ(outcome(1), RMA_SUCCESS);
  }
  ASSERT_EQ(write(ends[1]->remote(0), 8, 2), RMA_SUCCESS);
  EXPECT_EQ(outcome(2), RMA_SUCCESS) << "the connection is as it was";
}

// T3: one stream carries all, so a message without a buffer stops what is behind it. It goes on once there is
// one.
TEST_F(OfiPair, WhatIsBehindAMessageWithoutABufferWaitsForIt) {
  ASSERT_TRUE(connect().ok());
  const Local text = ends[0]->local(0, 64);
  constexpr std::size_t kMany =
      12;  // two more than 1.17 takes in without a buffer would do; there are two buffers
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(ends[0]->messages().post_message(1, {&text, 1}, 0, {.inline_data = true, .unsignaled = true}),
              RMA_SUCCESS);
  }
  ASSERT_EQ(write(ends[1]->remote(0), 8, 2), RMA_SUCCESS);
  for (std::size_t i = 0; i < kMany; ++i) {
    const Completion got = wait(ends[1]->messages(), 100 + i % 2);
    EXPECT_EQ(got.bytes, 64U);
    const Local buffer = {.address = ends[1]->buffers.data() + 256 * (i % 2),
                          .bytes = 256,
                          .key = ends[1]->buffer_registration.local};
    ASSERT_EQ(ends[1]->messages().post_buffer(buffer, got.cookie), RMA_SUCCESS);
  }
  EXPECT_EQ(outcome(2), RMA_SUCCESS);
}

/// Over a provider that names memory by addresses (FI_MR_VIRT_ADDR), as those of RDMA devices do. It does so
/// only if it may reorder operations. It raises no events, so the service threads ask it by the clock.
class OfiPairByAddresses : public OfiPair {
 protected:
  void SetUp() override {
    const auto library = Libfabric::get();
    ASSERT_TRUE(library.ok()) << library.status().text();
    const FabricInfo hints(library.value()->duplicate_info(nullptr));
    ASSERT_NE(hints, nullptr);
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL;
    hints->fabric_attr->prov_name = strdup("shm");
    fi_info* found = nullptr;
    ASSERT_EQ(library.value()->get_info(FI_VERSION(1, 15), nullptr, nullptr, 0, hints.get(), &found), 0);
    FabricCandidate shm = {.provider = "shm",
                           .device = "shm",
                           .fabric = "shm",
                           .info = FabricInfo(found),
                           .traits = {},
                           .unusable = {}};
    auto traits = FabricTraits::of(*found);
    ASSERT_TRUE(traits.ok()) << traits.status().text();
    shm.traits = traits.value();
    EXPECT_FALSE(shm.traits.offsets || shm.traits.ordered);
    for (int rank = 0; rank < 2; ++rank) open(rank, shm);
  }
};

TEST_F(OfiPairByAddresses, AnEndThatNobodyPollsIsWrittenAndRead) {
  EXPECT_EQ(ends[0]->transport->limits().max_outstanding, 1U) << "which keeps the order";
  EXPECT_TRUE(ends[0]->transport->limits().needs_polling);
  const Status connected = connect();
  ASSERT_TRUE(connected.ok()) << connected.text();
  ASSERT_EQ(write(ends[1]->remote(64), 1000, 7), RMA_SUCCESS);
  EXPECT_EQ(outcome(7), RMA_SUCCESS);
  EXPECT_EQ(std::memcmp(ends[1]->memory.data() + 64, ends[0]->memory.data(), 1000), 0);
  const Local piece = ends[0]->local(2000, 100);
  ASSERT_EQ(ends[0]->transport->post_read(1, {&piece, 1}, ends[1]->remote(164), 8, {}), RMA_SUCCESS);
  EXPECT_EQ(outcome(8), RMA_SUCCESS);
  EXPECT_EQ(std::memcmp(&ends[0]->memory[2000], &ends[0]->memory[100], 100), 0);
}

// Before 1.19 the TCP providers look a peer's key up while another thread changes the table of keys. A lookup
// that goes astray ends the connection.
TEST_F(OfiPair, AKeyIsFoundWhileOtherMemoryIsRegistered) {
  ASSERT_TRUE(connect().ok());
  std::atomic<bool> over = false;
  std::thread registers([&] {
    constexpr std::size_t kRegions = 64;
    constexpr std::size_t kRegionBytes = kBytes / kRegions;
    std::array<Registration, kRegions> regions;
    for (std::size_t i = 0; !over.load(std::memory_order_relaxed); ++i) {
      Registration& one = regions[i % kRegions];
      if (one.bytes != 0) ends[1]->transport->deregister_memory(one);
      auto made = ends[1]->transport->register_memory(
          ends[1]->memory.data() + (i * 37 % kRegions) * kRegionBytes, kRegionBytes);
      EXPECT_TRUE(made.ok());
      if (!made.ok()) return;
      one = made.value();
      std::this_thread::yield();
    }
    for (const Registration& one : regions) {
      if (one.bytes != 0) ends[1]->transport->deregister_memory(one);
    }
  });
  // As many writes as fit are under way, so that the provider looks many keys up in a row.
  constexpr std::size_t kWrites = 50'000;
  std::size_t posted = 0;
  std::size_t ended = 0;
  std::size_t lost = 0;
  while (ended < kWrites && lost == 0) {
    while (posted < kWrites && posted - ended < 16) {
      if (write(ends[1]->remote(8), 8, posted + 1) != RMA_SUCCESS) break;
      ++posted;
    }
    std::array<Completion, 16> completions;
    const std::size_t filled = ends[0]->transport->poll(completions);
    for (std::size_t i = 0; i < filled; ++i) {
      if (completions[i].status != RMA_SUCCESS) ++lost;
    }
    ended += filled;
  }
  EXPECT_EQ(lost, 0U) << "after " << ended << " writes";
  over.store(true, std::memory_order_relaxed);
  registers.join();
}

// T4: a peer sends its last message and ends. What this process sends it then fails before the message was
// read.
TEST_F(OfiPair, TheLastMessageOfAPeerComesBeforeItsLoss) {
  ASSERT_TRUE(connect().ok());
  ends[0]->attendants.enter();  // the service thread leaves the provider to this thread
  const auto drives = [&] {
    return write(ends[1]->remote(0), 8, 1) == RMA_SUCCESS && outcome(1) == RMA_SUCCESS;
  };
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(drives());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const Local last = ends[1]->local(0, 64);
  ASSERT_EQ(ends[1]->messages().post_message(0, {&last, 1}, 0, {.inline_data = true, .unsignaled = true}),
            RMA_SUCCESS);
  ends[1].reset();
  const Local answer = ends[0]->local(0, 64);
  constexpr Cookie kAnswer = 7;
  for (Cookie i = 0; i <= kAnswer; ++i) {
    const PostFlags flags = {.inline_data = true, .unsignaled = i != kAnswer};
    static_cast<void>(ends[0]->messages().post_message(1, {&answer, 1}, i == kAnswer ? i : 0, flags));
  }
  std::array<Completion, 1> first;
  while (ends[0]->messages().poll(first) == 0) std::this_thread::yield();
  EXPECT_EQ(first[0].cookie, 100U);
  EXPECT_EQ(first[0].status, RMA_SUCCESS);
  EXPECT_EQ(first[0].bytes, 64U);
  ends[0]->attendants.leave();
}

// T11: the program, or another library, uses libfabric too.
TEST_F(OfiPair, AnotherUserOfLibfabricComesAndGoes) {
  ASSERT_TRUE(connect().ok());
  const auto library = Libfabric::get();
  ASSERT_TRUE(library.ok());
  auto found = find_fabrics({.providers = "tcp,net", .devices = "lo"});
  ASSERT_TRUE(found.ok());
  for (const FabricCandidate& one : found.value()) {
    if (!one.unusable.empty()) continue;
    fid_fabric* fabric = nullptr;
    ASSERT_EQ(library.value()->open_fabric(one.info->fabric_attr, &fabric, nullptr), 0);
    const Fabric owned(fabric);
    fid_domain* domain = nullptr;
    ASSERT_EQ(fi_domain(fabric, one.info.get(), &domain, nullptr), 0);
    const Domain closed_first(domain);
    ASSERT_EQ(write(ends[1]->remote(0), 8, 3), RMA_SUCCESS);
    EXPECT_EQ(outcome(3), RMA_SUCCESS);
  }
  ASSERT_EQ(write(ends[1]->remote(0), 8, 4), RMA_SUCCESS);
  EXPECT_EQ(outcome(4), RMA_SUCCESS);
}

// T1 and T11: what the user has set stays.
TEST(OfiTraps, AVariableThatTheUserHasSetIsLeftAlone) {
  constexpr const char* kName = "FI_TCP_PREFETCH_RBUF_SIZE";
  const char* const before = std::getenv(kName);  // NOLINT(concurrency-mt-unsafe): the test has one thread
  const std::string kept = before != nullptr ? before : "";
  ASSERT_EQ(setenv(kName, "4711", 1), 0);  // NOLINT(concurrency-mt-unsafe)
  ASSERT_TRUE(find_fabrics({.providers = "tcp,net", .devices = "lo"}).ok());
  EXPECT_STREQ(std::getenv(kName), "4711");                           // NOLINT(concurrency-mt-unsafe)
  ASSERT_EQ(setenv(kName, kept.empty() ? "0" : kept.c_str(), 1), 0);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace
}  // namespace librma::transport
