#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/job/job.hpp"
#include "messages/messages.hpp"
#include "transport/shm/cma_transport.hpp"

namespace librma {

/// A job of one process, the test, which sends to itself.
class MessagesOfOne : public testing::Test {
 protected:
  void SetUp() override {
    auto settings = read_settings(std::span<const std::string_view>{});
    ASSERT_TRUE(settings.ok()) << settings.status().text();
    settings.value().heap_size = std::uint64_t{16} << 20U;
    settings.value().host_ring_lines = kLines;
    auto opened = Job::open(settings.value(), 0);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    job_ = std::move(opened).value();
    remote_access_ = std::make_unique<RemoteAccess>(
        std::make_unique<transport::CmaTransport>(1, false), 1,
        [](int) -> Result<std::vector<std::byte>> { return std::vector<std::byte>(); }, job_->wait_policy(),
        std::chrono::seconds(10));
    auto created = Messages::create(*job_, *remote_access_, nullptr, ProcessMemory());
    ASSERT_TRUE(created.ok()) << created.status().text();
    messages_ = std::move(created).value();
    ASSERT_TRUE(job_->connect().ok());
    ASSERT_TRUE(messages_->start(0).ok());
  }

  static constexpr std::uint64_t kLines = 16;
  std::unique_ptr<Job> job_;
  std::unique_ptr<RemoteAccess> remote_access_;
  std::unique_ptr<Messages> messages_;
};

}  // namespace librma
