#pragma once

#include <cstddef>
#include <optional>

#include "messages/messages.hpp"
#include "util/status.hpp"

namespace librma {

/// Carries messages between the members of a group, which are numbered from 0. Messages from one member to
/// another with the same tag are received in the order of sending. Thread-safe.
///
/// A failure makes the group unusable for all members, because they would no longer agree on the next
/// message. The member that finds it gives the group up, and every member that learns of that does the same.
/// So every wait ends: a member waits for a message of another one, or for another one to take its message.
/// Either the other one is lost, or it has given the group up and said so, or it waits for a further member.
class TeamCarrier {
 public:
  /// A send that may still be under way.
  struct Sending {
    int member = 0;
    std::optional<AwaitedSend> send = {};  ///< none before the start, and after the end
  };

  TeamCarrier() = default;
  TeamCarrier(const TeamCarrier&) = delete;
  TeamCarrier& operator=(const TeamCarrier&) = delete;
  virtual ~TeamCarrier() = default;

  /// The tags of the messages of one team: schedules draw smaller ones. No message has the last one: receives
  /// with it end only by failures, or when they are cancelled.
  enum Tag : int { kBlockingTag = 1 << 30, kPartingTag, kPartingFailedTag, kRdmaTag, kNeverTag };

  /// Starts to send `bytes` bytes to another member. The caller then calls finish(), even after a failure.
  /// RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY.
  [[nodiscard]] virtual Status start(int member, int tag, const void* data, std::size_t bytes,
                                     Sending& sending) = 0;
  /// Waits until the data may be reused: the member has them, or wants them no more.
  [[nodiscard]] virtual Status finish(Sending& sending) = 0;
  /// Receives the next message of `member` with this tag or, for kAnyTag, with any; stores its tag. It has
  /// `bytes` bytes. Returns RMA_ERR_PEER_LOST if the member has ended or does not answer, or if a member has
  /// given the group up.
  [[nodiscard]] virtual Status receive(int member, int& tag, void* data, std::size_t bytes) = 0;

  /// Returns success if the group is usable as far as this member knows. If not, all members know it too.
  [[nodiscard]] virtual Status usable() = 0;
  /// Makes the group unusable for all members after an operation with `member` has failed: their receives
  /// from any member, and their sends to this one, end with RMA_ERR_PEER_LOST. This member has no receive
  /// under way. Returns the failure for the caller of the collective operation.
  [[nodiscard]] virtual Status give_up(Status failure, int member) = 0;
};

}  // namespace librma
