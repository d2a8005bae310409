// A rank ends in the middle of a message. Every call of the others that waits for it ends, with
// RMA_ERR_PEER_LOST and a text that names the rank. What it had sent before is received.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "forked_job.hpp"
#include "rma/messages.h"
#include "rma/rma.h"

namespace {

struct MessageWay {
  const char* name;
  std::vector<std::pair<const char*, const char*>> settings;
};

const std::vector<MessageWay>& message_ways() {
  static const std::vector<MessageWay> all = {
      {"Usual", {}},
      {"Sleeping", {{"RMA_SPIN", "0"}, {"RMA_YIELDS", "0"}}},
      {"Announced", {{"RMA_EAGER", "0"}}},
      {"Window", {{"RMA_UNEXPECTED", "4K"}}},
      {"Fragments", {{"RMA_CMA", "off"}}},
      {"ShortRings", {{"RMA_CMA", "off"}, {"RMA_HOST_RING", "4K"}, {"RMA_HOST_RING_LINES", "16"}}},
  };
  return all;
}

constexpr int kLostRanks = 3;
constexpr int kVictim = 2;
constexpr std::size_t kLong = std::size_t{2} << 20U;
constexpr std::uint32_t kLostContext = 1;

/// The ways in which messages go in fragments begin here.
constexpr std::size_t kFragmentWays = 4;

class MessageLost : public testing::TestWithParam<std::size_t> {
 protected:
  using Meet = std::function<void()>;
  /// Runs `body(rank, meet)` on all ranks. The victim ends in it, or when it returns.
  void run(const std::function<void(int, const Meet&)>& body) const {
    const SharedWithForked<Meeting> meeting;
    const SharedWithForked<Meeting> survivors;
    std::vector<Forked> processes;
    for (int rank = 0; rank < kLostRanks; ++rank) {
      processes.emplace_back([&, rank] {
        for (const auto& [name, value] : message_ways()[GetParam()].settings) setenv(name, value, 1);
        Member member = {&*meeting, rank, kLostRanks};
        const rma_bootstrap_t given = {rank, kLostRanks, allgather, barrier, nullptr, &member};
        EXPECT_EQ(rma_init_with(&given), RMA_SUCCESS) << rma_last_error();
        if (rma_initialized() == 0) return false;
        const bool by_network = rma_same_host((rank + 1) % kLostRanks) == 0;
        if (by_network) connect();
        body(rank, [&] { barrier(&member); });
        if (rank == kVictim) end();
        if (by_network) find_out();
        // A rank that ends while the other one still tests would be lost as well.
        Member survivor = {&*survivors, rank, kLostRanks - 1};
        barrier(&survivor);
        EXPECT_EQ(rma_finalize(), RMA_ERR_PEER_LOST) << rma_last_error();
        return true;
      });
    }
    for (int rank = 0; rank < kLostRanks; ++rank) {
      EXPECT_EQ(processes[static_cast<std::size_t>(rank)].ended_well(), rank != kVictim) << "rank " << rank;
    }
  }
  /// A call that waits for any source asks those ranks of other hosts for a sign of life that its rank has
  /// connected with. The barrier of three ranks connects each with each.
  static void connect() { EXPECT_EQ(rma_barrier(rma_team_world()), RMA_SUCCESS) << rma_last_error(); }
  /// Nothing tells a rank that has waited for nobody, and rma_finalize() would wait for all.
  static void find_out() {
    constexpr int kTagOfNothing = 4711;
    std::byte sink{};
    EXPECT_EQ(rma_recv(&sink, sizeof sink, kVictim, kTagOfNothing, kLostContext, nullptr), RMA_ERR_PEER_LOST)
        << rma_last_error();
  }
  [[noreturn]] static void end() {
    kill(getpid(), SIGKILL);
    std::abort();
  }
};

class MessageInFragmentsLost : public MessageLost {};

void expect_lost(rma_status_t status, const char* what) {
  const std::string text = rma_last_error();
  EXPECT_EQ(status, RMA_ERR_PEER_LOST) << what << ": " << text;
  EXPECT_NE(text.find("rank 2"), std::string::npos) << what << ": " << text;
}
void expect_good(rma_status_t status) { EXPECT_EQ(status, RMA_SUCCESS) << rma_last_error(); }

/// Waits for a request that must fail.
void expect_lost(rma_request_t& request, const char* what) { expect_lost(rma_wait(&request), what); }

TEST_P(MessageLost, ReceivesFromItAndFromAnySource) {
  run([](int rank, const Meet& meet) {
    std::array<std::byte, 8> sink = {};
    std::array<rma_request_t, 2> requests = {};
    const int source = rank == 0 ? kVictim : RMA_ANY_SOURCE;
    if (rank != kVictim) {
      for (rma_request_t& one : requests) {
        expect_good(rma_recv_nb(sink.data(), 8, source, RMA_ANY_TAG, kLostContext, nullptr, &one));
      }
    }
    meet();
    if (rank == kVictim) return;
    expect_lost(rma_recv(sink.data(), 8, source, 1, kLostContext, nullptr), "a blocking receive");
    for (rma_request_t& one : requests) expect_lost(one, "a receive that was posted");
    expect_lost(rma_recv(sink.data(), 8, source, 1, kLostContext, nullptr), "a later receive");
    expect_good(rma_recv_nb(sink.data(), 8, source, 1, kLostContext, nullptr, requests.data()));
    expect_lost(requests[0], "a later receive with a request");
    expect_lost(rma_probe(source, 1, kLostContext, nullptr), "a probe");
    rma_message_t message = nullptr;
    expect_lost(rma_mprobe(source, 1, kLostContext, &message, nullptr), "a matched probe");
    EXPECT_EQ(message, nullptr);
  });
}

TEST_P(MessageLost, ProbesThatWaitForIt) {
  run([](int rank, const Meet& meet) {
    meet();
    if (rank == kVictim) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // most likely the others wait
      return;
    }
    rma_message_t message = nullptr;
    expect_lost(rank == 0 ? rma_probe(kVictim, 1, kLostContext, nullptr)
                          : rma_mprobe(RMA_ANY_SOURCE, 1, kLostContext, &message, nullptr),
                "a probe");
  });
}

