#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/one_sided/remote_access.hpp"
#include "loopback/loopback_transport.hpp"

namespace librma {

/// RemoteAccess over a loopback. The test itself is every rank.
class LoopbackAccess : public testing::Test {
 protected:
  static constexpr int kRanks = 4;
  static constexpr std::size_t kMaxMessage = 16;

  void SetUp() override {
    auto opened = fabric.open(0,
                              {.max_message = kMaxMessage,
                               .max_gather = 1,
                               .max_inline = 0,
                               .max_outstanding = 3,
                               .atomics64 = false},
                              transport::LoopbackKeys::ignored);
    endpoint = opened.get();
    const std::vector<std::byte> card(endpoint->card().begin(), endpoint->card().end());
    remote_access = std::make_unique<RemoteAccess>(std::move(opened), kRanks,
                                                   [card, this](int rank) -> Result<std::vector<std::byte>> {
                                                     ++cards_asked[static_cast<std::size_t>(rank)];
                                                     if (cards_missing)
                                                       return Status(RMA_ERR_LAUNCH, "no card");
                                                     return card;
                                                   });
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<std::byte>(i * 7 + 1);
  }

  static transport::Remote remote(const std::byte* address) {
    return {.address = reinterpret_cast<std::uintptr_t>(address), .key = 0};
  }
  /// Starts a put of the first `bytes` of `mine`, or a get into them. The test ends it.
  [[nodiscard]] rma_request_t put(std::size_t bytes, int rank = 1) {
    const rma_request_t operation = remote_access->pending().open(rank);
    remote_access->transfer(transport::Direction::write, operation, remote(theirs.data()),
                            {.address = mine.data(), .bytes = bytes, .key = 0});
    return operation;
  }
  [[nodiscard]] rma_request_t get(std::size_t bytes, int rank = 1) {
    const rma_request_t operation = remote_access->pending().open(rank);
    remote_access->transfer(transport::Direction::read, operation, remote(theirs.data()),
                            {.address = mine.data(), .bytes = bytes, .key = 0});
    return operation;
  }
  void leave_put(std::size_t bytes, int rank = 1) { remote_access->pending().leave(put(bytes, rank)); }

  transport::LoopbackFabric fabric;
  transport::LoopbackTransport* endpoint = nullptr;
  std::unique_ptr<RemoteAccess> remote_access;
  std::array<int, kRanks> cards_asked = {};
  bool cards_missing = false;
  std::array<std::byte, 200> mine = {};
  std::array<std::byte, 200> theirs = {};
};

}  // namespace librma
