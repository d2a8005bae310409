#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string_view>

#include "core/job/job.hpp"
#include "messages/rings/inbox.hpp"
#include "messages/sending/outbox.hpp"

namespace librma {

/// A job of one process, the test, with an inbox and an outbox. The process sends to itself.
class MessagesJob : public testing::Test {
 protected:
  static constexpr LineRingSizes kSizes = {.lines = 16, .bytes = 4096};
  static constexpr std::uint64_t kWindow = 8192;

  void SetUp() override {
    auto settings = read_settings(std::span<const std::string_view>{});
    ASSERT_TRUE(settings.ok()) << settings.status().text();
    settings.value().heap_size = std::uint64_t{16} << 20U;
    auto opened = Job::open(settings.value(), 0);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    job = std::move(opened).value();
    auto provided = Inbox::provide(*job);
    ASSERT_TRUE(provided.ok()) << provided.status().text();
    block = provided.value();
    inbox = std::make_unique<Inbox>(*job, *block, kSizes);
    outbox = std::make_unique<Outbox>(*job, nullptr, nullptr, *inbox,
                                      Outbox::Limits{.ring = kSizes, .eager = 512, .window = kWindow});
    const Status connected = job->connect();
    ASSERT_TRUE(connected.ok()) << connected.text();
  }

  std::unique_ptr<Job> job;
  InboxBlock* block = nullptr;
  std::unique_ptr<Inbox> inbox;
  std::unique_ptr<Outbox> outbox;
};

}  // namespace librma
