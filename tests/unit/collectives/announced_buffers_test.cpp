#include "collectives/shared_memory/announced_buffers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "threads.hpp"

namespace librma {
namespace {

using testing_threads::OwnBlock;
using testing_threads::run_members;
using testing_threads::ThreadRoster;

/// Buffers that no member has mapped. All system calls of one member fail.
class UnluckyBuffers final : public Buffers {
 public:
  static constexpr int kMembers = 3;
  static constexpr int kUnlucky = 1;

  explicit UnluckyBuffers(int me) : me_(me) {}
  [[nodiscard]] bool shared(const void*, std::size_t) const override { return false; }
  [[nodiscard]] std::byte* at(const void*, std::size_t, int) const override { return nullptr; }
  [[nodiscard]] bool reaches_all() const override { return true; }
  [[nodiscard]] rma_status_t read(int, const void* from, std::span<std::byte> into) const override {
    if (me_ == kUnlucky) return RMA_ERR_SYSTEM;
    std::memcpy(into.data(), from, into.size());
    return RMA_SUCCESS;
  }
  [[nodiscard]] rma_status_t write(int, void* to, std::span<const std::byte> from) const override {
    if (me_ == kUnlucky) return RMA_ERR_SYSTEM;
    std::memcpy(to, from.data(), from.size());
    return RMA_SUCCESS;
  }
  [[nodiscard]] std::byte* take_scratch() const override { return nullptr; }
  void give_scratch(std::byte*) const override {}

 private:
  const int me_;
};

TEST(AnnouncedBuffersTest, TheRootAndTheMemberThatCouldNotCopyFailAndTheOthersGoOn) {
  constexpr int kMembers = UnluckyBuffers::kMembers;
  constexpr int kUnlucky = UnluckyBuffers::kUnlucky;
  constexpr int kRoot = 2;
  constexpr std::size_t kBytes = 4096;
  const OwnBlock block(TeamShape{.members = kMembers, .flat = true});
  const ThreadRoster roster(kMembers);
  std::array<std::vector<std::byte>, kMembers> sources;
  for (int member = 0; member < kMembers; ++member)
    sources[static_cast<std::size_t>(member)].assign(kBytes, static_cast<std::byte>(member + 1));
  std::vector<std::byte> gathered(kMembers * kBytes);
  run_members(kMembers, [&](int member) {
    Rounds rounds(*block, member, WaitPolicy{.yields = 4}, roster);
    const UnluckyBuffers buffers(member);
    AnnouncedBuffers announced(rounds, buffers);
    const auto expect = [&](const Status& status, bool fails) {
      EXPECT_EQ(status.code(), fails ? RMA_ERR_SYSTEM : RMA_SUCCESS);
      if (fails) {
        EXPECT_NE(status.text().find("team rank 1 could not copy"), std::string::npos) << status.text();
      }
    };
    // What a member reaches is known only after all have announced their buffers once.
    ASSERT_TRUE(announced.announce_root(kRoot, {.dst = gathered.data(), .dst_bytes = gathered.size()}).ok());
    EXPECT_FALSE(announced.destination_reached(kRoot));
    expect(announced.finish_root(kRoot, RMA_SUCCESS), false);
    const std::vector<std::byte>& mine = sources[static_cast<std::size_t>(member)];
    ASSERT_TRUE(announced.announce({.src = mine.data(), .src_bytes = kBytes}).ok());
    ASSERT_TRUE(announced.finish(RMA_SUCCESS).ok());

    for (int again = 0; again < 2; ++again) {
      ASSERT_TRUE(
          announced.announce_root(kRoot, {.dst = gathered.data(), .dst_bytes = gathered.size()}).ok());
      ASSERT_TRUE(announced.destination_reached(kRoot));
      EXPECT_FALSE(announced.destination_mapped(kRoot));
      const rma_status_t used =
          announced.write_destination(kRoot, static_cast<std::size_t>(member) * kBytes, mine);
      expect(announced.finish_root(kRoot, used), member == kUnlucky || member == kRoot);
    }
    std::vector<std::byte> come(kBytes);
    ASSERT_TRUE(announced.announce_root(0, {.src = mine.data(), .src_bytes = kBytes}).ok());
    ASSERT_TRUE(announced.source_reached(0));
    const rma_status_t used = member == 0 ? RMA_SUCCESS : announced.read_source(0, 0, come);
    expect(announced.finish_root(0, used), member == kUnlucky || member == 0);
    if (member == kRoot) {
      EXPECT_EQ(come, sources[0]);
    }
  });
  for (const int member : {0, kRoot}) {
    const std::byte* const begin = gathered.data() + static_cast<std::size_t>(member) * kBytes;
    EXPECT_TRUE(std::all_of(begin, begin + kBytes,
                            [&](std::byte each) { return each == static_cast<std::byte>(member + 1); }));
  }
}

}  // namespace
}  // namespace librma
