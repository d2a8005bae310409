#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "collectives/shared_memory/exchange.hpp"

/// The memory of members that are threads of one process.
namespace librma::testing_threads {

inline constexpr std::size_t kMostBytes = 24000;

/// One member's memory: a heap that all members can use, and memory that they reach otherwise, or not. Each
/// has room for two buffers with a block of each member. The heap ends with the scratch.
struct Memory {
  explicit Memory(int members)
      : heap(2 * static_cast<std::size_t>(members) * kMostBytes + Buffers::kScratchBytes),
        other(heap.size() - Buffers::kScratchBytes) {}
  std::vector<std::byte> heap;
  std::vector<std::byte> other;
};

/// How the members get at memory outside of the heaps: by system calls and scratch, or by scratch, or not all
/// of them.
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

}  // namespace librma::testing_threads