/// Calls `poll` until it returns true, for some seconds.
bool soon(const std::function<bool()>& poll) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
    if (poll()) return true;
  }
  return false;
}

TEST_P(MessageLost, CallsThatOnlyTestFindOut) {
  run([](int rank, const Meet& meet) {
    std::array<std::byte, 8> sink = {};
    rma_request_t request = RMA_REQUEST_NULL;
    if (rank == 0) expect_good(rma_recv_nb(sink.data(), 8, kVictim, 1, kLostContext, nullptr, &request));
    meet();
    if (rank == kVictim) return;
    rma_status_t status = RMA_SUCCESS;
    EXPECT_TRUE(soon([&] {
      int done = 0;
      status = rank == 0 ? rma_test(&request, &done) : rma_iprobe(kVictim, 1, kLostContext, &done, nullptr);
      return status != RMA_SUCCESS;
    })) << (rank == 0 ? "rma_test" : "rma_iprobe");
    expect_lost(status, "a call that tests");
  });
}

TEST_P(MessageLost, WhatItSentBeforeIsReceived) {
  const bool announced = GetParam() == 2;
  run([announced](int rank, const Meet& meet) {
    // The smallest window takes them. Over TCP no more than four to a peer go at once (MessageSender), and
    // the last message of connect() may be one of these.
    constexpr int kSent = 3;
    // Bodies in the line and beside it.
    const auto bytes = [](int number) {
      return std::array<std::size_t, 3>{4, 60, 900}[static_cast<std::size_t>(number) % 3];
    };
    if (rank == kVictim) {
      for (int i = 0; i < kSent && !announced; ++i) {
        const std::vector<std::byte> data(bytes(i), static_cast<std::byte>(i));
        expect_good(rma_send(data.data(), data.size(), 0, i, kLostContext));
        expect_good(rma_send(data.data(), data.size(), 1, i, kLostContext));
      }
    }
    meet();
    if (rank == kVictim) return;
    for (int i = kSent - 1; i >= 0 && !announced; --i) {
      std::vector<std::byte> data(bytes(i));
      expect_good(
          rma_recv(data.data(), data.size(), rank == 0 ? kVictim : RMA_ANY_SOURCE, i, kLostContext, nullptr));
      EXPECT_EQ(data, std::vector<std::byte>(bytes(i), static_cast<std::byte>(i)));
    }
    std::array<std::byte, 8> sink = {};
    expect_lost(rma_recv(sink.data(), 8, kVictim, RMA_ANY_TAG, kLostContext, nullptr), "the next one");
  });
}

