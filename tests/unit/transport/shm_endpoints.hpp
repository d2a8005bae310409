#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "transport/shm/shm_transport.hpp"
#include "util/bytes_of.hpp"

namespace librma::transport {

/// One end: a transport with message buffers, and the messages that have arrived in them.
class ShmEnd {
 public:
  static constexpr std::size_t kMessage = 200;
  struct Arrived {
    int from;
    std::vector<std::byte> bytes;
  };

  /// Makes an end of rank `number` with `lent` buffers for any peer. Each peer gets `own` more.
  ShmEnd(int number, std::vector<int> locals, std::uint32_t own = 4, std::uint32_t lent = 2,
         std::chrono::milliseconds timeout = std::chrono::seconds(60))
      : rank(number), host(number, locals) {
    const Status ready = host.open();
    EXPECT_TRUE(ready.ok()) << ready.text();
    auto opened = ShmTransport::open({.host = &host,
                                      .rank = number,
                                      .locals = std::move(locals),
                                      .connect_timeout = timeout,
                                      .segment_bytes = std::size_t{1} << 24U});
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    transport = std::move(opened).value();
    add(lent);
    messages().set_buffer_source([this, own](int) {
      add(own);
      return own;
    });
  }

  [[nodiscard]] MessageEndpoint& messages() const { return *transport->message_endpoint(); }
  [[nodiscard]] ShmCard card() const { return ShmCard::decode(transport->card()).value(); }
  /// Meets the processes of other ends, which do the same at the same time.
  [[nodiscard]] bool meet(const std::vector<HostPeers::Partner>& partners) {
    const Status status = host.meet(partners, [](int, HostPeer&) { return Status(); });
    EXPECT_TRUE(status.ok()) << status.text();
    return status.ok();
  }
  /// Returns a mapping of this end's own segment, as another process has it.
  [[nodiscard]] MappedSegment own_segment() const {
    return MappedSegment::of(card(), host.find(rank)->file(Handed::segment)).value();
  }
  void add(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      buffers.emplace_back();
      EXPECT_EQ(messages().post_buffer({buffers.back().data(), kMessage, 0}, buffers.size()), RMA_SUCCESS);
    }
  }
  /// Polls once. Takes messages out of their buffers and posts the buffers again.
  std::size_t poll() {
    std::array<Completion, 8> completions;
    const std::size_t count = messages().poll(completions);
    for (const Completion& one : std::span(completions).first(count)) {
      if (one.cookie == 0 || one.cookie > buffers.size()) {
        ended.push_back(one);
        continue;
      }
      auto& buffer = buffers[one.cookie - 1];
      if (one.status == RMA_SUCCESS) {
        arrived.push_back({one.peer, {buffer.begin(), buffer.begin() + one.bytes}});
      } else {
        ended.push_back(one);
      }
      EXPECT_EQ(messages().post_buffer({buffer.data(), kMessage, 0}, one.cookie), RMA_SUCCESS);
    }
    return count;
  }
  [[nodiscard]] rma_status_t send(int to, std::vector<std::byte> bytes) const {
    const Local piece = {bytes.data(), bytes.size(), 0};
    return messages().post_message(to, {&piece, 1}, 0, {.unsignaled = true});
  }
  [[nodiscard]] rma_status_t send(int to, std::uint32_t number) const { return send(to, bytes_of(number)); }
  static std::vector<std::byte> bytes_of(std::uint32_t number) {
    std::vector<std::byte> bytes(sizeof number);
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
  }
  /// Returns the numbers that arrived, in the order of arrival, and forgets them.
  std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> found;
    for (const Arrived& one : arrived) {
      std::uint32_t number = 0;
      EXPECT_EQ(one.bytes.size(), sizeof number);
      std::memcpy(&number, one.bytes.data(), std::min(one.bytes.size(), sizeof number));
      found.push_back(number);
    }
    arrived.clear();
    return found;
  }
  [[nodiscard]] bool has_event() const {
    pollfd fd = {.fd = messages().event_fd(), .events = POLLIN, .revents = 0};
    return ::poll(&fd, 1, 0) == 1;
  }

  const int rank;
  HostPeers host;
  std::unique_ptr<ShmTransport> transport;
  std::deque<std::array<std::byte, kMessage>> buffers;
  std::vector<Arrived> arrived;
  std::vector<Completion> ended;
};

/// Makes ends of this process meet.
inline void meet(const std::vector<ShmEnd*>& ends) {
  std::vector<std::thread> threads;
  threads.reserve(ends.size());
  for (ShmEnd* const end : ends) {
    threads.emplace_back([&ends, end] {
      std::vector<HostPeers::Partner> partners;
      for (const ShmEnd* const other : ends) {
        if (other != end) partners.push_back({.rank = other->rank, .card = other->host.card()});
      }
      EXPECT_TRUE(end->meet(partners));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Connects `one` to `other`, which answers meanwhile.
inline Status connect(ShmEnd& one, ShmEnd& other, int its_rank) {
  std::atomic<bool> done = false;
  Status status;
  std::thread connecting([&] {
    status = one.transport->connect(its_rank, other.transport->card());
    done = true;
  });
  while (!done) {
    other.poll();
    sched_yield();
  }
  connecting.join();
  return status;
}

/// Three ends in one process, with ranks 3, 5 and 9.
class ShmEndpoints : public testing::Test {
 protected:
  void open(std::uint32_t own = 4, std::uint32_t lent = 2) {
    for (const int rank : {3, 5, 9}) {
      ends.push_back(std::make_unique<ShmEnd>(rank, std::vector<int>{3, 5, 9}, own, lent));
    }
    meet({ends[0].get(), ends[1].get(), ends[2].get()});
  }
  void open_connected(std::uint32_t own = 4, std::uint32_t lent = 2) {
    open(own, lent);
    ASSERT_TRUE(connect(at(3), at(5), 5).ok());
    ASSERT_TRUE(connect(at(3), at(9), 9).ok());
    ASSERT_TRUE(connect(at(9), at(5), 5).ok());
  }
  [[nodiscard]] ShmEnd& at(int rank) { return *ends[rank == 3 ? 0 : rank == 5 ? 1 : 2]; }

  std::vector<std::unique_ptr<ShmEnd>> ends;
};

}  // namespace librma::transport
