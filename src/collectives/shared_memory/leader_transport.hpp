#pragma once

#include <cstddef>

#include "collectives/members/host_map.hpp"
#include "collectives/messages/team_transport.hpp"

namespace rma {

/// Carries the messages between the leaders of a team's hosts (HostMap), which are numbered by host, in the
/// contexts of the team. Their tags differ from those of the team's other messages.
class LeaderTransport final : public TeamTransport {
 public:
  /// The arguments outlive the object.
  LeaderTransport(TeamTransport& team, const HostMap& hosts) : team_(team), hosts_(hosts) {}

  [[nodiscard]] Status start(int leader, int tag, const void* data, std::size_t bytes,
                             Sending& sending) override {
    return team_.start(hosts_.leader_of(leader), kFirstTag + tag, data, bytes, sending);
  }
  [[nodiscard]] Status finish(Sending& sending) override { return team_.finish(sending); }
  /// `tag` is not kAnyTag.
  [[nodiscard]] Status receive(int leader, int& tag, void* data, std::size_t bytes) override {
    int theirs = kFirstTag + tag;
    return team_.receive(hosts_.leader_of(leader), theirs, data, bytes);
  }
  void revoke(int leader) override { team_.revoke(hosts_.leader_of(leader)); }
  [[nodiscard]] int revoker() override { return team_.revoker(); }

 private:
  /// Schedules draw smaller tags (ScheduleChannel), and PointToPoint uses 0 and 1.
  static constexpr int kFirstTag = 1 << 30;

  TeamTransport& team_;
  const HostMap& hosts_;
};

}  // namespace rma
