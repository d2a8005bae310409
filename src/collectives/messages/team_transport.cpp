#include "collectives/messages/team_transport.hpp"

#include <span>
#include <utility>

namespace rma {

Status JobTeamTransport::start(int member, int tag, const void* data, std::size_t bytes, Sending& sending) {
  sending = {.member = member};
  const Envelope envelope = {.context = contexts_[static_cast<std::size_t>(member)], .tag = tag};
  const auto whole = MessageData::of({static_cast<const std::byte*>(data), bytes});
  Status status = unless_exhausted(
      [&] { return messages_.start_send(whole, rank_of(member), envelope, own_, &sending.operation); });
  return explained(std::move(status), member);
}

Status JobTeamTransport::finish(Sending& sending) {
  if (sending.operation == nullptr) return {};
  return explained(messages_.finish_send(*std::exchange(sending.operation, nullptr)), sending.member);
}

Status JobTeamTransport::receive(int member, int& tag, void* data, std::size_t bytes) {
  const MessageData whole = {.address = static_cast<std::byte*>(data), .bytes = bytes};
  const Messages::Wanted wanted = {.source = rank_of(member), .tag = tag, .context = own_.number()};
  rma_message_info_t info = {.source = wanted.source, .tag = tag, .bytes = 0};
  // The member has sent, or will, whether there is memory here or not.
  Status status = unless_exhausted([&] { return messages_.receive_without_fail(whole, wanted, &info); });
  tag = info.tag;
  return explained(std::move(status), member);
}

void JobTeamTransport::revoke(int member) {
  // Without memory to tell it, the member waits until its other partners tell it.
  static_cast<void>(unless_exhausted([&]() -> Status {
                      messages_.revoke(rank_of(member), contexts_[static_cast<std::size_t>(member)]);
                      return {};
                    }).ok());
}

Status JobTeamTransport::explained(Status status, int member) const {
  const int rank = rank_of(member);
  return status.code() == RMA_ERR_PEER_LOST && job_.ended(rank) ? job_.lost(rank) : std::move(status);
}

}  // namespace rma
