#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "transport/ofi/fabric_choice.hpp"
#include "transport/ofi/ofi_transport.hpp"
#include "transport/service_thread.hpp"

namespace librma::transport {

/// Two processes' transports over the loopback interface. The tests post at end 0. Both service threads
/// run, so end 1 answers although nobody polls it.
class OfiPair : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 4096;

  struct End {
    Attendants attendants;
    ServiceThread service;
    std::unique_ptr<OfiTransport> transport;
    std::array<std::byte, kBytes> memory = {};
    Registration registration;
    std::array<std::byte, 512> buffers = {};  ///< two message buffers
    Registration buffer_registration;

    ~End() { service.stop(); }
    [[nodiscard]] Local local(std::size_t offset, std::size_t bytes) {
      return {.address = memory.data() + offset, .bytes = bytes, .key = registration.local};
    }
    [[nodiscard]] Remote remote(std::size_t offset) const {
      return {.address = registration.base + offset, .key = registration.remote};
    }
    [[nodiscard]] MessageEndpoint& messages() { return *transport->message_endpoint(); }
  };

  void SetUp() override {
    auto found = find_fabrics({.providers = "tcp,net", .devices = "lo"});
    ASSERT_TRUE(found.ok()) << found.status().text();
    for (const FabricCandidate& one : found.value()) {
      if (!one.unusable.empty()) continue;
      for (int rank = 0; rank < 2; ++rank) open(rank, one);
      return;
    }
    FAIL() << "libfabric has no TCP over lo";
  }

  [[nodiscard]] Status connect() { return ends[0]->transport->connect(1, ends[1]->transport->card()); }

  /// Waits for the completion of `cookie` at an end's data or messages.
  template <typename Lane>
  [[nodiscard]] static Completion wait(Lane& lane, Cookie cookie) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      std::array<Completion, 1> one;
      if (lane.poll(one) == 0) {
        std::this_thread::yield();
        continue;
      }
      if (one[0].cookie == cookie) return one[0];
      ADD_FAILURE() << "cookie " << one[0].cookie << " with status " << one[0].status;
    }
    ADD_FAILURE() << "no completion of " << cookie;
    return {};
  }
  [[nodiscard]] rma_status_t outcome(Cookie cookie) { return wait(*ends[0]->transport, cookie).status; }

  [[nodiscard]] rma_status_t write(Remote to, std::size_t bytes, Cookie cookie) {
    const Local piece = ends[0]->local(0, bytes);
    return ends[0]->transport->post_write(1, to, {&piece, 1}, cookie, {});
  }

  std::array<std::unique_ptr<End>, 2> ends;

  void open(int rank, const FabricCandidate& candidate) {
    auto end = std::make_unique<End>();
    Secret secret;
    secret.fill(static_cast<std::byte>(rank + 1));
    auto opened = OfiTransport::open(candidate,
                                     {.rank = rank,
                                      .ranks = 2,
                                      .secret = secret,
                                      .queue_depth = 16,
                                      .completions = 256,
                                      .timeout = std::chrono::milliseconds(300),
                                      .connect_timeout = std::chrono::seconds(20)},
                                     end->service);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    end->transport = std::move(opened).value();
    end->transport->follow(end->attendants);
    for (std::size_t i = 0; i < kBytes; ++i) end->memory[i] = static_cast<std::byte>(i * 3 + 1);
    if (rank == 1) end->memory.fill(std::byte{0});
    auto memory = end->transport->register_memory(end->memory.data(), kBytes);
    auto buffers = end->transport->register_memory(end->buffers.data(), end->buffers.size());
    ASSERT_TRUE(memory.ok() && buffers.ok());
    end->registration = memory.value();
    end->buffer_registration = buffers.value();
    for (std::size_t i = 0; i < 2; ++i) {
      const Local buffer = {
          .address = end->buffers.data() + 256 * i, .bytes = 256, .key = end->buffer_registration.local};
      ASSERT_EQ(end->messages().post_buffer(buffer, 100 + i), RMA_SUCCESS);
    }
    end->messages().set_buffer_source([](int /*peer*/) { return 2U; });
    ASSERT_TRUE(end->service.start().ok());
    ends[static_cast<std::size_t>(rank)] = std::move(end);
  }
};

}  // namespace librma::transport
