// Tests that the verbs transport keeps the contract of transport.hpp, with two ends in one process, on a host
// with an RDMA device.

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "transport/verbs/verbs_transport.hpp"

namespace librma::transport {
namespace {

class Verbs : public testing::Test {
 protected:
  static constexpr std::uint32_t kDepth = 32;

  void SetUp() override {
    auto ports = find_ports({});
    ASSERT_TRUE(ports.ok());
    for (const Port& port : ports.value()) {
      if (port.unusable.empty()) usable_.push_back(port);
    }
    ASSERT_FALSE(usable_.empty()) << "no usable RDMA device";
    for (std::size_t i = 0; i < 2; ++i) {
      VerbsOptions options = {.rank = static_cast<int>(i),
                              .ranks = 2,
                              .queue_depth = kDepth,
                              .completions = 128,
                              .buffers = 16,
                              .timeout = std::chrono::milliseconds(10000),
                              .connect_timeout = std::chrono::milliseconds(10000)};
      options.secret[0] = static_cast<std::byte>(i + 1);
      auto opened = VerbsTransport::open(usable_[0], options, services_[i]);
      ASSERT_TRUE(opened.ok()) << opened.status().text();
      ends_[i] = std::move(opened).value();
      ASSERT_TRUE(services_[i].start().ok());
    }
    for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = static_cast<std::byte>(i * 7 + i / 256);
    for (std::size_t i = 0; i < 2; ++i) {
      auto registered = ends_[i]->register_memory(half(i), kHalf);
      ASSERT_TRUE(registered.ok()) << registered.status().text();
      keys_[i] = registered.value();
    }
  }

  void TearDown() override {
    for (ServiceThread& service : services_) service.stop();
  }

  static constexpr std::size_t kHalf = std::size_t{1} << 20;
  [[nodiscard]] std::byte* half(std::size_t i) { return memory_.data() + i * kHalf; }
  [[nodiscard]] Local local(std::size_t offset, std::size_t bytes) {
    return {.address = half(0) + offset, .bytes = bytes, .key = keys_[0].local};
  }
  [[nodiscard]] Remote remote(std::size_t offset) {
    return {.address = reinterpret_cast<std::uintptr_t>(half(1) + offset), .key = keys_[1].remote};
  }
  void connect() { ASSERT_TRUE(ends_[0]->connect(1, ends_[1]->card()).ok()); }

  /// Returns the next completion at an end.
  Completion next(std::size_t end = 0) { return next_of(*ends_[end]); }
  Completion next_message(std::size_t end) { return next_of(*ends_[end]->message_endpoint()); }
  template <typename Polled>
  static Completion next_of(Polled& polled) {
    Completion completion;
    while (polled.poll({&completion, 1}) == 0) {
      if constexpr (requires { polled.arm(); }) {
        static_cast<void>(polled.arm());
      } else {
        static_cast<void>(polled.arm(MessageEndpoint::Events::all));
      }
      if (polled.poll({&completion, 1}) != 0) break;
      pollfd ready = {.fd = polled.event_fd(), .events = POLLIN, .revents = 0};
      ::poll(&ready, 1, 1000);
    }
    return completion;
  }

