#include "collectives/rdma/rdma_allgather.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "threads.hpp"

// Threads take the place of a team's processes. Their writes are carried out late and by other threads, as a
// device does it, in the order of each sender and receiver.

namespace librma::rdma_allgather_test {
namespace {

using testing_threads::run_members;

constexpr int kWholeLife = -1;

/// The memory of all members, and the writes and messages between them that are under way.
class Wires {
 public:
  Wires(int members, std::uint64_t seed)
      : blocks_(static_cast<std::size_t>(members)), told_(static_cast<std::size_t>(members)), random_(seed) {
    for (auto& block : blocks_) block = std::make_unique<AllgatherBlock>();
  }

  /// Carries out all writes that are still under way.
  void drain() {
    const auto any = [&] {
      return std::ranges::any_of(ways_, [](const auto& way) { return !way.second.writes.empty(); });
    };
    while (any()) happen();
  }

 private:
  friend class ThreadPort;
  struct Write {
    std::vector<std::pair<const std::byte*, std::byte*>> copies;
    std::vector<std::size_t> bytes;
    std::uint64_t number = 0;
  };
  struct Way {
    std::deque<Write> writes;
    std::deque<std::uint64_t> arrived;  ///< not reported to the sender yet
    std::deque<std::vector<std::byte>> messages;
  };

  /// Lets one thing happen, or nothing. The caller holds lock_.
  void happen() {
    for (auto& [ends, way] : ways_) {
      if (lost_ == ends.second) fail_writes(way);
      if (random_() % 3 != 0) continue;
      if (!way.arrived.empty() && random_() % 2 == 0) {
        open_.erase(way.arrived.front());
        way.arrived.pop_front();
      }
      if (way.writes.empty()) continue;
      const Write& write = way.writes.front();
      for (std::size_t i = 0; i < write.copies.size(); ++i) {
        std::memcpy(write.copies[i].second, write.copies[i].first, write.bytes[i]);
      }
      way.arrived.push_back(write.number);
      way.writes.pop_front();
    }
    if (failed_) told_[random_() % told_.size()] = true;
  }
  void fail_writes(Way& way) {
    for (const Write& write : way.writes) {
      open_.erase(write.number);
      broken_.insert({write.number, true});
    }
    way.writes.clear();
  }
  void lose(int member) {
    lost_ = member;
    for (auto& [ends, way] : ways_) {
      if (ends.first == member) way.writes.clear();
    }
  }

  std::mutex lock_;  // guards the members below
  std::vector<std::unique_ptr<AllgatherBlock>> blocks_;
  std::vector<bool> told_;  ///< by member: it knows that one has failed
  std::map<std::pair<int, int>, Way> ways_;
  std::map<std::uint64_t, bool> open_;    ///< requests that have not ended
  std::map<std::uint64_t, bool> broken_;  ///< requests that have failed
  std::uint64_t requests_ = 0;
  bool failed_ = false;
  int lost_ = -1;
  std::mt19937_64 random_;
};

class ThreadPort final : public AllgatherPort {
 public:
  /// The member ends instead of its write number `life`.
  ThreadPort(Wires& wires, int me, int members, int life = kWholeLife)
      : wires_(wires), me_(me), members_(members), life_(life) {}

  /// Lets write number `writes` from now find no memory.
  void run_out(int writes) { until_exhausted_ = writes; }
  /// Says whether the next result can be registered.
  void refuse(bool refuses) { refuses_ = refuses; }

  [[nodiscard]] int member() const override { return me_; }
  [[nodiscard]] int members() const override { return members_; }
  [[nodiscard]] AllgatherBlock& block() override { return *wires_.blocks_[index(me_)]; }

  void open_result(std::byte* result, std::size_t /*bytes*/) override { result_ = result; }
  [[nodiscard]] ResultCard card(int /*member*/) override {
    return {.address = reinterpret_cast<std::uint64_t>(result_), .usable = refuses_ ? 0U : 1U};
  }
  void close_result() override { result_ = nullptr; }

