#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/job/job.hpp"
#include "messages/messages.hpp"
#include "util/rank_map.hpp"
#include "util/status.hpp"

namespace rma {

/// Carries messages between the members of a group, which are numbered from 0. Messages from one member to
/// another with the same tag are received in the order of sending. Thread-safe.
class TeamTransport {
 public:
  /// A send that may still be under way.
  struct Sending {
    int member = 0;
    SendOperation* operation = nullptr;  ///< null: it is over
  };

  TeamTransport() = default;
  TeamTransport(const TeamTransport&) = delete;
  TeamTransport& operator=(const TeamTransport&) = delete;
  virtual ~TeamTransport() = default;

  /// Starts to send `bytes` bytes to another member. The caller then calls finish(), even after a failure.
  /// RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY.
  [[nodiscard]] virtual Status start(int member, int tag, const void* data, std::size_t bytes,
                                     Sending& sending) = 0;
  /// Waits until the data may be reused: the member has them, or wants them no more.
  [[nodiscard]] virtual Status finish(Sending& sending) = 0;
  /// Receives the next message of `member` with this tag or, for kAnyTag, with any; stores its tag. It has
  /// `bytes` bytes. Returns RMA_ERR_PEER_LOST if the member has ended or does not answer, or if a member has
  /// revoked the group here.
  [[nodiscard]] virtual Status receive(int member, int& tag, void* data, std::size_t bytes) = 0;

  /// Tells `member` that this one takes part no more: its receives from any member, and its sends to this
  /// one, end with RMA_ERR_PEER_LOST. This member has no receive under way.
  virtual void revoke(int member) = 0;
  /// Returns the world rank of the member that was the first to revoke the group here, or kNobody.
  [[nodiscard]] virtual int revoker() = 0;
  static constexpr int kNobody = -1;
};

/// The transport between processes of a job, by two-sided messages. Each member has a *context* of its own
/// (rma/messages.h) for the messages that the other members send to it.
class JobTeamTransport final : public TeamTransport {
 public:
  /// The contexts of all processes for agreements on new teams, for the world team, and for that team's
  /// schedules. Every process draws the contexts for other teams from kFirstDrawn on. The library's own
  /// contexts below these, and those above, are for the schedules of other teams (ScheduleContexts).
  static constexpr std::uint32_t kAgreementContext = 0xc0000000;
  static constexpr std::uint32_t kWorldContext = kAgreementContext + 1;
  static constexpr std::uint32_t kWorldSchedules = kAgreementContext + 2;
  static constexpr std::uint32_t kFirstDrawn = kAgreementContext + 3;

  /// All members use the number `context`, until place() says otherwise. Throws std::bad_alloc.
  /// @param ranks  world ranks by member
  JobTeamTransport(const Job& job, Messages& messages, std::vector<int> ranks, std::uint32_t context)
      : job_(job),
        messages_(messages),
        own_(messages.context(context)),
        ranks_(std::move(ranks)),
        contexts_(static_cast<std::size_t>(ranks_.size()), context) {}

  /// Sets the context of `member`.
  void place(int member, std::uint32_t context) { contexts_[static_cast<std::size_t>(member)] = context; }
  /// Returns this member's context.
  [[nodiscard]] std::uint32_t context() const { return own_.number(); }

  [[nodiscard]] Status start(int member, int tag, const void* data, std::size_t bytes,
                             Sending& sending) override;
  [[nodiscard]] Status finish(Sending& sending) override;
  [[nodiscard]] Status receive(int member, int& tag, void* data, std::size_t bytes) override;
  void revoke(int member) override;
  [[nodiscard]] int revoker() override { return own_.revoked() ? own_.first_revoker() : kNobody; }

 private:
  [[nodiscard]] int rank_of(int member) const { return ranks_[member]; }
  /// Returns `status`, with what the system knows of a process of this host that has ended.
  [[nodiscard]] Status explained(Status status, int member) const;

  const Job& job_;
  Messages& messages_;
  MessageContext& own_;
  const RankMap ranks_;
  std::vector<std::uint32_t> contexts_;  ///< by member
};

}  // namespace rma
