#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "collectives/schedules/plan.hpp"
#include "collectives/schedules/schedule_contexts.hpp"
#include "collectives/schedules/team_carrier.hpp"
#include "core/job/job.hpp"
#include "messages/messages.hpp"
#include "util/rank_map.hpp"
#include "util/status.hpp"

namespace librma {

/// Carries the messages of a team's collective operations, in a *context* of their own (rma/messages.h) that
/// has the same number at all members. Each schedule has a tag, drawn in the order in which the members start
/// their collective operations, so any number of schedules may be under way. Blocking operations, one of
/// which is under way at a time, have one tag (TeamCarrier::Tag).
///
/// A member that cannot go on revokes the context at all others (Messages::revoke), and every member that
/// learns of it does the same. So no member waits for messages that will not come. The revocation names the
/// rank that was lost, so that the errors of all members do. Thread-safe.
class ScheduleChannel final : public TeamCarrier {
 public:
  /// `ranks` are the world ranks by member. Throws std::bad_alloc.
  ScheduleChannel(const Job& job, Messages& messages, std::shared_ptr<const RankMap> ranks, int member,
                  std::uint32_t context)
      : job_(job),
        messages_(messages),
        own_(messages.context(context)),
        ranks_(std::move(ranks)),
        member_(member) {
    own_.hold();
  }
  /// The channel of an attached team has a number of its own. That of another team is used again, and its
  /// context stays.
  ~ScheduleChannel() override {
    own_.let_go();
    if (ScheduleContexts::of_attached(own_.number())) messages_.drop_context(own_.number(), false);
  }
  ScheduleChannel(const ScheduleChannel&) = delete;
  ScheduleChannel& operator=(const ScheduleChannel&) = delete;

  [[nodiscard]] int member() const { return member_; }
  [[nodiscard]] int members() const { return ranks_->size(); }

  /// Returns the number of the context.
  [[nodiscard]] std::uint32_t context() const { return own_.number(); }
  /// Returns the world rank of a member.
  [[nodiscard]] int rank_of(int member) const { return (*ranks_)[member]; }

  /// Returns the tag for the next collective operation.
  [[nodiscard]] int draw_tag() {
    return static_cast<int>(drawn_.fetch_add(1, std::memory_order_relaxed) % kTags);
  }
  /// Makes the paths to all members that a plan sends to or receives from. After that, post() waits for
  /// nothing.
  [[nodiscard]] Status connect(const Plan& plan);
  /// Starts the send or receive of a step.
  [[nodiscard]] Status post(const PlanStep& step, int tag, rma_request_t* request);
  /// Ends a receive with RMA_ERR_CANCELED, unless a message has matched it.
  void cancel(rma_request_t request) { messages_.cancel_receive(request); }

  [[nodiscard]] Status start(int member, int tag, const void* data, std::size_t bytes,
                             Sending& sending) override;
  [[nodiscard]] Status finish(Sending& sending) override;
  [[nodiscard]] Status receive(int member, int& tag, void* data, std::size_t bytes) override;
  [[nodiscard]] Status usable() override {
    if (!failed()) return {};
    fail();  // the others learn it from this member too
    return failure();
  }
  [[nodiscard]] Status give_up(Status failure, int member) override;

  static constexpr int kNobody = MessageContext::kNobody;
  /// Makes the channel unusable here and at all other members, once. `suspect` is the world rank that an
  /// operation of this member has lost, or kNobody.
  void fail(int suspect = kNobody);
  /// Returns whether this member or another one has made it unusable.
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire) || own_.revoked(); }
  /// Returns the world rank that a failure is about: the rank that fail() was told of, here or at another
  /// member, else a member of this host that has ended, else the member that has revoked the context first,
  /// else `otherwise`.
  [[nodiscard]] int culprit(int otherwise);
  /// Returns RMA_ERR_PEER_LOST for a channel that has failed.
  [[nodiscard]] Status failure();

 private:
  static constexpr std::uint32_t kTags = kBlockingTag;

  /// Returns `status`, with what the system knows of a process of this host that has ended.
  [[nodiscard]] Status explained(Status status, int member) const;
  /// Returns a rank that is lost as far as this member knows, or kNobody.
  [[nodiscard]] int known_lost() const;

  const Job& job_;
  Messages& messages_;
  MessageContext& own_;
  const std::shared_ptr<const RankMap> ranks_;
  const int member_;
  std::atomic<std::uint32_t> drawn_ = 0;
  std::atomic<bool> failed_ = false;
  std::atomic<int> lost_ = kNobody;  ///< the rank because of which the channel has failed
};

}  // namespace librma
