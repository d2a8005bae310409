#pragma once

#include <cstddef>
#include <vector>

#include "collectives/members/host_map.hpp"
#include "collectives/schedules/plan_runner.hpp"
#include "collectives/shared_memory/exchange.hpp"
#include "rma/collectives.h"
#include "util/status.hpp"

namespace librma {

/// The part of one member in the collectives of a team on several hosts, of which some have several members.
/// The members of a host exchange data in memory (Exchange), and only one of them, its leader, exchanges
/// messages with the leaders of other hosts (PlanRunner). So data pass the network once for each
/// host, and not for each member.
///
/// EngineTable says which operations go this way, by what all members know alike.
///
/// Elements are combined within each host in the order of its members' places, and then between the hosts.
/// That is the order of the team if the members of each host follow each other in it. In an allreduce, each
/// element is combined at one member of a host, the leaders combine it in one tree, and all others get a
/// copy: all members have the same bits. A reduce to any root combines in the same order.
///
/// Why no member waits for ever: all members go through the same *steps*, one within a host or one between
/// the leaders, in one order. In a step within a host a member waits for members of its host, which are in
/// that step or in an earlier one; a leader in a step between the leaders waits for leaders that are in that
/// step or in an earlier one. So the members in the earliest step can go on, as Exchange and
/// PlanRunner say of it. If a member is lost, a step fails for some member. The caller then lets
/// all members know (Team::give_up), and each wait within a host and between the leaders ends when its member
/// knows.
///
/// The class knows no job: a member may also be a thread. One thread at a time uses it.
class HierarchicalExchange {
 public:
  /// The memory that a member needs, aligned to 64 bytes.
  static constexpr std::size_t kScratch = std::size_t{32} << 10U;

  /// `hosts`, which is filled before the first call, and the next arguments outlive the object. Throws
  /// std::bad_alloc; no call needs memory.
  /// @param scratch  kScratch bytes
  HierarchicalExchange(const HostMap& hosts, int member, std::byte* scratch)
      : hosts_(hosts),
        member_(member),
        scratch_(scratch),
        offsets_(static_cast<std::size_t>(hosts.members()) + 1),
        places_(static_cast<std::size_t>(hosts.members())) {}

  /// Begins the use. The arguments outlive the object.
  /// @param within   of the members of this host; null if this is the only one
  /// @param between  of the leaders; null if this is none
  void open(SharedExchange* within, PlanRunner* between) {
    within_ = within;
    between_ = between;
    host_ = hosts_.host_of(member_);
  }

  /// Executes a collective operation for which EngineTable has this engine. Its arguments were checked.
  [[nodiscard]] Status run(const rma_collective_t& collective);

  /// Returns the distance of vectors of `bytes` bytes that an operator finds aligned, as rma_reducer_t says.
  [[nodiscard]] static constexpr std::size_t stride(std::size_t bytes) {
    constexpr std::size_t kAlignment = 64;
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  [[nodiscard]] Status barrier();
  [[nodiscard]] Status broadcast(void* buffer, std::size_t bytes, int root);
  [[nodiscard]] Status reduce(const rma_collective_t& collective);
  [[nodiscard]] Status allreduce(std::byte* dst, const std::byte* src, std::size_t count,
                                 const rma_reducer_t& reducer);
  [[nodiscard]] Status allgather(const rma_collective_t& collective);
  [[nodiscard]] Status gather(const rma_collective_t& collective);
  [[nodiscard]] Status scatter(const rma_collective_t& collective);
  [[nodiscard]] Status reduce_scatter(const rma_collective_t& collective);
  [[nodiscard]] Status scan(const rma_collective_t& collective, bool exclusive);

  // The steps within this host. Nothing happens if this member is alone there. An Exchange that has no memory
  // for long data gets them in short pieces, which need none.
  [[nodiscard]] Status broadcast_within(std::byte* buffer, std::size_t bytes, int root);
  /// The leader gets the result.
  [[nodiscard]] Status reduce_within(std::byte* dst, const std::byte* src, std::size_t count,
                                     const rma_reducer_t& reducer);
  [[nodiscard]] Status gather_within(std::byte* dst, const std::byte* src, std::size_t bytes);
  /// The leaders get the blocks of all members, in the order of hosts, in `all`.
  [[nodiscard]] Status gather_at_leaders(std::byte* all, const std::byte* src, std::size_t bytes);
  /// Copies blocks in the order of hosts to those in the order of the team.
  void in_team_order(std::byte* dst, const std::byte* all, std::size_t bytes) const;

  // The steps between the leaders.
  [[nodiscard]] Status reduce_between(std::byte* data, std::size_t count, const rma_reducer_t& reducer,
                                      int to);
  [[nodiscard]] Status allgather_between(std::byte* all, const std::byte* src, std::size_t bytes);

  [[nodiscard]] bool leads() const { return between_ != nullptr; }
  [[nodiscard]] std::size_t members() const { return static_cast<std::size_t>(hosts_.members()); }

  const HostMap& hosts_;
  const int member_;
  std::byte* const scratch_;
  SharedExchange* within_ = nullptr;
  PlanRunner* between_ = nullptr;
  int host_ = 0;
  std::vector<std::size_t> offsets_;  ///< of the hosts' blocks in an allgather
  std::vector<rma_block_t> places_;   ///< of the members' pieces in a gather
};

}  // namespace librma
