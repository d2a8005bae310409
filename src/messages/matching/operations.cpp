#include "messages/matching/operations.hpp"

#include <cstring>
#include <vector>

#include "messages/matching/contexts.hpp"
#include "util/take_head.hpp"

namespace librma {

namespace {

void describe_receive(const PostedReceive& receive, const MessageContext& context, WaitNote& note) {
  note.call = "a receive";
  note.message = {.peer = receive.source == kAnySource ? WaitNote::kAnybody : receive.source,
                  .tag = receive.tag,
                  .context = context.number()};
}

}  // namespace

void describe(const CallersReceive& receive, WaitNote& note) {
  describe_receive(receive, *receive.context, note);
}

void describe(const ReceiveOperation& receive, WaitNote& note) {
  describe_receive(receive, *receive.context, note);
}

void describe(const SendOperation& send, WaitNote& note) {
  note.call = "a send";
  // The receiver has numbers of its own for the contexts of the library's messages.
  note.message = {.sent = true,
                  .peer = send.peer,
                  .tag = send.envelope.tag,
                  .context = send.own != nullptr ? send.own->number() : send.envelope.context};
}

std::optional<Announcement> Announcement::decode(std::span<const std::byte> body) {
  const auto head = take_head<RendezvousHead>(body);
  if (!head) return {};
  Announcement announcement = {.head = *head};
  switch (head->form) {
    case RendezvousForm::plain:
    case RendezvousForm::opaque:
      if (!body.empty()) return {};
      return announcement;
    case RendezvousForm::inlined:
      if (body.size() != head->bytes) return {};
      announcement.start = body;
      return announcement;
    case RendezvousForm::piped:
      if (body.size() > head->bytes) return {};
      announcement.start = body;
      return announcement;
    case RendezvousForm::keyed:
      if (body.size() != sizeof announcement.keys) return {};
      std::memcpy(announcement.keys.data(), body.data(), sizeof announcement.keys);
      return announcement;
    case RendezvousForm::laid_out: {
      // A copy, because the sender may change a body in a ring while it is decoded.
      const std::vector<std::byte> copy(body.begin(), body.end());
      std::span<const std::byte> encoded(copy);
      auto layout = Layout::decode(encoded);
      if (!layout || !encoded.empty() || layout->bytes != head->bytes) return {};
      announcement.layout = std::make_shared<const Layout::Part>(std::move(*layout));
      return announcement;
    }
  }
  return {};
}

}  // namespace librma
