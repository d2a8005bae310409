#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "../seed.hpp"
#include "channel/polling_set.hpp"

namespace librma {
namespace {

/// Owner and peers that answer late, and in any order; all that is promised always holds.
TEST(PollingSet, KeepsItsPromisesWhateverHappens) {
  std::mt19937_64 random(test_seed());
  const auto below = [&](std::uint64_t most) { return random() % most; };
  for (int run = 0; run < 200; ++run) {
    SCOPED_TRACE(run);
    PollingSet::Policy policy;
    policy.most = below(5);
    policy.round_messages = static_cast<std::uint32_t>(1 + below(60));
    policy.promote_messages = static_cast<std::uint32_t>(1 + below(policy.round_messages));
    policy.demote_factor = static_cast<std::uint32_t>(1 + below(4));
    policy.demote_rounds = static_cast<std::uint32_t>(1 + below(3));
    PollingSet set(policy);

    const std::uint64_t peers = 1 + below(10);
    std::map<int, PollingSet::State> model;  // of the peers that have a place and have been told
    std::map<int, std::uint32_t> heard;
    std::uint32_t round = 0;
    const auto count_message = [&] {
      if (++round < policy.round_messages) return;
      round = 0;
      heard.clear();
    };
    for (int step = 0; step < 2000; ++step) {
      // A peer near the end of the numbers is much busier than the others.
      const int peer = below(2) == 0 ? static_cast<int>(peers) : static_cast<int>(below(peers));
      const auto known = model.find(peer);
      switch (below(10)) {
        case 0:
          if (known == model.end()) break;
          set.accepted(peer);
          if (known->second == PollingSet::State::offered) known->second = PollingSet::State::in;
          break;
        case 1:
          if (known == model.end() || known->second == PollingSet::State::in) break;
          set.removed(peer);
          model.erase(known);
          heard.erase(peer);
          break;
        case 2:
          if (below(20) == 0) set.demote([](std::size_t /*place*/) { return true; });
          break;
        default:
          ++heard[peer];
          if (set.state(peer) == PollingSet::State::out) {
            set.heard(peer);
            if (set.state(peer) != PollingSet::State::out) {
              ASSERT_GE(heard[peer], policy.promote_messages) << "it was not busy enough";
            }
          } else {
            set.heard(peer);
          }
          count_message();
      }
      while (below(3) != 0) {
        const auto decision = set.next();
        if (!decision) break;
        ASSERT_LT(decision->place, policy.most);
        ASSERT_EQ(set.members()[decision->place].peer, decision->peer);
        if (decision->kind == PollingSet::Decision::Kind::promote) {
          ASSERT_TRUE(model.emplace(decision->peer, PollingSet::State::offered).second)
              << "it has a place already";
        } else {
          ASSERT_TRUE(model.contains(decision->peer));
          ASSERT_EQ(model[decision->peer], PollingSet::State::in) << "only who is in can leave";
          model[decision->peer] = PollingSet::State::leaving;
        }
      }

      std::set<int> present;
      for (const PollingSet::Member& member : set.members()) {
        if (member.state == PollingSet::State::out) continue;
        ASSERT_TRUE(present.insert(member.peer).second) << "one place each";
        ASSERT_EQ(set.state(member.peer), member.state);
      }
      ASSERT_EQ(present.size(), set.size());
      ASSERT_LE(set.size(), policy.most);
      ASSERT_LE(set.counted(), policy.round_messages / policy.promote_messages);
      for (const auto& [told, state] : model) {
        const bool asked_to_leave = state == PollingSet::State::in &&
                                    set.state(told) == PollingSet::State::leaving;  // not fetched yet
        ASSERT_TRUE(set.state(told) == state || asked_to_leave);
      }
    }
  }
}

}  // namespace
}  // namespace librma
