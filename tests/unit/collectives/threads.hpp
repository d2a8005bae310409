#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "collectives/members/roster.hpp"
#include "collectives/members/team_block.hpp"

// Threads that take the place of a team's processes.

namespace librma::testing_threads {

/// Returns and prints the seed: LIBRMA_TEST_SEED, else a fixed one.
inline std::uint64_t seed() {
  const char* text = std::getenv("LIBRMA_TEST_SEED");
  const std::uint64_t value = text != nullptr ? std::strtoull(text, nullptr, 0) : 20260801;
  std::printf("LIBRMA_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

/// A TeamBlock in memory that held other data before.
class OwnBlock {
 public:
  explicit OwnBlock(const TeamShape& shape)
      : memory_(static_cast<std::byte*>(
            ::operator new (TeamBlock::bytes_for(shape.members), std::align_val_t{alignof(TeamBlock)}))) {
    std::fill_n(memory_.get(), TeamBlock::bytes_for(shape.members), std::byte{0xa5});
    TeamBlock::make(memory_.get(), shape);
  }
  [[nodiscard]] TeamBlock& operator*() const { return *reinterpret_cast<TeamBlock*>(memory_.get()); }

 private:
  struct Delete {
    void operator()(std::byte* memory) const {
      ::operator delete (memory, std::align_val_t{alignof(TeamBlock)});
    }
  };
  std::unique_ptr<std::byte, Delete> memory_;
};

/// Members that end when a test ends them. The text of a failure is the number of the member.
class ThreadRoster final : public Roster {
 public:
  explicit ThreadRoster(int members) : ended_(static_cast<std::size_t>(members)) {}

  void end(int member) { ended_[static_cast<std::size_t>(member)].store(true, std::memory_order_release); }
  [[nodiscard]] bool ended(int member) const override {
    return ended_[static_cast<std::size_t>(member)].load(std::memory_order_acquire);
  }
  [[nodiscard]] Status lost(int member) const override { return {RMA_ERR_PEER_LOST, std::to_string(member)}; }

 private:
  std::vector<std::atomic<bool>> ended_;
};

/// Runs `body(member)` in a thread for each of `members`, and waits for them.
template <typename Body>
void run_members(int members, const Body& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member) threads.emplace_back(body, member);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace librma::testing_threads
