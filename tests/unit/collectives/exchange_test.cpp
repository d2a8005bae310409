#include "collectives/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>

#include "collectives/reduce.hpp"
#include "ends_waiting.hpp"
#include "threads.hpp"

namespace rma {
namespace {

using testing_threads::OwnBlock;
using testing_threads::run_members;
using testing_threads::ThreadRoster;

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::size_t kMostBytes = 24000;

/// One member's memory: a heap that all members can use, and memory that they reach otherwise, or not. Each has room
/// for two buffers with a block of each member. The heap ends with the scratch.
struct Memory {
  explicit Memory(int members)
      : heap(2 * static_cast<std::size_t>(members) * kMostBytes + Buffers::kScratchBytes),
        other(heap.size() - Buffers::kScratchBytes) {}
  std::vector<std::byte> heap;
  std::vector<std::byte> other;
};

/// How the members get at memory outside of the heaps: by system calls and scratch, or by scratch, or not all of them.
enum class Reach { all, some, none };

class ThreadBuffers final : public Buffers {
 public:
  ThreadBuffers(std::vector<Memory>& memories, int me, Reach reach)
      : memories_(memories),
        me_(me),
        reaches_(reach == Reach::all || (reach == Reach::some && me != 0)),
        lacks_scratch_(reach == Reach::none && me == 1) {}

  [[nodiscard]] bool shared(const void* address, std::size_t bytes) const override {
    return inside(address, bytes, me_);
  }
  [[nodiscard]] std::byte* at(const void* address, std::size_t bytes, int member) const override {
    EXPECT_TRUE(inside(address, bytes, member)) << "of member " << member;
    return const_cast<std::byte*>(static_cast<const std::byte*>(address));
  }
  [[nodiscard]] bool reaches_all() const override { return reaches_; }
  [[nodiscard]] rma_status_t read(int member, const void* from, std::span<std::byte> into) const override {
    EXPECT_TRUE(reaches_ && member != me_);
    std::memcpy(into.data(), from, into.size());
    return RMA_SUCCESS;
  }
  [[nodiscard]] rma_status_t write(int member, void* to, std::span<const std::byte> from) const override {
    EXPECT_TRUE(reaches_ && member != me_);
    std::memcpy(to, from.data(), from.size());
    return RMA_SUCCESS;
  }
  [[nodiscard]] std::byte* take_scratch() const override {
    EXPECT_FALSE(scratch_taken_);
    if (lacks_scratch_) return nullptr;
    scratch_taken_ = true;
    std::vector<std::byte>& heap = memories_[static_cast<std::size_t>(me_)].heap;
    return heap.data() + heap.size() - kScratchBytes;
  }
  void give_scratch(std::byte* scratch) const override {
    EXPECT_TRUE(std::exchange(scratch_taken_, false));
    std::fill_n(scratch, kScratchBytes, std::byte{0xdd});  // no other member may still use it
  }

 private:
  [[nodiscard]] bool inside(const void* address, std::size_t bytes, int member) const {
    const std::vector<std::byte>& heap = memories_[static_cast<std::size_t>(member)].heap;
    const auto begin = reinterpret_cast<std::uintptr_t>(heap.data());
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at + bytes <= begin + heap.size();
  }

