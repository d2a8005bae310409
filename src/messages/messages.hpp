#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "channel/channel.hpp"
#include "core/completion/pending_operations.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/remote_access.hpp"
#include "messages/contexts.hpp"
#include "messages/inbox.hpp"
#include "messages/operation_pool.hpp"
#include "messages/operations.hpp"
#include "messages/outbox.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace rma {

/// Two-sided messages (rma/messages.h): matching, eager messages and rendezvous. Thread-safe.
///
/// A short message goes *eagerly*: with its data, at once. The receiver copies them from the ring into the
/// buffer of the receive that matches, or keeps them until one does. A longer one is announced (*rendezvous*),
/// and the receiver fetches the data when a receive matches: from the sender's mapped heap, by reading the
/// sender's memory, or by asking for it in fragments.
///
/// Any thread that waits makes progress: it looks at the rings of this host, and at the channel.
class Messages final : public ProgressSource {
 public:
  /// Reads `into.size()` bytes at `address` of a rank of this host, whose memory this process may access.
  using Reader = std::function<rma_status_t(int rank, std::uintptr_t address, std::span<std::byte> into)>;

  /// A receive or probe asks for this.
  struct Wanted {
    int source = 0;
    int tag = 0;
    std::uint32_t context = 0;
  };

  /// Sets memory for other ranks aside and registers the handlers with the channel, which is null in a job
  /// without one. Called before Job::connect() and before the first message arrives. RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<Messages>> create(Job& job, RemoteAccess& remote_access,
                                                                Channel* channel, Reader reader);
  ~Messages() override;

  /// Lets threads wait for messages. Called after Job::connect().
  void start();

  /// `synchronous`: the send ends only when a receive has matched. `request` is null for a blocking call.
  [[nodiscard]] Status send(std::span<const std::byte> data, int rank, Envelope envelope, bool synchronous,
                            rma_request_t* request);
  [[nodiscard]] Status receive(std::span<std::byte> buffer, const Wanted& wanted, rma_message_info_t* info,
                               rma_request_t* request);

  /// Looks for a message without receiving it, and sets `found`. With `wait`, waits until there is one. If
  /// `taken` is not null, takes the message out of the matching and stores its name there; 0 if there is none.
  [[nodiscard]] Status probe(const Wanted& wanted, bool wait, bool* found, std::uint64_t* taken,
                             rma_message_info_t* info);
  /// Receives the message that probe() has taken by this name, and makes the name 0. Returns RMA_ERR_ARGUMENT for
  /// a name of no such message.
  [[nodiscard]] Status receive_taken(std::uint64_t* taken, std::span<std::byte> buffer,
                                     rma_message_info_t* info, rma_request_t* request);

  /// Cancels the receive with this request, unless it has matched.
  void cancel(rma_request_t request);

  bool progress() override;
  void flush(int /*rank*/) override {}  // does nothing: messages are no part of a fence
  void give_up(int /*rank*/) override {}
  void arm() override;
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const override;

 private:
  Messages(Job& job, RemoteAccess& remote_access, Channel* channel, Reader reader, InboxBlock& block);
  void listen();

  struct Fetch {
    ReceiveOperation* receive = nullptr;
    RendezvousHead head;
    RailKeys keys = {};
  };
  /// A read from another host that is under way.
  struct Read {
    rma_request_t operation = RMA_REQUEST_NULL;
    ReceiveOperation* receive = nullptr;
    std::uint64_t sender = 0;
  };

  /// Waits until `condition()` is true. Polls for messages meanwhile.
  template <typename Condition>
  void wait_until(const Condition& condition);
  /// Looks at all rings once. Returns whether there was a message.
  bool poll_rings();
  [[nodiscard]] bool poll_ring(Inbox::Ring& ring);
  /// Takes a message in. Returns false if no honest rank sends it. `matched`: whether a message that
  /// came with its data found its receive. A receive whose data are to be fetched is added to `fetches`.
  [[nodiscard]] bool take_in(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches);
  [[nodiscard]] bool take_in_channel(const Message& message);
  [[nodiscard]] bool take_in_eager(const Arrival& arrival, bool* matched);
  [[nodiscard]] bool take_in_rendezvous(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches);
  [[nodiscard]] bool take_in_clear(const Arrival& arrival);
  [[nodiscard]] bool take_in_fragment(const Arrival& arrival);
  [[nodiscard]] bool take_in_finished(const Arrival& arrival);

  /// Keeps a message for which no receive is posted. The caller holds the context's lock.
  void keep(MessageContext& context, const Arrival& arrival, const RendezvousHead* head,
            std::span<const std::byte> rest);
  /// Gives a kept message to a receive. Frees it.
  void deliver(KeptMessage& message, ReceiveOperation& receive);
  /// Fetches the data of a rendezvous into the receive that has matched it.
  void fetch(const Fetch& fetch);
  /// Starts to read the data from another host. Returns false if the devices cannot reach them.
  [[nodiscard]] bool start_read(const Fetch& fetch, std::size_t bytes);
  /// Connects with the ranks whose data could not be read for want of a connection. Called by the program's
  /// threads, and never by a handler.
  void connect_wanted();
  /// Ends the receives whose reads are complete. Returns whether there was any.
  bool end_reads();
  /// Says to the sender that its buffer is free, and ends the receive.
  void end_fetched(ReceiveOperation& receive, std::uint64_t sender, rma_status_t status);
  [[nodiscard]] rma_status_t read(int rank, std::uintptr_t address, std::span<std::byte> into,
                                  bool* readable);
  void give_back(int source, std::uint64_t cost);

  void end(ReceiveOperation& receive, rma_status_t status);
  void end(SendOperation& send, rma_status_t status);
  /// Ends what `end` belongs to. Returns whether its slot is to be given back.
  [[nodiscard]] bool finish(MessageEnd& end, rma_status_t status, int rank);
  /// Waits for an operation without a request.
  [[nodiscard]] Status wait(const MessageEnd& end);
  [[nodiscard]] Status outcome(rma_status_t status, int rank) const;

  void look_for_ended_ranks();
  void lose(int rank);
  [[nodiscard]] bool awaits_lost(int source) const;
  /// Returns the rank that is lost, for a text about a receive from `source`, which may be a wildcard.
  [[nodiscard]] int lost_among(int source) const {
    return source == kAnySource ? first_lost_.load(std::memory_order_relaxed) : source;
  }

  Job& job_;
  RemoteAccess& remote_access_;
  PendingOperations& pending_;
  Channel* const channel_;
  const Reader reader_;
  ContextTable contexts_;
  OperationPool<ReceiveOperation> receives_;
  OperationPool<SendOperation> sends_;
  OperationPool<TakenMessage> taken_;
  Inbox inbox_;
  Outbox outbox_;
  SpinLock reads_lock_;
  std::vector<Read> reads_;  ///< under reads_lock_
  std::atomic<std::size_t> read_count_ = 0;
  std::vector<int> unconnected_;  ///< ranks for connect_wanted(), under reads_lock_
  std::atomic<bool> any_unconnected_ = false;
  std::atomic<bool> any_lost_ = false;
  std::atomic<int> first_lost_ = -1;
  std::uint64_t polls_ = 0;               ///< counted by progress(), which one thread at a time calls
  std::atomic<std::int64_t> looked_ = 0;  ///< monotonic time of the last look_for_ended_ranks(), ms
};

}  // namespace rma
