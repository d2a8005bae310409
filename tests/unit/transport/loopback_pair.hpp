#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "loopback/loopback_transport.hpp"

namespace librma::transport {

/// Two endpoints. The tests post at endpoint 0. `theirs` is the memory of endpoint 1. Both
/// memories are registered.
class LoopbackPair : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 64;
  static constexpr Limits kLimits = {
      .max_message = 48, .max_gather = 2, .max_inline = 8, .max_outstanding = 4, .atomics64 = true};

  void SetUp() override { open(kLimits); }

  void open(const Limits& limits) {
    mine_end.reset();
    their_end.reset();
    mine_end = fabric.open(0, limits);
    their_end = fabric.open(1, limits);
    for (std::size_t i = 0; i < kBytes; ++i) mine[i] = static_cast<std::byte>(i + 1);
    theirs.fill(std::byte{0});
    auto here = mine_end->register_memory(mine.data(), kBytes);
    auto there = their_end->register_memory(theirs.data(), kBytes);
    ASSERT_TRUE(here.ok() && there.ok());
    mine_registration = here.value();
    their_registration = there.value();
    const Status connected = mine_end->connect(1, their_end->card());
    ASSERT_TRUE(connected.ok()) << connected.text();
  }

  [[nodiscard]] Local local(std::size_t offset, std::size_t bytes) {
    return {.address = mine.data() + offset, .bytes = bytes, .key = mine_registration.local};
  }
  [[nodiscard]] Remote remote(std::size_t offset) const {
    return {.address = their_registration.base + offset, .key = their_registration.remote};
  }
  [[nodiscard]] rma_status_t write(std::size_t bytes, Cookie cookie, PostFlags flags = {}) {
    const Local piece = local(0, bytes);
    return mine_end->post_write(1, remote(0), {&piece, 1}, cookie, flags);
  }
  [[nodiscard]] rma_status_t read(std::size_t bytes, Cookie cookie, PostFlags flags = {}) {
    const Local piece = local(0, bytes);
    return mine_end->post_read(1, {&piece, 1}, remote(0), cookie, flags);
  }

  /// Returns the completions of one poll of an endpoint.
  [[nodiscard]] static std::vector<Completion> poll(Transport& endpoint, std::size_t most = 16) {
    std::vector<Completion> completions(most);
    completions.resize(endpoint.poll(completions));
    return completions;
  }
  [[nodiscard]] static std::vector<Cookie> cookies(const std::vector<Completion>& completions) {
    std::vector<Cookie> result;
    for (const Completion& completion : completions) result.push_back(completion.cookie);
    return result;
  }
  /// Returns those of its message endpoint.
  [[nodiscard]] static std::vector<Completion> poll_messages(LoopbackTransport& endpoint) {
    std::vector<Completion> completions(16);
    completions.resize(endpoint.messages().poll(completions));
    return completions;
  }
  [[nodiscard]] static rma_status_t lane_outcome(LoopbackTransport& endpoint, Cookie cookie) {
    const auto completions = poll_messages(endpoint);
    EXPECT_EQ(cookies(completions), std::vector<Cookie>{cookie});
    return completions.size() == 1 ? completions[0].status : RMA_SUCCESS;
  }
  /// Returns the status of the only completion of one poll.
  [[nodiscard]] static rma_status_t outcome(Transport& endpoint, Cookie cookie) {
    const auto completions = poll(endpoint);
    EXPECT_EQ(cookies(completions), std::vector<Cookie>{cookie});
    return completions.size() == 1 ? completions[0].status : RMA_SUCCESS;
  }

  LoopbackFabric fabric;
  std::array<std::byte, kBytes> mine = {};
  alignas(8) std::array<std::byte, kBytes> theirs = {};
  std::unique_ptr<LoopbackTransport> mine_end;
  std::unique_ptr<LoopbackTransport> their_end;
  Registration mine_registration;
  Registration their_registration;
};

}  // namespace librma::transport
