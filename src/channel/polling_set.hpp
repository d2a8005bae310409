#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace librma {

/// The polling set: the peers that have a ring of their own, which this process polls. Their number is
/// bounded, and they are the busiest peers. All other peers send by the shared receive queue, as every peer
/// does at first. This class is only the policy. Its owner reports arriving messages and carries out its
/// decisions: to promote a peer, or to demote one. The policy counts messages and reads no clock, so the same
/// messages always lead to the same decisions. For one thread at a time.
///
/// Messages of both paths are counted in rounds of `round_messages`.
///
/// - Promotion: a peer is promoted that has sent `promote_messages` by the shared queue in one round, as soon
///   as there is room.
/// - Demotion for another peer: if there is no room, the busiest peer that waits outside is compared with
///   every member at the end of each round. A round counts against a member if that peer exceeded it by
///   `demote_factor`. A member is demoted after `demote_rounds` such rounds, if it did not do better in a
///   round between them; one member at a time. So peers of about the same traffic never displace each other,
///   and a short lull costs nothing. An idle member goes when its place is wanted, and nobody is demoted
///   while nobody waits.
/// - Demotion of all members: the owner asks for it when it is about to sleep, because a write into memory
///   wakes nobody.
///
/// A table of at most `round_messages / promote_messages` counts holds the peers outside. With more senders
/// than that, a count may be less than the truth by up to `promote_messages` (Misra and Gries, "Finding
/// repeated elements", 1982), and it is never more. So every promoted peer has earned it, and a peer that
/// sent twice the required number is never overlooked.
class PollingSet {
 public:
  struct Policy {
    std::size_t most = 16;  ///< members, joining and leaving ones included; 0: nobody is promoted
    std::uint32_t round_messages = 1024;
    std::uint32_t promote_messages = 32;  ///< from 1 to round_messages
    std::uint32_t demote_factor = 4;      ///< at least 1; above 1 keeps equals from taking turns
    std::uint32_t demote_rounds = 4;      ///< at least 1
  };

  enum class State : std::uint8_t {
    out,      ///< sends by the shared queue
    offered,  ///< told, or about to be told, that it may use its ring; not known to use it
    in,
    leaving,  ///< told, or about to be told, to stop; its ring is polled until it has stopped
  };
  struct Member {
    int peer = -1;
    State state = State::out;
  };

  /// A decision that the owner carries out.
  struct Decision {
    enum class Kind : std::uint8_t { promote, demote } kind;
    std::size_t place;  ///< the peer's place in members(), from its promotion until removed()
    int peer;

    bool operator==(const Decision&) const = default;
  };

  explicit PollingSet(const Policy& policy);

  /// Counts a message that came from `peer` by the shared receive queue.
  void heard(int peer);
  /// Counts a message that came by the ring of the member at `place`. A member in state `offered` uses its
  /// ring from now on.
  void used(std::size_t place);

  /// Returns the next decision, each once. Costs one comparison if there is none.
  [[nodiscard]] std::optional<Decision> next();

  /// Records that the peer, which was offered a ring, uses it from now on.
  void accepted(int peer);
  /// Frees the peer's place, because it has stopped using its ring, has declined it, or is lost.
  void removed(int peer);
  /// Demotes all members for whose places `chosen` returns true. Demotes a member that has not accepted yet
  /// as soon as it accepts. The counts of peers outside start again at zero.
  void demote(const std::function<bool(std::size_t place)>& chosen);

  /// Returns all places, `most` of them. The owner polls a peer's ring from the decision to promote it until
  /// removed().
  [[nodiscard]] std::span<const Member> members() const { return members_; }
  [[nodiscard]] State state(int peer) const;
  /// Returns the number of taken places.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the number of peers outside that are counted now.
  [[nodiscard]] std::size_t counted() const { return outside_.size(); }

 private:
  /// The private state of the member at the same place.
  struct Record {
    bool undecided = false;     ///< next() has not yet returned the decision that led to its state
    bool unwanted = false;      ///< is demoted as soon as it has accepted
    std::uint32_t arrived = 0;  ///< messages of this round
    /// The number of rounds, since it last did well, in which a peer outside did much better; at most
    /// demote_rounds.
    std::uint32_t weak = 0;
  };
  struct Count {
    int peer;
    std::uint32_t heard;
  };

  [[nodiscard]] std::optional<std::size_t> place_of(int peer) const;
  std::uint32_t count_outside(int peer);
  void offer(int peer, std::uint32_t heard);
  void join(std::size_t place);
  void demote(std::size_t place);
  void end_message();
  void make_room();

  const Policy policy_;
  const std::size_t most_outside_;
  std::vector<Member> members_;
  std::vector<Record> records_;
  std::vector<Count> outside_;  ///< its capacity is reserved at start
  std::size_t size_ = 0;
  std::size_t undecided_ = 0;
  std::uint32_t round_ = 0;  ///< messages of this round
};

}  // namespace librma
