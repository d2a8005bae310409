#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/messages/team_transport.hpp"
#include "util/status.hpp"

namespace rma {

/// Messages between members of a team that may be on different hosts. A member sends only to its *partners*,
/// the members at distances of a power of two around the ring of members, and so it connects only to these.
///
/// A failure makes the whole team unusable, because members would no longer agree on the next message. A
/// member that finds the failure revokes the team at its partners (TeamTransport::revoke), and every member
/// that learns of it does the same.
///
/// Why every wait ends after that: a member waits for a message of a partner, or for a partner to take one. A
/// partner that gave the team up has said so, and a partner that has not waits for a partner of its own. Such
/// a chain ends at the lost member, whose partners find it lost, or at a member that has yet to make its
/// call.
///
/// One thread at a time uses it. The class knows no job: a member may also be a thread.
class PointToPoint {
 public:
  /// A part of a message. Receivers write to it.
  using Bytes = std::span<std::byte>;

  /// `transport` outlives the object. Failures that this member reports name `rank`.
  PointToPoint(int member, int members, int rank, TeamTransport& transport)
      : member_(member),
        members_(members),
        distances_(static_cast<int>(std::bit_width(static_cast<unsigned>(members) - 1U))),
        rank_(rank),
        transport_(transport) {}

  [[nodiscard]] int member() const { return member_; }
  [[nodiscard]] int members() const { return members_; }
  /// Returns n: the distances are 2^k for k below n.
  [[nodiscard]] int distances() const { return distances_; }
  /// Returns the member at a distance of 2^k above this one, or below it.
  [[nodiscard]] int above(int k) const { return (member_ + (1 << k)) % members_; }
  [[nodiscard]] int below(int k) const { return (member_ - (1 << k) + members_) % members_; }

  /// Sends to some partners at once, the same data to each. Returns when the data may be reused.
  [[nodiscard]] Status send(std::span<const int> to, Bytes data) { return exchange(to, {&data, 1}, 0, {}); }
  [[nodiscard]] Status send(int to, Bytes data) { return send({&to, 1}, data); }
  /// Receives the next message of a partner, which has the size of `data`.
  [[nodiscard]] Status receive(int from, Bytes data) { return exchange({}, {}, from, {&data, 1}); }
  /// Sends each of `out`, up to two, to every one of `to`, and receives each of `in` from `from`, at once.
  [[nodiscard]] Status exchange(std::span<const int> to, std::span<const Bytes> out, int from,
                                std::span<const Bytes> in);

  /// Executes a barrier.
  [[nodiscard]] Status meet();

  /// Returns success if the team is usable as far as this member knows. If not, its partners know it too.
  [[nodiscard]] Status usable();
  /// Makes the team unusable, because this member found one lost by other means.
  void give_up() {
    if (usable().ok()) fail(rank_);
  }

  /// Ends the use of the team. Every member calls it last, also a member for which the team has failed. After
  /// success no message for this member is on its way any more, and none will be; after a failure one might.
  [[nodiscard]] Status part();

 private:
  /// A member has a partner at each distance in both directions; members() is an int.
  static constexpr std::size_t kMostSends = 64;

  /// Makes the team unusable here and tells the partners.
  void fail(int finder);
  /// Returns the failure of a team that `finder` has found unusable.
  [[nodiscard]] static Status failed(int finder);

  const int member_;
  const int members_;
  const int distances_;
  const int rank_;
  TeamTransport& transport_;
  int finder_ = TeamTransport::kNobody;  ///< the rank that found the team unusable
};

}  // namespace rma