  std::vector<Memory>& memories_;
  const int me_;
  const bool reaches_;
  const bool lacks_scratch_;
  mutable bool scratch_taken_ = false;
};

/// A function x -> factor * x + summand modulo 2^32. Chaining such functions is associative and does not commute.
struct Affine {
  std::uint32_t factor = 1;
  std::uint32_t summand = 0;
  [[nodiscard]] Affine then(const Affine& next) const {
    return {.factor = factor * next.factor, .summand = summand * next.factor + next.summand};
  }
  auto operator<=>(const Affine&) const = default;
};

template <typename T>
rma_reducer_t reducer() {
  if constexpr (std::is_same_v<T, double>) {
    return reducer_of(RMA_DOUBLE, RMA_SUM);
  } else {
    return {.combine =
                [](const void* in, void* inout, std::size_t count, void* /*context*/) {
                  const auto* const lower = static_cast<const Affine*>(in);
                  auto* const higher = static_cast<Affine*>(inout);
                  for (std::size_t i = 0; i < count; ++i) higher[i] = lower[i].then(higher[i]);
                },
            .context = nullptr,
            .element_bytes = sizeof(Affine),
            .commutes = 0};
  }
}

/// Return a member's contribution to a step, reproducibly.
std::byte byte_of(std::uint64_t step, int member, std::size_t i) {
  return static_cast<std::byte>(step * 31 + static_cast<std::uint64_t>(member) * 7 + i * 13 + i / 251);
}
template <typename T>
T number_of(std::uint64_t step, int member, std::size_t i) {
  const std::uint64_t seed = step % 17 + static_cast<std::uint64_t>(member) * 3 + i % 101 + 1;
  if constexpr (std::is_same_v<T, double>) {
    return 1.0 / static_cast<double>(seed);
  } else {
    return {.factor = static_cast<std::uint32_t>(2 * seed + 1), .summand = static_cast<std::uint32_t>(seed)};
  }
}

/// Returns the result over the members before `end`, in the promised order.
template <typename T>
T result_of(std::uint64_t step, int end, std::size_t i) {
  T result = number_of<T>(step, 0, i);
  for (int member = 1; member < end; ++member) {
    if constexpr (std::is_same_v<T, double>) {
      result += number_of<T>(step, member, i);
    } else {
      result = result.then(number_of<T>(step, member, i));
    }
  }
  return result;
}

/// A random sequence of collectives as one member sees it. The draws that all members must agree on come from
/// `shared_`. Each member draws the places of its buffers alone.
class Player {
 public:
  Player(TeamBlock& block, int member, const WaitPolicy& policy, std::vector<Memory>& memories,
         const ThreadRoster& roster, Reach reach, std::uint64_t seed)
      : memory_(memories[static_cast<std::size_t>(member)]),
        buffers_(memories, member, reach),
        exchange_(block, member, policy, buffers_, roster),
        shared_(seed),
        own_(seed + static_cast<std::uint64_t>(member) + 1) {}

  void play(std::uint64_t steps) {
    for (step_ = 0; step_ < steps && !testing::Test::HasFatalFailure(); ++step_) {
      // In half of the steps all members use shared memory, so that buffers are used in place in large teams
      // too.
      all_shared_ = shared_() % 2 == 0;
      root_ = static_cast<int>(shared_() % static_cast<std::uint64_t>(exchange_.members()));
      collective_ = {};
      collective_.kind = static_cast<rma_collective_kind_t>(shared_() % 11);
      collective_.root = root_;
      const std::size_t bytes = draw_bytes();
      const bool uneven = shared_() % 3 == 0;
      const bool affine = shared_() % 2 == 0;
      switch (collective_.kind) {
        case RMA_COLLECTIVE_BARRIER:
          ASSERT_TRUE(exchange_.barrier().ok());
          break;
        case RMA_COLLECTIVE_BROADCAST:
          broadcast(bytes);
          break;
        case RMA_COLLECTIVE_GATHER:
        case RMA_COLLECTIVE_ALLGATHER:
          gather(bytes, uneven);
          break;
        case RMA_COLLECTIVE_SCATTER:
          scatter(bytes, uneven);
          break;
        case RMA_COLLECTIVE_ALLTOALL:
          alltoall(bytes, uneven);
          break;
        default:
          if (affine) {
            combine<Affine>(bytes / sizeof(Affine), uneven);
          } else {
            combine<double>(bytes / sizeof(double), uneven);
          }
          break;
      }
    }
  }
  [[nodiscard]] std::uint64_t done() const { return done_; }

 private:
  std::size_t draw_bytes() {
    constexpr std::array<std::size_t, 12> kSizes = {
        0,     1,         8,    TeamBlock::kInlineBytes, TeamBlock::kInlineBytes + 8,
        600,   1024,      3000, TeamBlock::kPieceBytes,  TeamBlock::kPieceBytes + 8,
        20000, kMostBytes};
    return kSizes[shared_() % kSizes.size()];
  }
  /// The size of a member's block in an uneven operation: some have none.
  static std::size_t uneven_bytes(std::size_t bytes, int from, int to) {
    return bytes / static_cast<std::size_t>(1 + (from * 5 + to * 3) % 4) *
           static_cast<std::size_t>((from + to) % 3 != 0);
  }

  [[nodiscard]] int me() const { return exchange_.member(); }
  [[nodiscard]] int members() const { return exchange_.members(); }
  /// Returns the memory for a buffer of all blocks, and that for another one.
  std::pair<std::byte*, std::byte*> draw_memory() {
    const auto half = static_cast<std::size_t>(members()) * kMostBytes;
    const auto draw = [&] { return (all_shared_ || own_() % 2 == 0 ? memory_.heap : memory_.other).data(); };
    std::byte* const one = draw();
    std::byte* const other = draw() + half;
    return {one, other};
  }
  void fill(std::byte* to, std::size_t bytes, int block) const {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = byte_of(step_, me() * 64 + block, i);
  }
  /// Executes the operation. Returns whether it was done.
  bool run() {
    bool done = false;
    EXPECT_TRUE(exchange_.run(collective_, done).ok());
    if (done) ++done_;
    return done;
  }