TEST_P(MessageLost, AnAnnouncementThatNobodyHadMatched) {
  run([](int rank, const Meet& meet) {
    const std::vector<std::byte> source(kLong, std::byte{7});
    rma_request_t request = RMA_REQUEST_NULL;
    if (rank == kVictim) expect_good(rma_ssend_nb(source.data(), kLong, 0, 1, kLostContext, &request));
    if (rank == 0) expect_good(rma_probe(kVictim, 1, kLostContext, nullptr));
    meet();
    if (rank != 0) return rank == kVictim ? end() : (void)0;
    std::vector<std::byte> sink(kLong);
    // The process may still be there for a moment.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    expect_lost(rma_recv(sink.data(), kLong, kVictim, 1, kLostContext, nullptr), "the receive");
    expect_lost(rma_recv(sink.data(), kLong, kVictim, 1, kLostContext, nullptr), "the next receive");
  });
}

TEST_P(MessageLost, AReceiveThatHasItsAnnouncementButNotItsData) {
  run([](int rank, const Meet& meet) {
    const std::vector<std::byte> source(kLong, std::byte{7});
    std::vector<std::byte> sink(kLong);
    rma_request_t request = RMA_REQUEST_NULL;
    if (rank == kVictim) expect_good(rma_ssend_nb(source.data(), kLong, 0, 1, kLostContext, &request));
    if (rank == 0) {
      expect_good(rma_probe(kVictim, 1, kLostContext, nullptr));
      expect_good(rma_recv_nb(sink.data(), kLong, kVictim, 1, kLostContext, nullptr, &request));
    }
    meet();
    if (rank != 0) return rank == kVictim ? end() : (void)0;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // most likely it has ended
    expect_lost(request, "the receive");
  });
}

TEST_P(MessageLost, AMessageOfItsHeapIsReceived) {
  // The memory of a process of this host that has ended stays mapped.
  run([](int rank, const Meet& meet) {
    void* memory = nullptr;
    expect_good(rma_malloc_local(kLong, 0, &memory));
    auto* const source = static_cast<std::byte*>(memory);
    std::fill_n(source, kLong, std::byte{7});
    rma_request_t request = RMA_REQUEST_NULL;
    if (rank == kVictim) expect_good(rma_ssend_nb(source, kLong, 0, 1, kLostContext, &request));
    if (rank == 0) expect_good(rma_probe(kVictim, 1, kLostContext, nullptr));
    meet();
    if (rank != 0) return rank == kVictim ? end() : (void)0;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // most likely it has ended
    std::vector<std::byte> sink(kLong);
    const rma_status_t status = rma_recv(sink.data(), kLong, kVictim, 1, kLostContext, nullptr);
    if (rma_same_host(kVictim) != 0) {
      expect_good(status);
      EXPECT_EQ(sink, std::vector<std::byte>(kLong, std::byte{7}));
    } else {
      expect_lost(status, "the receive from another host");
    }
    expect_lost(rma_recv(sink.data(), kLong, kVictim, 1, kLostContext, nullptr), "the next receive");
  });
}

TEST_P(MessageLost, AMessageThatWasTakenOutOfTheMatching) {
  run([](int rank, const Meet& meet) {
    const std::vector<std::byte> source(kLong, std::byte{7});
    rma_request_t request = RMA_REQUEST_NULL;
    if (rank == kVictim) expect_good(rma_ssend_nb(source.data(), kLong, 0, 1, kLostContext, &request));
    rma_message_t message = nullptr;
    if (rank == 0) expect_good(rma_mprobe(kVictim, 1, kLostContext, &message, nullptr));
    meet();
    if (rank != 0) return rank == kVictim ? end() : (void)0;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // most likely it has ended
    std::vector<std::byte> sink(kLong);
    expect_lost(rma_mrecv(sink.data(), kLong, &message, nullptr), "the receive of the message");
  });
}

TEST_P(MessageLost, AReceiveThatIsCancelledMeanwhile) {
  run([](int rank, const Meet& meet) {
    std::array<std::byte, 8> sink = {};
    std::array<rma_request_t, 50> requests = {};
    if (rank != kVictim) {
      for (rma_request_t& one : requests) {
        expect_good(rma_recv_nb(sink.data(), 8, kVictim, 1, kLostContext, nullptr, &one));
      }
    }
    meet();
    if (rank == kVictim) return;
    for (rma_request_t& one : requests) {
      expect_good(rma_cancel(one));
      const rma_status_t status = rma_wait(&one);
      if (status != RMA_ERR_CANCELED) expect_lost(status, "a receive that was cancelled too late");
    }
    expect_lost(rma_recv(sink.data(), 8, kVictim, 1, kLostContext, nullptr), "a later receive");
  });
}

