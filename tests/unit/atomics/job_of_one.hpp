#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "atomics/accumulate.hpp"
#include "atomics/stripe_locks.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/remote_access.hpp"
#include "transport/shm/cma_transport.hpp"
#include "util/settings.hpp"

namespace librma {

inline constexpr std::size_t kStripe = StripeLocks::kStripeBytes;
inline constexpr WaitPolicy kSleepAtOnce = {.spins = 0, .yields = 0};

/// A connected job whose only rank is this process, with an accumulator.
class JobOfOne : public testing::Test {
 protected:
  void SetUp() override {
    constexpr std::array<std::string_view, 1> kEnvironment = {"RMA_HEAP_SIZE=64M"};
    auto settings = read_settings(kEnvironment);
    ASSERT_TRUE(settings.ok()) << settings.status().text();
    auto opened = Job::open(settings.value(), 0);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    job = std::move(opened).value();
    remote_access =
        std::make_unique<RemoteAccess>(std::make_unique<transport::CmaTransport>(job->size(), true),
                                       job->size(), [this](int rank) -> Result<std::vector<std::byte>> {
                                         return transport::CmaTransport::card_of(job->process(rank));
                                       });
    auto created = Accumulator::create(*job, *remote_access);
    ASSERT_TRUE(created.ok()) << created.status().text();
    accumulator = std::move(created).value();
    const Status connected = job->connect();
    ASSERT_TRUE(connected.ok()) << connected.text();
  }

  /// Returns zeroed heap memory that begins at a stripe.
  template <typename T>
  T* heap(std::size_t count) {
    auto block =
        job->memory().allocator().allocate(MemoryKind::local, count * sizeof(T), StripeLocks::kStripeBytes);
    EXPECT_TRUE(block.ok()) << block.status().text();
    T* const memory = reinterpret_cast<T*>(block.value());
    std::fill_n(memory, count, T{});
    return memory;
  }

  /// Registers memory outside the heap.
  void expose(void* address, std::size_t bytes) {
    const Status added = job->memory().user_regions().add(static_cast<std::byte*>(address), bytes);
    ASSERT_TRUE(added.ok()) << added.text();
  }

  /// Returns how often `action` woke sleepers of this process. One thread counts as a sleeper meanwhile.
  template <typename Action>
  std::uint32_t wakeups_during(const Action& action) {
    Doorbell& doorbell = job->doorbell(0);
    doorbell.sleepers.fetch_add(1);
    const std::uint32_t before = doorbell.wakeups.load();
    action();
    doorbell.sleepers.fetch_sub(1);
    return doorbell.wakeups.load() - before;
  }

  std::unique_ptr<Job> job;
  std::unique_ptr<RemoteAccess> remote_access;
  std::unique_ptr<Accumulator> accumulator;
};

}  // namespace librma