  void broadcast(std::size_t bytes) {
    std::byte* const buffer = draw_memory().first;
    std::memset(buffer, 0, bytes);
    if (me() == root_) fill(buffer, bytes, 0);
    collective_.dst = buffer;
    collective_.bytes = bytes;
    if (run()) expect_bytes(buffer, bytes, root_, 0);
    std::memset(buffer, 0xcc, bytes);  // this member's again: no other may still read it
  }

  /// The blocks of all members, one behind the other with a gap if they differ in size.
  template <typename Size>
  std::vector<rma_block_t> blocks(std::byte* memory, const Size& size) const {
    std::vector<rma_block_t> list;
    for (int other = 0; other < members(); ++other) {
      list.push_back(
          {.address = memory + static_cast<std::size_t>(other) * kMostBytes, .bytes = size(other)});
    }
    return list;
  }
  template <typename Size>
  std::vector<rma_block_t> array(std::byte* memory, const Size& size) const {
    std::vector<rma_block_t> list;
    for (int other = 0; other < members(); ++other) {
      list.push_back(
          {.address = memory + static_cast<std::size_t>(other) * size(other), .bytes = size(other)});
    }
    return list;
  }

  void gather(std::size_t bytes, bool uneven) {
    auto [dst, src] = draw_memory();
    const auto size = [&](int from) { return uneven ? uneven_bytes(bytes, from, 0) : bytes; };
    std::vector<rma_block_t> places = uneven ? blocks(dst, size) : array(dst, size);
    const bool gets = collective_.kind == RMA_COLLECTIVE_ALLGATHER || me() == root_;
    auto* const own = static_cast<std::byte*>(places[static_cast<std::size_t>(me())].address);
    if (gets && own_() % 2 == 0) src = own;
    fill(src, size(me()), 0);
    collective_.uneven = uneven ? 1 : 0;
    collective_.dst = gets ? dst : nullptr;
    collective_.dst_blocks = gets ? places.data() : nullptr;
    collective_.src = src;
    collective_.bytes = size(me());
    if (run() && gets) {
      for (int from = 0; from < members(); ++from) {
        expect_bytes(static_cast<std::byte*>(places[static_cast<std::size_t>(from)].address), size(from),
                     from, 0);
      }
    }
    std::memset(src, 0xcc, size(me()));
  }

  void scatter(std::size_t bytes, bool uneven) {
    auto [src, dst] = draw_memory();
    const auto size = [&](int to) { return uneven ? uneven_bytes(bytes, 0, to) : bytes; };
    std::vector<rma_block_t> places = uneven ? blocks(src, size) : array(src, size);
    const bool is_root = me() == root_;
    if (is_root) {
      for (int to = 0; to < members(); ++to) {
        fill(static_cast<std::byte*>(places[static_cast<std::size_t>(to)].address), size(to), to);
      }
      if (own_() % 2 == 0) dst = static_cast<std::byte*>(places[static_cast<std::size_t>(me())].address);
    }
    collective_.uneven = uneven ? 1 : 0;
    collective_.src = is_root ? src : nullptr;
    collective_.src_blocks = is_root ? places.data() : nullptr;
    collective_.dst = dst;
    collective_.bytes = size(me());
    if (run()) expect_bytes(dst, size(me()), root_, me());
    std::memset(dst, 0xcc, size(me()));
  }

