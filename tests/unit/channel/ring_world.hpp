#pragma once

#include "../counted.hpp"
#include "channel_world.hpp"

namespace librma {

/// A world in which a peer gets a ring after a few messages. The ring has a few slots. Short messages fit
/// into a slot; kLong does not.
class RingWorld : public ChannelWorld {
 protected:
  static constexpr std::size_t kLong = 300;
  static constexpr std::uint32_t kEarned = 4;

  RingWorld() {
    ring = {.slots = 4, .slot_bytes = 128};
    polling = {.most = 2, .round_messages = 64, .promote_messages = kEarned};
  }

  [[nodiscard]] transport::LoopbackMessageEndpoint& messages(int rank) {
    return at(rank).endpoints[0]->messages();
  }

  /// Makes `from` use a ring at `to`.
  void promote(int from, int to) {
    const std::uint64_t rings = counted(Counter::ring);
    for (std::uint32_t i = 0; i < 2 * kEarned && counted(Counter::ring) == rings; ++i) {
      send(from, to, 1000 + i, 8);
      ASSERT_TRUE(settle());
    }
    const std::uint64_t before = counted(Counter::message_ring);
    send(from, to, 2000, 8);
    ASSERT_EQ(counted(Counter::message_ring), before + 1) << from << " has no ring at " << to;
    ASSERT_TRUE(settle());
    at(to).got[static_cast<std::size_t>(from)].clear();
  }
  void expect_in_order(int to, int from, std::uint32_t count,
                       const std::function<std::size_t(std::uint32_t)>& size) {
    ASSERT_EQ(got(to, from).size(), count);
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(got(to, from)[i].second, body(i, size(i))) << "message " << i;
    }
  }
};

}  // namespace librma
