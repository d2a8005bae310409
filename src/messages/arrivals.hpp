#pragma once

#include <memory>
#include <span>

#include "channel/channel.hpp"
#include "messages/contexts.hpp"
#include "messages/inbox.hpp"
#include "messages/operation_ends.hpp"
#include "messages/outbox.hpp"
#include "messages/rendezvous.hpp"

namespace rma {

/// Takes in the messages of other ranks, and finds the receive of each. Thread-safe.
class Arrivals {
 public:
  /// The arguments outlive this.
  Arrivals(ContextTable& contexts, Inbox& inbox, Outbox& outbox, OperationEnds& operations,
           Rendezvous& rendezvous)
      : contexts_(contexts),
        inbox_(inbox),
        outbox_(outbox),
        operations_(operations),
        rendezvous_(rendezvous) {}

  /// Looks at all rings of this host once. Returns whether there was a message.
  bool poll_rings();
  /// Takes in all that `rank` of this host has sent.
  void drain(int rank);
  /// Takes in a message of the channel. Returns false if no honest rank sends it.
  [[nodiscard]] bool take_in_channel(const Message& message);

  /// Gives a message that was kept to its receive.
  void deliver(std::unique_ptr<KeptMessage> message, ReceiveOperation& receive);

 private:
  /// A receive whose data are to be fetched.
  struct Fetch {
    ReceiveOperation* receive = nullptr;
    Announcement announced;
  };

  [[nodiscard]] bool poll_ring(Inbox::Ring& ring);
  /// Takes a message in. Returns false if no honest rank sends it. `matched`: whether a message that came with
  /// data found its receive. A receive whose data are to be fetched is added to `fetches`.
  [[nodiscard]] bool take_in(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches);
  [[nodiscard]] bool take_in_eager(const Arrival& arrival, bool* matched);
  [[nodiscard]] bool take_in_announcement(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches);
  [[nodiscard]] bool take_in_released(const Arrival& arrival);
  /// Keeps a message for which no receive is posted. The caller holds the context's lock.
  static void keep(MessageContext& context, const Arrival& arrival, std::size_t bytes,
                   std::unique_ptr<Announcement> announcement, std::span<const std::byte> data, bool costs);
  /// Says to `source` that a message of this cost, which was kept, has found its receive.
  void give_back(int source, std::uint64_t cost);

  ContextTable& contexts_;
  Inbox& inbox_;
  Outbox& outbox_;
  OperationEnds& operations_;
  Rendezvous& rendezvous_;
};

}  // namespace rma