  void alltoall(std::size_t bytes, bool uneven) {
    auto [dst, src] = draw_memory();
    if (bytes * static_cast<std::size_t>(members()) > static_cast<std::size_t>(members()) * kMostBytes / 2)
      return;
    const bool in_place = !uneven && shared_() % 4 == 0;
    if (in_place)
      src = dst;
    else
      src = dst + static_cast<std::size_t>(members()) * kMostBytes / 2;
    const auto size_in = [&](int from) { return uneven ? uneven_bytes(bytes, from, me()) : bytes; };
    const auto size_out = [&](int to) { return uneven ? uneven_bytes(bytes, me(), to) : bytes; };
    const auto list = [&](std::byte* memory, const auto& size) {
      std::vector<rma_block_t> all;
      for (int other = 0; other < members(); ++other) {
        all.push_back({.address = memory + static_cast<std::size_t>(other) * bytes, .bytes = size(other)});
      }
      return all;
    };
    const std::vector<rma_block_t> in = list(dst, size_in);
    const std::vector<rma_block_t> out = list(src, size_out);
    for (int to = 0; to < members(); ++to) {
      fill(static_cast<std::byte*>(out[static_cast<std::size_t>(to)].address), size_out(to), to);
    }
    collective_.uneven = uneven ? 1 : 0;
    collective_.dst = dst;
    collective_.src = src;
    collective_.dst_blocks = in.data();
    collective_.src_blocks = out.data();
    collective_.bytes = bytes;
    if (run()) {
      for (int from = 0; from < members(); ++from) {
        expect_bytes(static_cast<std::byte*>(in[static_cast<std::size_t>(from)].address), size_in(from), from,
                     me());
      }
    }
    std::memset(src, 0xcc, static_cast<std::size_t>(members()) * bytes);
  }

  template <typename T>
  void combine(std::size_t count, bool uneven) {
    auto [out, in] = draw_memory();
    const rma_collective_kind_t kind = collective_.kind;
    std::vector<std::size_t> counts;
    std::size_t first = 0;
    std::size_t total = count;
    std::size_t own = count;
    if (kind == RMA_COLLECTIVE_REDUCE_SCATTER) {
      count /= static_cast<std::size_t>(members());
      total = 0;
      for (int member = 0; member < members(); ++member) {
        if (member == me()) first = total;
        counts.push_back(uneven ? uneven_bytes(count, member, 1) : count);
        total += counts.back();
      }
      own = counts[static_cast<std::size_t>(me())];
    }
    auto* const dst = reinterpret_cast<T*>(out);
    auto* const src = own_() % 2 == 0 ? dst : reinterpret_cast<T*>(in);
    std::memset(out, 0, total * sizeof(T));
    for (std::size_t i = 0; i < total; ++i) src[i] = number_of<T>(step_, me(), i);
    const bool gets = kind != RMA_COLLECTIVE_REDUCE || me() == root_;
    collective_.dst = gets ? dst : nullptr;
    collective_.src = src;
    collective_.count = count;
    collective_.counts = uneven && !counts.empty() ? counts.data() : nullptr;
    collective_.reducer = reducer<T>();
    const bool prefix = kind == RMA_COLLECTIVE_SCAN || kind == RMA_COLLECTIVE_EXSCAN;
    const int end = !prefix ? members() : me() + (kind == RMA_COLLECTIVE_SCAN ? 1 : 0);
    if (run() && gets && end > 0) {
      // The results must agree in every bit, and so are the same on all members.
      std::size_t right = 0;
      while (right < own && dst[right] == result_of<T>(step_, end, first + right)) ++right;
      ASSERT_EQ(right, own) << where(total * sizeof(T));
    }
    std::memset(static_cast<void*>(src), 0xcc, total * sizeof(T));
    std::memset(out, 0xcc, total * sizeof(T));
  }

  void expect_bytes(const std::byte* result, std::size_t bytes, int from, int block) {
    std::size_t right = 0;
    while (right < bytes && result[right] == byte_of(step_, from * 64 + block, right)) ++right;
    ASSERT_EQ(right, bytes) << where(bytes) << ", what member " << from << " gave";
  }

  [[nodiscard]] std::string where(std::size_t bytes) const {
    return "step " + std::to_string(step_) + ", kind " + std::to_string(collective_.kind) + ", member " +
           std::to_string(me()) + ", " + std::to_string(bytes) + " bytes";
  }

