#include "collectives/messages/point_to_point.hpp"

#include <utility>

#include "util/text.hpp"

namespace rma {
namespace {

constexpr int kTag = 0;
/// The tag of a message of PointToPoint::part() whose sender, or a member of whose part() it knows, found the
/// team unusable.
constexpr int kFailedTag = 1;

}  // namespace

Status PointToPoint::exchange(std::span<const int> to, std::span<const Bytes> out, int from,
                              std::span<const Bytes> in) {
  Status status = usable();
  if (!status.ok()) return status;
  std::array<TeamTransport::Sending, kMostSends> sendings;
  std::size_t started = 0;
  for (const Bytes data : out) {
    for (const int member : to) {
      if (status.ok()) status = transport_.start(member, kTag, data.data(), data.size(), sendings[started++]);
    }
  }
  for (const Bytes data : in) {
    int tag = kTag;
    if (status.ok()) status = transport_.receive(from, tag, data.data(), data.size());
  }
  // The partners are told before this member waits for its sends to them.
  const auto note = [&] {
    if (status.ok() || finder_ != TeamTransport::kNobody) return;
    const int revoker = transport_.revoker();
    if (revoker != TeamTransport::kNobody) status = failed(revoker);
    fail(revoker != TeamTransport::kNobody ? revoker : rank_);
  };
  note();
  for (std::size_t i = 0; i < started; ++i) {
    Status sent = transport_.finish(sendings[i]);
    if (status.ok()) status = std::move(sent);
    note();
  }
  return status;
}

Status PointToPoint::meet() {
  // A dissemination barrier: after step k this member knows that the 2^(k+1) - 1 members behind it have come.
  const Bytes nothing;
  for (int k = 0; k < distances_; ++k) {
    const int to = above(k);
    if (Status status = exchange({&to, 1}, {&nothing, 1}, below(k), {&nothing, 1}); !status.ok()) {
      return status;
    }
  }
  return {};
}

Status PointToPoint::part() {
  // A barrier in which every member goes through all steps and passes on what it has found, even after a
  // failure, so that no member is left waiting. A member that has come here does not revoke the team any
  // more.
  //
  // If it succeeds for this member, nobody sends this member anything more: it has received all messages of
  // collectives, because all are complete here, and one message of each partner below. And it has learned,
  // through the members of the barrier, that every member came here while the team had not failed for it.
  Status status = usable();
  if (!status.ok()) return status;  // the partners were told
  for (int k = 0; k < distances_; ++k) {
    TeamTransport::Sending sending;
    Status told = transport_.start(above(k), status.ok() ? kTag : kFailedTag, nullptr, 0, sending);
    int tag = kAnyTag;
    if (status.ok()) status = transport_.receive(below(k), tag, nullptr, 0);
    if (status.ok()) status = std::move(told);
    if (status.ok() && tag == kFailedTag) {
      status = {RMA_ERR_PEER_LOST, "another member of this team found one of its members lost"};
    }
    // An empty message never waits for its receive, which a member that has given up does not make.
    if (Status sent = transport_.finish(sending); status.ok()) status = std::move(sent);
  }
  return status;
}

void PointToPoint::fail(int finder) {
  finder_ = finder;
  for (int k = 0; k < distances_; ++k) {
    transport_.revoke(above(k));
    if (above(k) != below(k)) transport_.revoke(below(k));
  }
}

Status PointToPoint::usable() {
  if (finder_ != TeamTransport::kNobody) return failed(finder_);
  const int revoker = transport_.revoker();
  if (revoker == TeamTransport::kNobody) return {};
  fail(revoker);
  return failed(revoker);
}

Status PointToPoint::failed(int finder) {
  return {
      RMA_ERR_PEER_LOST,
      text(
          "rank {} found a member of this team lost, so the team is of no more use: free it, and make one of "
          "the ranks that are left",
          finder)};
}

}  // namespace rma