  [[nodiscard]] Status write_block(int member, std::span<const Piece> pieces, const Word& word,
                                   rma_request_t* request) override {
    return write(member, reinterpret_cast<std::byte*>(wires_.blocks_[index(member)].get()), pieces, word,
                 request);
  }
  [[nodiscard]] Status write_result(int member, const ResultCard& card, std::span<const Piece> pieces,
                                    const Word& word, rma_request_t* request) override {
    return write(member, reinterpret_cast<std::byte*>(card.address), pieces, word, request);
  }
  [[nodiscard]] Status send(int member, std::span<const std::byte> data, rma_request_t* request) override {
    const std::lock_guard guard(wires_.lock_);
    if (Status status = live(); !status.ok()) return status;
    wires_.ways_[{me_, member}].messages.emplace_back(data.begin(), data.end());
    *request = RMA_REQUEST_NULL;
    return {};
  }
  [[nodiscard]] Status receive(int member, std::span<std::byte> data, rma_request_t* request) override {
    const std::lock_guard guard(wires_.lock_);
    if (Status status = live(); !status.ok()) return status;
    *request = open_request();
    receives_.push_back({*request, member, data});
    return {};
  }
  [[nodiscard]] Status finish(rma_request_t& request) override {
    const rma_request_t ending = std::exchange(request, RMA_REQUEST_NULL);
    const auto number = number_of(ending);
    while (true) {
      std::this_thread::yield();
      const std::lock_guard guard(wires_.lock_);
      wires_.happen();
      take_messages();
      if (!wires_.open_.contains(number)) {
        return wires_.broken_.contains(number) ? gone() : Status();
      }
      if (lost()) return gone();
      if (is_receive(ending) && (told() || wires_.lost_ >= 0)) {
        drop(ending);
        return gone();
      }
    }
  }
  void cancel(rma_request_t request) override {
    const std::lock_guard guard(wires_.lock_);
    if (is_receive(request)) drop(request);
  }
  [[nodiscard]] Status wait(int member, const std::uint64_t& word, std::uint64_t value) override {
    while (true) {
      {
        const std::lock_guard guard(wires_.lock_);
        wires_.happen();
        if (word >= value) return {};
        if (lost() || told() || wires_.lost_ == member) return gone();
      }
      std::this_thread::yield();
    }
  }
  [[nodiscard]] Status usable() override {
    const std::lock_guard guard(wires_.lock_);
    if (Status status = live(); !status.ok()) return status;
    return told() ? gone() : Status();
  }
  [[nodiscard]] Status failure() override { return gone(); }
  void fail() override {
    const std::lock_guard guard(wires_.lock_);
    if (!lost()) wires_.failed_ = true;
    wires_.told_[index(me_)] = true;
  }
  [[nodiscard]] AllgatherBlock::Gate withdraw(int member, std::size_t gate) override {
    {
      const std::lock_guard guard(wires_.lock_);
      if (lost() || wires_.lost_ == member) return AllgatherBlock::kWithdrawn;
    }
    auto* const memory = reinterpret_cast<std::byte*>(wires_.blocks_[index(member)].get());
    std::uint32_t before = AllgatherBlock::kIdle;
    std::atomic_ref(*reinterpret_cast<std::uint32_t*>(memory + gate))
        .compare_exchange_strong(before, AllgatherBlock::kWithdrawn);
    std::this_thread::yield();
    return static_cast<AllgatherBlock::Gate>(before);
  }
  [[nodiscard]] bool ended() {
    const std::lock_guard guard(wires_.lock_);
    return lost();
  }

 private:
  struct Receive {
    rma_request_t request;
    int from;
    std::span<std::byte> data;
  };