TEST_P(MessageLost, SendsThatFindNoRoom) {
  run([](int rank, const Meet& meet) {
    const std::vector<std::byte> source(700, std::byte{7});
    meet();
    if (rank == kVictim) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return;
    }
    if (rank == 0) {
      rma_status_t status = RMA_SUCCESS;
      constexpr int kMoreThanTheWindowTakes = 200'000;
      for (int i = 0; i < kMoreThanTheWindowTakes && status == RMA_SUCCESS; ++i) {
        status = rma_send(source.data(), source.size(), kVictim, 1, kLostContext);
      }
      return expect_lost(status, "a send into a full window");
    }
    std::vector<rma_request_t> requests(2000);
    for (rma_request_t& one : requests) {
      const rma_status_t status = rma_send_nb(source.data(), source.size(), kVictim, 1, kLostContext, &one);
      if (status != RMA_SUCCESS) expect_lost(status, "a send that starts");
    }
    for (rma_request_t& one : requests) {
      const rma_status_t status = rma_wait(&one);
      if (status != RMA_SUCCESS) expect_lost(status, "a send that waits for room");
    }
    // Between hosts a send is over when the network has taken it, so these may all have succeeded.
    if (rma_same_host(kVictim) == 0) find_out();
    expect_lost(rma_send(source.data(), source.size(), kVictim, 1, kLostContext), "a later send");
  });
}

TEST_P(MessageLost, SendsThatWaitForIt) {
  run([](int rank, const Meet& meet) {
    const std::vector<std::byte> source(kLong, std::byte{7});
    std::vector<rma_request_t> requests(40);
    if (rank == 1) {
      for (rma_request_t& one : requests) {
        expect_good(rma_ssend_nb(source.data(), kLong, kVictim, 1, kLostContext, &one));
      }
    }
    meet();
    if (rank == kVictim) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return;
    }
    if (rank == 0) expect_lost(rma_ssend(source.data(), 5, kVictim, 1, kLostContext), "a synchronous send");
    if (rank == 1) expect_lost(rma_send(source.data(), kLong, kVictim, 1, kLostContext), "a long send");
    for (rma_request_t& one : requests) {
      if (rank == 1) expect_lost(one, "a send that was under way");
    }
    expect_lost(rma_send(source.data(), 5, kVictim, 1, kLostContext), "a later send");
    expect_lost(rma_ssend(source.data(), 5, kVictim, 1, kLostContext), "a later synchronous send");
    rma_request_t request = 77;
    expect_lost(rma_send_nb(source.data(), 5, kVictim, 1, kLostContext, &request), "a later send");
    EXPECT_EQ(request, RMA_REQUEST_NULL);
  });
}

TEST_P(MessageInFragmentsLost, FragmentsUnderWay) {
  for (const bool sender_ends : {true, false}) {
    run([sender_ends](int rank, const Meet& meet) {
      std::vector<std::byte> data(kLong);
      rma_request_t request = RMA_REQUEST_NULL;
      const bool sends = (rank == kVictim) == sender_ends;
      const int other = rank == 0 ? kVictim : 0;
      if (rank != 1) {
        expect_good(sends ? rma_send_nb(data.data(), kLong, other, 1, kLostContext, &request)
                          : rma_recv_nb(data.data(), kLong, other, 1, kLostContext, nullptr, &request));
      }
      meet();
      if (rank == 1) return meet();
      // A few calls, so that some fragments are sent: there is room for less than a million bytes at a time.
      for (int i = 0, done = 0; i < 3 && done == 0; ++i) expect_good(rma_test(&request, &done));
      meet();
      if (rank == kVictim) end();
      const rma_status_t status = rma_wait(&request);
      // The sender is done when the last fragment is in the ring. That cannot be, because the ring is
      // shorter.
      expect_lost(status, sender_ends ? "the receive" : "the send");
    });
  }
}

std::string name_of(const testing::TestParamInfo<std::size_t>& each) {
  return message_ways()[each.param].name;
}
INSTANTIATE_TEST_SUITE_P(Ways, MessageLost, testing::Range(std::size_t{0}, message_ways().size()), name_of);
INSTANTIATE_TEST_SUITE_P(Ways, MessageInFragmentsLost, testing::Range(kFragmentWays, message_ways().size()),
                         name_of);

}  // namespace