  std::vector<Port> usable_;
  std::array<ServiceThread, 2> services_;
  std::array<std::unique_ptr<VerbsTransport>, 2> ends_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(2 * kHalf);
  std::array<Registration, 2> keys_;
};

TEST_F(Verbs, WritesAndReads) {
  connect();
  const Local from = local(0, 100'000);
  ASSERT_EQ(ends_[0]->post_write(1, remote(0), {&from, 1}, 7, {}), RMA_SUCCESS);
  Completion done = next();
  EXPECT_EQ(done.cookie, 7U);
  EXPECT_EQ(done.peer, 1);
  EXPECT_EQ(done.status, RMA_SUCCESS);
  EXPECT_EQ(std::memcmp(half(0), half(1), 100'000), 0);
  const Local back = local(500'000, 100'000);
  ASSERT_EQ(ends_[0]->post_read(1, {&back, 1}, remote(1000), 8, {}), RMA_SUCCESS);
  done = next();
  EXPECT_EQ(done.cookie, 8U);
  EXPECT_EQ(std::memcmp(half(0) + 500'000, half(1) + 1000, 100'000), 0);
}

TEST_F(Verbs, ChainsWithInlineAndUnsignalledWork) {
  connect();
  std::uint64_t words[100];
  for (std::uint64_t i = 0; i < 100; ++i) {
    words[i] = i * i + 1;
    const Local from = {.address = reinterpret_cast<std::byte*>(&words[i]), .bytes = 8, .key = 0};
    const Work work = {.direction = Direction::write,
                       .remote = remote(i * 8),
                       .pieces = {&from, 1},
                       .cookie = i,
                       .flags = {.inline_data = true, .unsignaled = i != 99}};
    std::size_t posted = 0;
    rma_status_t status = RMA_SUCCESS;
    std::array<Completion, 4> completions;
    while ((status = ends_[0]->post(1, {&work, 1}, &posted)) == RMA_ERR_STATE) {
      ASSERT_EQ(ends_[0]->poll(completions), 0U) << "nobody waits for these";
    }
    ASSERT_EQ(status, RMA_SUCCESS);
    words[i] = i * i + 1;
  }
  EXPECT_EQ(next().cookie, 99U);
  EXPECT_EQ(std::memcmp(words, half(1), sizeof words), 0);
}

TEST_F(Verbs, AtomicsGiveTheOldValue) {
  connect();
  auto* const there = reinterpret_cast<std::uint64_t*>(half(1));
  *there = 40;
  const Local old = local(64, 8);
  ASSERT_EQ(ends_[0]->post_atomic(1, RMA_FETCH_ADD, remote(0), 2, 0, old, 1), RMA_SUCCESS);
  EXPECT_EQ(next().status, RMA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(half(0) + 64), 40U);
  EXPECT_EQ(*there, 42U);
  ASSERT_EQ(ends_[0]->post_atomic(1, RMA_COMPARE_SWAP, remote(0), 5, 42, old, 2), RMA_SUCCESS);
  EXPECT_EQ(next().status, RMA_SUCCESS);
  EXPECT_EQ(*there, 5U);
}

TEST_F(Verbs, ConnectsToItself) {
  ASSERT_TRUE(ends_[0]->connect(0, ends_[0]->card()).ok());
  const Local from = local(0, 64);
  const Remote to = {.address = reinterpret_cast<std::uintptr_t>(half(0) + 4096), .key = keys_[0].remote};
  ASSERT_EQ(ends_[0]->post_write(0, to, {&from, 1}, 3, {}), RMA_SUCCESS);
  EXPECT_EQ(next().status, RMA_SUCCESS);
  EXPECT_EQ(std::memcmp(half(0), half(0) + 4096, 64), 0);
}

TEST_F(Verbs, MessagesArriveWhereAReceiveIsPosted) {
  connect();
  const Local into = {.address = half(1) + 8192, .bytes = 256, .key = keys_[1].local};
  ASSERT_EQ(ends_[1]->message_endpoint()->post_buffer(into, 77), RMA_SUCCESS);
  const Local from = local(0, 100);
  ASSERT_EQ(ends_[0]->message_endpoint()->post_message(1, {&from, 1}, 5, {}), RMA_SUCCESS);
  const Completion received = next_message(1);
  EXPECT_EQ(received.cookie, 77U);
  EXPECT_EQ(received.peer, 0);
  EXPECT_EQ(received.bytes, 100U);
  EXPECT_EQ(next_message(0).cookie, 5U);
  EXPECT_EQ(std::memcmp(half(0), half(1) + 8192, 100), 0);
}

TEST_F(Verbs, AGatherGoesIntoAScatter) {
  connect();
  const std::array<Local, 3> into = {Local{half(1), 100, keys_[1].local},
                                     Local{half(1) + 4096, 50, keys_[1].local},
                                     Local{half(1) + 9000, 5000, keys_[1].local}};
  ASSERT_EQ(ends_[1]->message_endpoint()->post_scatter(0, into, 77), RMA_SUCCESS);
  const std::array<Local, 2> from = {local(0, 120), local(1000, 5030)};
  ASSERT_EQ(ends_[0]->message_endpoint()->post_gather(1, from, 5, {}), RMA_SUCCESS);
  const Completion received = next_message(1);
  EXPECT_EQ(received.cookie, 77U);
  EXPECT_EQ(received.peer, 0);
  EXPECT_EQ(received.bytes, 5150U);
  EXPECT_EQ(next_message(0).cookie, 5U);
  EXPECT_EQ(std::memcmp(half(0), half(1), 100), 0);
  EXPECT_EQ(std::memcmp(half(0) + 100, half(1) + 4096, 20), 0);
  EXPECT_EQ(std::memcmp(half(0) + 1000, half(1) + 4116, 30), 0);
  EXPECT_EQ(std::memcmp(half(0) + 1030, half(1) + 9000, 5000), 0);
}

TEST_F(Verbs, ABadKeyFailsTheConnectionAndSaysSo) {
  connect();
  const Local from = local(0, 64);
  Remote nowhere = remote(0);
  nowhere.key ^= 0x5555U;
  ASSERT_EQ(ends_[0]->post_write(1, nowhere, {&from, 1}, 9, {}), RMA_SUCCESS);
  const Completion done = next();
  EXPECT_EQ(done.cookie, 9U);
  EXPECT_EQ(done.status, RMA_ERR_ADDRESS);
  EXPECT_EQ(ends_[0]->post_write(1, remote(0), {&from, 1}, 10, {}), RMA_ERR_PEER_LOST);
}

TEST_F(Verbs, APeerThatIsGivenUpEndsItsWork) {
  connect();
  services_[1].stop();
  ends_[1].reset();  // its queue pairs are gone: nothing acknowledges any more
  const Local from = local(0, 64);
  for (Cookie cookie = 0; cookie < 8; ++cookie) {
    ASSERT_EQ(ends_[0]->post_write(1, remote(0), {&from, 1}, cookie, {}), RMA_SUCCESS);
  }
  ends_[0]->fail(1);
  for (Cookie cookie = 0; cookie < 8; ++cookie) {
    const Completion done = next();
    EXPECT_EQ(done.cookie, cookie);
    EXPECT_EQ(done.status, RMA_ERR_PEER_LOST);
  }
}

}  // namespace
}  // namespace librma::transport
