#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "collectives/team_transport.hpp"

// A network between threads that take the place of a team's processes. Its writes arrive late and
// in any order.

namespace rma::testing_threads {

/// The blocks of all members, and the writes on their way to them.
class Network {
 public:
  Network(int members, std::size_t block_bytes, std::uint64_t seed)
      : block_bytes_(block_bytes), ends_(static_cast<std::size_t>(members)), random_(seed) {
    for (End& end : ends_) {
      end.memory.reset(static_cast<std::byte*>(::operator new(block_bytes, kAlignment)));
      std::fill_n(end.memory.get(), block_bytes, std::byte{0});
    }
    delivery_ = std::thread([this] {
      while (!ended_.load(std::memory_order_acquire)) {
        if (!deliver_one()) std::this_thread::yield();
      }
    });
  }
  ~Network() {
    ended_.store(true, std::memory_order_release);
    delivery_.join();
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] std::byte* block(int member) const { return end(member).memory.get(); }
  [[nodiscard]] Doorbell& doorbell(int member) { return end(member).doorbell; }

  /// Closes a member: it no longer sends or receives.
  void lose(int member) {
    end(member).lost.store(true, std::memory_order_release);
    for (End& each : ends_) each.doorbell.wake();
  }
  [[nodiscard]] bool lost(int member) const { return end(member).lost.load(std::memory_order_acquire); }

  /// From here on, a write to the member's block is a test failure.
  void close(int member) {
    const std::lock_guard guard(lock_);
    end(member).closed = true;
    std::fill_n(block(member), block_bytes_, std::byte{0xdd});
  }

  void post(int member, std::uintptr_t to, const void* from, std::size_t bytes, std::uintptr_t flag,
            std::uint64_t value) {
    const auto* const data = static_cast<const std::byte*>(from);
    const std::lock_guard guard(lock_);
    on_the_way_.push_back({member, to, {data, data + bytes}, flag, value});
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Delete {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };
  struct End {
    std::unique_ptr<std::byte, Delete> memory;
    Doorbell doorbell;
    std::atomic<bool> lost = false;
    bool closed = false;
  };
  struct Write {
    int member;
    std::uintptr_t to;
    std::vector<std::byte> data;
    std::uintptr_t flag;
    std::uint64_t value;
  };

  [[nodiscard]] const End& end(int member) const { return ends_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] End& end(int member) { return ends_[static_cast<std::size_t>(member)]; }

  bool deliver_one() {
    const std::lock_guard guard(lock_);
    if (on_the_way_.empty()) return false;
    std::swap(on_the_way_[random_() % on_the_way_.size()], on_the_way_.back());
    const Write write = std::move(on_the_way_.back());
    on_the_way_.pop_back();
    if (end(write.member).closed) {
      ADD_FAILURE() << "a write into the block of member " << write.member << ", which has left";
      return true;
    }
    if (lost(write.member)) return true;
    const std::uintptr_t base = reinterpret_cast<std::uintptr_t>(block(write.member));
    const bool inside =
        write.flag >= base && write.flag + sizeof write.value <= base + block_bytes_ &&
        (write.data.empty() || (write.to >= base && write.to + write.data.size() <= base + block_bytes_));
    EXPECT_TRUE(inside) << "a write beside the block of member " << write.member;
    if (!inside) return true;
    if (!write.data.empty()) {
      std::memcpy(reinterpret_cast<void*>(write.to), write.data.data(), write.data.size());
    }
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(write.flag))
        .store(write.value, std::memory_order_release);
    doorbell(write.member).wake();
    return true;
  }

  const std::size_t block_bytes_;
  std::vector<End> ends_;
  std::mutex lock_;  // guards the three members below, and `closed`
  std::vector<Write> on_the_way_;
  std::mt19937_64 random_;
  std::atomic<bool> ended_ = false;
  std::thread delivery_;
};

/// One member's end of the network.
class ThreadTeamTransport final : public TeamTransport {
 public:
  ThreadTeamTransport(Network& network, int me, const WaitPolicy& policy)
      : network_(network), me_(me), policy_(policy) {}

  [[nodiscard]] Result<std::uintptr_t> block(int member) override {
    return reinterpret_cast<std::uintptr_t>(network_.block(member));
  }
  [[nodiscard]] Status put(int member, std::uintptr_t to, const void* from, std::size_t bytes,
                           std::uintptr_t flag, std::uint64_t value) override {
    if (Status status = check(member); !status.ok()) return status;
    network_.post(member, to, from, bytes, flag, value);
    return {};
  }
  [[nodiscard]] Status check(int member) override {
    if (network_.lost(member) || network_.lost(me_)) return {RMA_ERR_PEER_LOST, "lost by the test"};
    return {};
  }
  [[nodiscard]] std::chrono::milliseconds patience(int /*member*/) const override { return {}; }
  [[nodiscard]] Doorbell& doorbell() override { return network_.doorbell(me_); }
  [[nodiscard]] const WaitPolicy& wait_policy() const override { return policy_; }

 private:
  Network& network_;
  const int me_;
  const WaitPolicy policy_;
};

}  // namespace rma::testing_threads
