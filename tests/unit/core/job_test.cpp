#include "core/job/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "../job_of_one.hpp"
#include "core/one_sided/operation.hpp"

namespace librma {
namespace {

class JobTest : public JobOfOne {
 protected:
  [[nodiscard]] Path::Kind kind(const void* address, std::size_t bytes) const {
    return job->resolve(address, bytes, 0).kind;
  }
  void register_own() { ASSERT_TRUE(job->memory().user_regions().add(own.data(), own.size()).ok()); }
  std::array<std::byte, 100> own = {};
};

TEST_F(JobTest, IsAJobOfOne) {
  EXPECT_EQ(job->rank(), 0);
  EXPECT_EQ(job->size(), 1);
  EXPECT_EQ(job->local_ranks(), std::vector<int>{0});
  EXPECT_TRUE(job->mapped(0));
  EXPECT_EQ(job->process(0).process, getpid());
  EXPECT_EQ(job->direct_table().size(), 1U);
}

TEST_F(JobTest, ResolvesTheHeapDirectlyUpToItsEdges) {
  const rma_direct_peer_t& peer = job->direct_table()[0];
  auto* const base = reinterpret_cast<std::byte*>(peer.base);
  std::byte* const block = heap(64);
  EXPECT_EQ(job->resolve(block, 64, 0).here, block);
  EXPECT_EQ(kind(block, 64), Path::Kind::direct);
  EXPECT_EQ(kind(base, peer.bytes), Path::Kind::direct);
  EXPECT_EQ(kind(base + peer.bytes - 1, 1), Path::Kind::direct);
  EXPECT_EQ(kind(base + peer.bytes - 1, 2), Path::Kind::none);
  EXPECT_EQ(kind(base - 1, 2), Path::Kind::none);
  EXPECT_EQ(kind(base, peer.bytes + 1), Path::Kind::none);
  EXPECT_EQ(kind(block, std::numeric_limits<std::size_t>::max()), Path::Kind::none);
  EXPECT_EQ(kind(nullptr, 1), Path::Kind::none);
}

TEST_F(JobTest, ResolvesRegisteredMemoryWhileItIsRegistered) {
  EXPECT_EQ(kind(own.data(), 1), Path::Kind::none);
  register_own();
  EXPECT_EQ(kind(own.data(), own.size()), Path::Kind::foreign);
  EXPECT_EQ(job->resolve(own.data() + 3, 4, 0).here, own.data() + 3) << "one's own needs no device";
  EXPECT_EQ(kind(own.data() + 1, own.size()), Path::Kind::none) << "one byte past the end";
  ASSERT_TRUE(job->memory().user_regions().remove(own.data()).ok());
  EXPECT_EQ(kind(own.data(), 1), Path::Kind::none);
}

TEST_F(JobTest, ProvidesZeroedBlocksThatEveryoneFinds) {
  const auto regions = job->service(Service::regions, 0);
  EXPECT_FALSE(regions.empty());
  EXPECT_EQ(job->resolve(regions.data(), regions.size(), 0).kind, Path::Kind::direct);
  EXPECT_TRUE(job->service(Service::teams, 0).empty()) << "nobody provided it";
  Doorbell& doorbell = job->doorbell(0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&doorbell) % alignof(Doorbell), 0U);
  EXPECT_EQ(doorbell.wakeups, 0U);
  EXPECT_EQ(doorbell.sleepers, 0U);
}

TEST_F(JobTest, AnOperationMovesToAndFromTheHeapAndRegisteredMemory) {
  register_own();
  std::array<std::byte, 100> from = {};
  from.fill(std::byte{33});
  for (std::byte* const there : {heap(100), own.data()}) {
    std::array<std::byte, 100> to = {};
    Operation out(*job, *remote_access, 0);
    ASSERT_TRUE(out.put(there, from.data(), 60).ok());
    ASSERT_TRUE(out.put(there + 60, from.data(), 40).ok());
    ASSERT_TRUE(out.put(there, from.data(), 0).ok());
    ASSERT_TRUE(out.end({.kind = Ending::Kind::blocking}).ok());
    Operation in(*job, *remote_access, 0);
    ASSERT_TRUE(in.get(to.data(), there, 100).ok());
    rma_request_t request = 77;
    ASSERT_TRUE(in.end({.kind = Ending::Kind::request, .request = &request}).ok());
    EXPECT_EQ(request, kCompleteRequest);
    EXPECT_EQ(to, from);
  }
  Operation left(*job, *remote_access, 0);
  ASSERT_TRUE(left.put(own.data(), from.data(), 8).ok());
  EXPECT_TRUE(left.end({.kind = Ending::Kind::implicit}).ok());
  EXPECT_TRUE(remote_access->pending().fence_all().ok());
}

TEST_F(JobTest, AnOperationOnOtherMemoryFailsAndMovesNothing) {
  std::array<std::byte, 8> from = {};
  from.fill(std::byte{33});
  Operation operation(*job, *remote_access, 0);
  const Status put = operation.put(own.data(), from.data(), 8);
  EXPECT_EQ(put.code(), RMA_ERR_ADDRESS);
  EXPECT_THAT(std::string(put.text()), testing::HasSubstr("8 bytes at"));
  EXPECT_THAT(std::string(put.text()), testing::HasSubstr("rank 0"));
  EXPECT_EQ(operation.get(from.data(), own.data(), 8).code(), RMA_ERR_ADDRESS);
  EXPECT_EQ(own[0], std::byte{0});
  EXPECT_EQ(from[0], std::byte{33});
  // A part that lies in the registered memory moves. A part that only begins there does not.
  register_own();
  EXPECT_TRUE(operation.put(own.data() + 92, from.data(), 8).ok());
  EXPECT_EQ(operation.put(own.data() + 93, from.data(), 8).code(), RMA_ERR_ADDRESS);
  EXPECT_EQ(own[99], std::byte{33});
}

}  // namespace
}  // namespace librma
