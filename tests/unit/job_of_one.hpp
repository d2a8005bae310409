#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "atomics/accumulate.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/remote_access.hpp"
#include "loopback/loopback_transport.hpp"

namespace librma {

/// A job of one process, the test, with a loopback device.
class JobOfOne : public testing::Test {
 protected:
  void SetUp() override {
    auto settings = read_settings(std::span<const std::string_view>{});
    ASSERT_TRUE(settings.ok()) << settings.status().text();
    settings.value().heap_size = std::uint64_t{64} << 20U;
    auto opened = Job::open(settings.value(), 0);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    job = std::move(opened).value();
    auto endpoint = fabric.open(
        0, {.max_message = 4096, .max_gather = 1, .max_inline = 0, .max_outstanding = 4, .atomics64 = false},
        transport::LoopbackKeys::ignored);
    const std::vector<std::byte> card(endpoint->card().begin(), endpoint->card().end());
    remote_access = std::make_unique<RemoteAccess>(
        std::move(endpoint), 1, [card](int) -> Result<std::vector<std::byte>> { return card; });
    auto created = Accumulator::create(*job, *remote_access);
    ASSERT_TRUE(created.ok()) << created.status().text();
    accumulator = std::move(created).value();
    const Status connected = job->connect();
    ASSERT_TRUE(connected.ok()) << connected.text();
  }

  /// Returns zeroed memory of the heap.
  [[nodiscard]] std::byte* heap(std::size_t bytes) const {
    auto block = job->memory().allocator().allocate(MemoryKind::local, bytes, 64);
    EXPECT_TRUE(block.ok()) << block.status().text();
    std::fill_n(block.value(), bytes, std::byte{0});
    return block.value();
  }

  transport::LoopbackFabric fabric;
  std::unique_ptr<Job> job;
  std::unique_ptr<RemoteAccess> remote_access;
  std::unique_ptr<Accumulator> accumulator;
};

}  // namespace librma