  [[nodiscard]] static std::size_t index(int member) { return static_cast<std::size_t>(member); }
  [[nodiscard]] static std::uint64_t number_of(rma_request_t request) {
    return static_cast<std::uint64_t>(request);
  }
  [[nodiscard]] static Status gone() { return {RMA_ERR_PEER_LOST, "by the test"}; }
  [[nodiscard]] bool lost() const { return wires_.lost_ == me_; }
  [[nodiscard]] bool told() const { return wires_.told_[index(me_)]; }
  [[nodiscard]] Status live() {
    if (life_ == 0) wires_.lose(me_);
    if (life_ > 0) --life_;
    return lost() ? gone() : Status();
  }
  [[nodiscard]] rma_request_t open_request() {
    wires_.open_[++wires_.requests_] = true;
    return static_cast<rma_request_t>(wires_.requests_);
  }
  [[nodiscard]] bool is_receive(rma_request_t request) const {
    return std::ranges::any_of(receives_, [&](const Receive& one) { return one.request == request; });
  }
  void drop(rma_request_t request) {
    wires_.open_.erase(number_of(request));
    wires_.broken_[number_of(request)] = true;
    std::erase_if(receives_, [&](const Receive& one) { return one.request == request; });
  }
  void take_messages() {
    while (!receives_.empty()) {
      const Receive& first = receives_.front();
      auto& messages = wires_.ways_[{first.from, me_}].messages;
      if (messages.empty()) return;
      ASSERT_EQ(messages.front().size(), first.data.size());
      std::memcpy(first.data.data(), messages.front().data(), first.data.size());
      messages.pop_front();
      wires_.open_.erase(number_of(first.request));
      receives_.erase(receives_.begin());
    }
  }
  [[nodiscard]] Status write(int member, std::byte* base, std::span<const Piece> pieces, const Word& word,
                             rma_request_t* request) {
    const std::lock_guard guard(wires_.lock_);
    *request = RMA_REQUEST_NULL;
    if (until_exhausted_-- == 0) throw std::bad_alloc();
    if (Status status = live(); !status.ok()) return status;
    if (wires_.lost_ == member) return gone();
    Wires::Write made;
    for (const Piece& piece : pieces) {
      made.copies.emplace_back(piece.from, base + piece.to);
      made.bytes.push_back(piece.bytes);
    }
    auto* const block = reinterpret_cast<std::byte*>(wires_.blocks_[index(member)].get());
    made.copies.emplace_back(reinterpret_cast<const std::byte*>(word.from), block + word.to);
    made.bytes.push_back(sizeof *word.from);
    *request = open_request();
    made.number = number_of(*request);
    wires_.ways_[{me_, member}].writes.push_back(std::move(made));
    return {};
  }

