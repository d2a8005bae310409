// Only events wake a sleeping rank, as they wake a helper thread: completions in its completion queue.

#include <poll.h>

#include <random>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "ring_world.hpp"

namespace librma {
namespace {

class Sleepers : public RingWorld {
 protected:
  struct Rank {
    bool asleep = false;
    bool program_sleeps = false;           ///< until the helper wakes it
    std::vector<std::uint32_t> sent;       ///< by receiver
    std::vector<std::uint32_t> solicited;  ///< by receiver: how many of them, up to the last solicited one
  };

  [[nodiscard]] bool has_event(int rank) {
    for (const int fd : at(rank).channel->event_fds()) {
      pollfd event = {.fd = fd, .events = POLLIN, .revents = 0};
      if (fd >= 0 && poll(&event, 1, 0) == 1) return true;
    }
    return messages(rank).has_event();
  }
  /// The program's thread goes to sleep, or wakes.
  void toggle_program(int rank) {
    Rank& one = ranks[static_cast<std::size_t>(rank)];
    one.program_sleeps = !one.program_sleeps;
    if (one.program_sleeps) {
      at(rank).channel->expect_all();
      static_cast<void>(progress(rank));
    } else {
      at(rank).channel->expect_solicited();
    }
  }
  /// Does the work of a helper thread between two sleeps, or at most `most` steps of it.
  void work(int rank, int most) {
    Rank& sleeper = ranks[static_cast<std::size_t>(rank)];
    Channel& channel = *at(rank).channel;
    if (sleeper.asleep) channel.disarm();
    sleeper.asleep = false;
    for (int i = 0; i < most; ++i) {
      if (progress(rank)) continue;
      const bool quiet = channel.arm();
      if (!progress(rank) && quiet) {
        sleeper.asleep = true;
        return;
      }
      channel.disarm();
    }
  }
  /// Sends the next message. Returns false if it cannot go now.
  bool next(int from, int to, std::size_t size, std::uint16_t kind) {
    Rank& sender = ranks[static_cast<std::size_t>(from)];
    std::uint32_t& number = sender.sent[static_cast<std::size_t>(to)];
    if (at(from).channel->try_send(to, 0, kind, body(number, size), {}) != RMA_SUCCESS) return false;
    ++number;
    if (kind != kUnsolicited) sender.solicited[static_cast<std::size_t>(to)] = number;
    return true;
  }
  /// Leaves the next message to the channel, which may keep it.
  void leave(int from, int to, std::uint16_t kind) {
    Rank& sender = ranks[static_cast<std::size_t>(from)];
    std::uint32_t& number = sender.sent[static_cast<std::size_t>(to)];
    at(from).channel->send(to, 0, kind, body(number++, 16), {});
    if (kind != kUnsolicited) sender.solicited[static_cast<std::size_t>(to)] = number;
  }

  std::vector<Rank> ranks;
};

TEST_F(Sleepers, NobodySleepsThroughAMessage) {
  std::mt19937_64 random(test_seed());
  const std::uint64_t rings = counted(Counter::ring);
  const std::uint64_t by_ring = counted(Counter::message_ring);
  for (int world = 0; world < fewer_if_sanitized(400); ++world) {
    SCOPED_TRACE(world);
    helper_polls = world % 2 == 0;
    processes.clear();
    const int count = 2 + static_cast<int>(random() % 2);
    ring.slots = 1 + random() % 6;
    open(count, 3 + static_cast<std::uint32_t>(random() % 4), 1);
    ranks.assign(static_cast<std::size_t>(count),
                 {.asleep = false,
                  .program_sleeps = false,
                  .sent = std::vector<std::uint32_t>(static_cast<std::size_t>(count)),
                  .solicited = std::vector<std::uint32_t>(static_cast<std::size_t>(count))});
    const std::uint64_t unsolicited = random() % 5;  // of four messages
    const auto kind = [&] {
      return static_cast<std::uint16_t>(random() % 4 < unsolicited ? kUnsolicited : 1);
    };
    const auto any = [&] { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    const std::uint64_t talkative = 1 + random() % 16;
    for (int i = 0; i < 1000; ++i) {
      const int from = any();
      const int to = any();
      if (random() % 64 == 0) messages(from).set_faults({.held = random() % 2 == 0});
      for (std::uint64_t k = random() % talkative; from != to && k > 0; --k) {
        static_cast<void>(next(from, to, random() % 8 == 0 ? kLong : 16, kind()));
      }
      if (from != to && random() % 8 == 0) leave(from, to, kind());
      if (random() % 16 == 0) toggle_program(any());
      if (random() % 4 == 0) static_cast<void>(progress(any()));  // a thread of the program
      messages(from).deliver(random() % 4);
      const int rank = any();
      if (!ranks[static_cast<std::size_t>(rank)].asleep || has_event(rank)) {
        work(rank, static_cast<int>(random() % 40));
      }
    }
    // Now no rank sends anything new. Only ranks that have work to do, or are awakened, do anything.
    for (int rank = 0; rank < count; ++rank) {
      messages(rank).set_faults({});
      messages(rank).deliver(1000);
    }
    bool moved = true;
    for (int round = 0; moved; ++round) {
      ASSERT_LT(round, 10000);
      moved = false;
      for (int rank = 0; rank < count; ++rank) {
        if (ranks[static_cast<std::size_t>(rank)].asleep && !has_event(rank)) continue;
        moved = true;
        work(rank, 1000);
      }
    }
    ASSERT_TRUE(nobody_is_lost());
    for (int from = 0; from < count; ++from) {
      for (int to = 0; to < count; ++to) {
        const Rank& sender = ranks[static_cast<std::size_t>(from)];
        const auto at_least = ranks[static_cast<std::size_t>(to)].program_sleeps
                                  ? sender.sent[static_cast<std::size_t>(to)]
                                  : sender.solicited[static_cast<std::size_t>(to)];
        ASSERT_GE(got(to, from).size(), at_least) << "of " << from << " to " << to;
      }
    }
    // A program that enters the library takes in the rest. Helpers do only what wakes them.
    for (bool moved_on = true; moved_on;) {
      moved_on = false;
      for (int rank = 0; rank < count; ++rank) {
        moved_on = progress(rank) || moved_on;
        if (!ranks[static_cast<std::size_t>(rank)].asleep || has_event(rank)) work(rank, 1000);
      }
    }
    for (int from = 0; from < count; ++from) {
      for (int to = 0; to < count; ++to) {
        if (from == to) continue;
        ASSERT_EQ(got(to, from).size(),
                  ranks[static_cast<std::size_t>(from)].sent[static_cast<std::size_t>(to)])
            << "of " << from << " to " << to;
        ASSERT_TRUE(next(from, to, 16, kUnsolicited))
            << "it cannot be sent, and nobody would say when it can";
      }
    }
  }
  EXPECT_GT(counted(Counter::ring), rings + fewer_if_sanitized(1000U));
  EXPECT_GT(counted(Counter::message_ring), by_ring + fewer_if_sanitized(10000U));
}

}  // namespace
}  // namespace librma