  Memory& memory_;
  ThreadBuffers buffers_;
  Exchange exchange_;
  std::mt19937_64 shared_;
  std::mt19937_64 own_;
  rma_collective_t collective_ = {};
  int root_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t done_ = 0;
  bool all_shared_ = false;
};

class ExchangeTest : public testing::TestWithParam<std::tuple<int, bool, std::uint64_t, Reach>> {};

TEST_P(ExchangeTest, RandomSequencesGiveTheResultsTheyShould) {
  const auto [members, flat, direct_bytes, reach] = GetParam();
  const std::uint64_t seed = testing_threads::seed();
  constexpr std::uint64_t kSteps = 40;
  for (const WaitPolicy& policy :
       {WaitPolicy{.spins = 0, .yields = 4}, WaitPolicy{.spins = 30, .yields = 0}}) {
    const OwnBlock block(TeamShape{.members = static_cast<std::uint32_t>(members),
                                   .flat = flat,
                                   .crowded = policy.spins == 0,
                                   .direct_bytes = direct_bytes});
    const ThreadRoster roster(members);
    std::vector<Memory> memories(static_cast<std::size_t>(members), Memory(members));
    std::vector<std::uint64_t> done(static_cast<std::size_t>(members));
    run_members(members, [&, reach = reach](int member) {
      Player player(*block, member, policy, memories, roster, reach, seed);
      player.play(kSteps);
      done[static_cast<std::size_t>(member)] = player.done();
    });
    EXPECT_EQ(std::count(done.begin(), done.end(), done.front()), members) << "all members take one path";
    EXPECT_GT(done.front(), kSteps / 4);
  }
}

class ExchangeLostTest : public testing::TestWithParam<std::tuple<int, int>> {};

/// The buffers of one member. They outlive all members, because one that has failed may return while others still read
/// its memory.
struct LostBuffers {
  std::vector<double> src;
  std::vector<double> dst;
};

/// Executes operations of one kind, with blocks of `bytes` bytes, until one fails.
Status until_failure(Exchange& exchange, rma_collective_kind_t kind, std::size_t bytes,
                     LostBuffers& buffers) {
  auto& [src, dst] = buffers;
  rma_collective_t collective = {};
  collective.kind = kind;
  collective.dst = dst.data();
  collective.src = src.data();
  collective.bytes = bytes;
  collective.count = bytes / sizeof(double);
  collective.reducer = reducer<double>();
  while (true) {
    bool done = false;
    Status status = exchange.run(collective, done);
    EXPECT_TRUE(done || !status.ok());
    if (!status.ok()) return status;
    collective.root = (collective.root + 1) % exchange.members();
  }
}

TEST_P(ExchangeLostTest, EveryCollectiveEndsWhenAMemberIsLostInTheMiddle) {
  const auto [kind, members] = GetParam();
  std::mt19937_64 random(testing_threads::seed());
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{300000}}) {
    const bool flat = random() % 2 == 0;
    const OwnBlock block(TeamShape{.members = static_cast<std::uint32_t>(members),
                                   .flat = flat,
                                   .crowded = !flat,
                                   .direct_bytes = 4096});
    ThreadRoster roster(members);
    std::vector<Memory> memories(static_cast<std::size_t>(members), Memory(members));
    const int gone = static_cast<int>(random() % static_cast<std::uint64_t>(members));
    const std::uint64_t looks = random() % 20;
    const std::vector<double> zeros(static_cast<std::size_t>(members) * bytes / sizeof(double));
    std::vector<LostBuffers> data(static_cast<std::size_t>(members), {.src = zeros, .dst = zeros});
    run_members(members, [&, kind = kind](int member) {
      EndsWaiting ends(looks);
      const WaitPolicy policy = {.spins = 0, .yields = 1000, .progress = member == gone ? &ends : nullptr};
      const ThreadBuffers buffers(memories, member, Reach::all);
      Exchange exchange(*block, member, policy, buffers, roster);
      try {
        const Status status = until_failure(exchange, static_cast<rma_collective_kind_t>(kind), bytes,
                                            data[static_cast<std::size_t>(member)]);
        EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
        EXPECT_EQ(status.text(), std::to_string(gone));
        EXPECT_EQ(exchange.barrier().code(), RMA_ERR_PEER_LOST);
      } catch (const Gone&) {
        roster.end(member);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ExchangeLostTest,
                         testing::Combine(testing::Range(0, 11), testing::Values(2, 5)));

std::string name_of(const testing::TestParamInfo<ExchangeTest::ParamType>& each) {
  const auto [members, flat, direct, reach] = each.param;
  std::string name = std::to_string(members) + "Members" + (flat ? "Flat" : "Counting") + "Direct";
  name += direct == kNever ? "Never" : std::to_string(direct);
  return name + "Reaching" + (reach == Reach::all ? "All" : reach == Reach::some ? "Some" : "None");
}

INSTANTIATE_TEST_SUITE_P(Teams, ExchangeTest,
                         testing::Combine(testing::Values(1, 2, 3, 7, 16), testing::Bool(),
                                          testing::Values(std::uint64_t{0}, std::uint64_t{4096}, kNever),
                                          testing::Values(Reach::all, Reach::some, Reach::none)),
                         name_of);

}  // namespace
}  // namespace rma