  Wires& wires_;
  const int me_;
  const int members_;
  int life_;
  int until_exhausted_ = -1;
  bool refuses_ = false;
  std::byte* result_ = nullptr;
  std::vector<Receive> receives_;
};

constexpr std::size_t kCopied = 192;
constexpr std::array<std::size_t, 9> kSizes = {1,           8,    48, kCopied / 2, kCopied / 2 + 1, kCopied,
                                               kCopied + 1, 1000, 8};
constexpr std::byte kMine{0xee};

std::byte byte_of(std::uint64_t call, int member, std::size_t i) {
  return static_cast<std::byte>(call * 31 + static_cast<std::uint64_t>(member) * 7 + i * 13 + i / 251);
}

std::size_t first_wrong(const std::vector<std::byte>& all, std::uint64_t call, std::size_t bytes) {
  std::size_t right = 0;
  while (right < all.size() && all[right] == byte_of(call, static_cast<int>(right / bytes), right % bytes))
    ++right;
  return right;
}

class RdmaAllgatherTest : public testing::TestWithParam<int> {};

TEST_P(RdmaAllgatherTest, RandomSizesAndRefusalsGiveWhatTheMembersGave) {
  const int members = GetParam();
  const std::uint64_t seed = testing_threads::seed();
  for (const bool ring : {false, true}) {
    Wires wires(members, seed);
    run_members(members, [&](int me) {
      std::mt19937_64 shared(seed + (ring ? 1 : 0));
      std::mt19937_64 own(seed + static_cast<std::uint64_t>(me) + 7);
      ThreadPort port(wires, me, members);
      RdmaAllgather allgather(
          port, {.copy_bytes = kCopied, .ring_bytes = 100, .ring_members = ring ? 2 : members + 1});
      std::vector<std::byte> last;  // the result of the call before, which nobody may write to
      for (std::uint64_t call = 0; call < 30; ++call) {
        const std::size_t bytes = kSizes[shared() % kSizes.size()];
        const bool anybody_refuses = shared() % 4 == 0;
        port.refuse(anybody_refuses && own() % 2 == 0);
        std::vector<std::byte> dst(static_cast<std::size_t>(members) * bytes);
        std::vector<std::byte> other(bytes);
        std::byte* const src =
            own() % 2 == 0 ? dst.data() + static_cast<std::size_t>(me) * bytes : other.data();
        for (std::size_t i = 0; i < bytes; ++i) src[i] = byte_of(call, me, i);
        ASSERT_TRUE(allgather.run(dst.data(), src, bytes).ok());
        ASSERT_EQ(first_wrong(dst, call, bytes), dst.size()) << "call " << call << ", member " << me;
        ASSERT_EQ(std::ranges::count(last, kMine), static_cast<std::ptrdiff_t>(last.size()));
        last = std::move(dst);
        std::ranges::fill(last, kMine);
      }
      allgather.settle();
    });
  }
}

TEST_P(RdmaAllgatherTest, EveryCallEndsWhenAMemberFindsNoMemory) {
  const int members = GetParam();
  if (members == 1) return;  // nobody writes
  for (const int writes : {0, 1, 5}) {
    Wires wires(members, testing_threads::seed());
    run_members(members, [&](int me) {
      ThreadPort port(wires, me, members);
      if (me == 0) port.run_out(writes);
      RdmaAllgather allgather(port, {.copy_bytes = kCopied, .ring_bytes = 100, .ring_members = members + 1});
      std::vector<std::byte> src(kCopied + 1);
      std::vector<std::byte> dst(static_cast<std::size_t>(members) * src.size());
      Status status;
      while (status.ok()) status = allgather.run(dst.data(), src.data(), src.size());
      EXPECT_EQ(status.code(), me == 0 ? RMA_ERR_NO_MEMORY : RMA_ERR_PEER_LOST);
      allgather.settle();
    });
  }
}

TEST_P(RdmaAllgatherTest, EveryCallEndsWhenAMemberIsLostAndNobodyWritesToItsResultAfterwards) {
  const int members = GetParam();
  std::mt19937_64 random(testing_threads::seed());
  for (int round = 0; round < 60; ++round) {
    const int gone = static_cast<int>(random() % static_cast<std::uint64_t>(members));
    const int life = static_cast<int>(random() % 12);
    const bool ring = random() % 3 == 0;
    const std::size_t bytes = kSizes[random() % kSizes.size()];
    Wires wires(members, random());
    std::vector<std::vector<std::byte>> results(static_cast<std::size_t>(members));
    run_members(members, [&](int me) {
      ThreadPort port(wires, me, members, me == gone ? life : kWholeLife);
      RdmaAllgather allgather(
          port, {.copy_bytes = kCopied, .ring_bytes = 1, .ring_members = ring ? 2 : members + 1});
      std::vector<std::byte> src(bytes);
      std::vector<std::byte>& dst = results[static_cast<std::size_t>(me)];
      Status status;
      for (std::uint64_t call = 0; status.ok() && call < 20; ++call) {
        dst.resize(static_cast<std::size_t>(members) * bytes);
        for (std::size_t i = 0; i < bytes; ++i) src[i] = byte_of(call, me, i);
        status = allgather.run(dst.data(), src.data(), bytes);
        if (status.ok()) {
          EXPECT_EQ(first_wrong(dst, call, bytes), dst.size());
        }
      }
      EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST)
          << "member " << me << " of " << members << " without " << gone;
      std::ranges::fill(dst, kMine);
      EXPECT_EQ(allgather.run(dst.data(), dst.data(), 0).code(), RMA_ERR_PEER_LOST);
    });
    wires.drain();  // writes that are still under way show now
    for (int me = 0; me < members; ++me) {
      if (me == gone) continue;
      const auto& dst = results[static_cast<std::size_t>(me)];
      ASSERT_EQ(std::ranges::count(dst, kMine), static_cast<std::ptrdiff_t>(dst.size()))
          << "round " << round << ", member " << me << " of " << members << " without " << gone;
    }
  }
}

TEST(AllgatherSteps, CopiedBlocksHaveRoomInTheCollectiveBuffer) {
  constexpr std::size_t kMost = 1024;
  for (int members = 2; members <= 130; ++members) {
    for (int member = 0; member < members; ++member) {
      const AllgatherSteps steps(member, members, false);
      for (const std::size_t bytes : {kMost, kMost - 1, kMost / 2, kMost / 4 + 1, kMost / 16, kMost / 64}) {
        const std::size_t copied = steps.first_longer(kMost, bytes);
        for (std::size_t k = 0; k < copied; ++k) {
          const AllgatherStep step = steps.step(k);
          const std::size_t room = AllgatherSteps::kLongestSteps * kMost;
          ASSERT_LE((steps.place(step.out_first, copied) + step.count) * bytes, room)
              << members << " members";
          ASSERT_LE((steps.place(step.in_first, copied) + step.count) * bytes, room) << members << " members";
          ASSERT_LE((steps.landing(k, copied) + step.count) * bytes, room) << members << " members";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, RdmaAllgatherTest, testing::Values(2, 3, 4, 5, 7, 8, 13));

}  // namespace
}  // namespace librma::rdma_allgather_test
