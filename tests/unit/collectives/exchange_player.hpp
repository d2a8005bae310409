#pragma once

#include <gtest/gtest.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/members/reduce.hpp"
#include "collectives/shared_memory/exchange.hpp"
#include "thread_memory.hpp"
#include "threads.hpp"

/// Random collectives of threads, whose results are compared with a sequential model.
namespace librma::testing_threads {

/// A function x -> factor * x + summand modulo 2^32. Chaining such functions is associative and does not
/// commute.
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
inline std::byte byte_of(std::uint64_t step, int member, std::size_t i) {
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
      const auto kind = static_cast<rma_collective_kind_t>(shared_() % 11);
      const std::size_t bytes = draw_bytes();
      play_step(kind, bytes, shared_() % 3 == 0);
    }
  }
  /// Plays operations of little data, most of them in one-way rounds. Members are late at random.
  void play_little(std::uint64_t steps) {
    constexpr std::array<rma_collective_kind_t, 8> kKinds = {
        RMA_COLLECTIVE_SCAN,      RMA_COLLECTIVE_EXSCAN, RMA_COLLECTIVE_SCAN,   RMA_COLLECTIVE_EXSCAN,
        RMA_COLLECTIVE_BROADCAST, RMA_COLLECTIVE_REDUCE, RMA_COLLECTIVE_GATHER, RMA_COLLECTIVE_SCATTER};
    constexpr std::array<std::size_t, 6> kSizes = {
        0, 8, TeamBlock::kInlineBytes, TeamBlock::kInlineBytes + 8, 256, TeamBlock::kSlotBytes};
    for (step_ = 0; step_ < steps && !testing::Test::HasFatalFailure(); ++step_) {
      // Meetings are rare, so that members use their lines again before most of them.
      const bool meets = shared_() % (2 * TeamBlock::kOneWayLines) == 0;
      const auto kind = kKinds[shared_() % kKinds.size()];
      // There are fewer slots than lines, so a member soon waits for its readers.
      const std::size_t sizes = step_ / (2 * TeamBlock::kOneWayLines) % 2 == 0 ? 3 : kSizes.size();
      for (auto late = own_() % 32 == 0 ? own_() % 64 : 0; late > 0; --late) std::this_thread::yield();
      play_step(meets ? RMA_COLLECTIVE_BARRIER : kind, kSizes[shared_() % sizes], false);
    }
  }
  [[nodiscard]] std::uint64_t done() const { return done_; }

 private:
  void play_step(rma_collective_kind_t kind, std::size_t bytes, bool uneven) {
    // In half of the steps all members use shared memory, so that buffers are used in place in large teams
    // too.
    all_shared_ = shared_() % 2 == 0;
    root_ = static_cast<int>(shared_() % static_cast<std::uint64_t>(exchange_.members()));
    const bool affine = shared_() % 2 == 0;
    collective_ = {};
    collective_.kind = kind;
    collective_.root = root_;
    switch (kind) {
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
  SharedExchange exchange_;
  std::mt19937_64 shared_;
  std::mt19937_64 own_;
  rma_collective_t collective_ = {};
  int root_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t done_ = 0;
  bool all_shared_ = false;
};

}  // namespace librma::testing_threads
