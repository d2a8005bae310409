#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/completion/pending_operations.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/remote_access.hpp"
#include "messages/arrivals.hpp"
#include "messages/matching/contexts.hpp"
#include "messages/matching/operation_ends.hpp"
#include "messages/rendezvous/rendezvous.hpp"
#include "messages/rings/inbox.hpp"
#include "messages/sending/context_numbers.hpp"
#include "messages/sending/outbox.hpp"
#include "util/statistics.hpp"
#include "util/status.hpp"

namespace librma {

class Channel;

/// A thread that polls looks at the rings this often for each time that it looks everywhere, and a thread
/// that yields between its looks this often. A look everywhere takes 1,200 instructions, one at a ring 40. A
/// yield may take a microsecond.
inline constexpr std::uint64_t kPollsOfRings = 64;
inline constexpr std::uint64_t kYieldsOfRings = 16;

/// Two-sided messages (rma/messages.h): matching, eager messages and rendezvous. Thread-safe.
///
/// A short message goes *eagerly*: with its data, at once. The receiver copies them from the ring into the
/// buffer of the receive that matches, or keeps them until one does. A longer one is announced
/// (*rendezvous*), and the receiver fetches the data when a receive matches.
///
/// Any thread that waits makes progress: it looks at the rings of this host, and at the channel. This class
/// owns the parts:
/// - Inbox and Outbox: the rings of this host and the channel, what waits for room there, and the sends under
///   way.
/// - Arrivals: takes messages in and matches them, by ContextTable.
/// - Rendezvous: how announced data get to their receiver; Pipeline and DeviceTransfers between hosts.
/// - OperationEnds: the receives under way, and the ends of sends and receives.
class Messages final : public ProgressSource, public WaitProgress {
 public:
  /// A receive or probe asks for this.
  struct Wanted {
    int source = 0;
    int tag = 0;
    std::uint32_t context = 0;
  };

  /// Sets memory for other ranks aside and registers the handlers with the channel, which is null in a job
  /// without one. Called before Job::connect() and before the first message arrives. RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<Messages>> create(Job& job, RemoteAccess& remote_access,
                                                                Channel* channel,
                                                                const ProcessMemory& memory);
  ~Messages() override;

  /// Lets threads wait for messages; those that wait for something else drive them if the caller says so
  /// (Job::drive_while_waiting). Called after Job::connect(). Starts the progress thread if the settings
  /// ask for one; it polls `spins` times before it sleeps. RMA_ERR_SYSTEM.
  [[nodiscard]] Status start(std::uint64_t spins);

  /// Sends contiguous data eagerly within the host, if that needs nothing but a free line. Returns whether it
  /// is done; if not, the caller calls send().
  [[nodiscard, gnu::always_inline]] bool send_at_once(std::span<const std::byte> data, int rank,
                                                      Envelope envelope) {
    return !connection_wanted() && outbox_.send_at_once(rank, envelope, data);
  }
  /// Wakes the threads of `rank` after a send by its port, or after Taken::wished.
  void wake_receiver(int rank) { outbox_.wake_otherwise(rank); }
  /// Returns the ways by which libraries over this one may send short messages themselves, or null if this
  /// process may have to do something else before it sends.
  [[nodiscard]] SendPort* send_ports() { return all_by_ring_ ? outbox_.ports() : nullptr; }
  /// Receives the next message of the ring of `source`, a rank, if the message is the one that the receive
  /// gets, fits the buffer, and is there already. If it is not done, the caller calls receive(). `info` may
  /// be null.
  ///
  /// The arguments come in registers. As members of a Wanted they would be read back from memory in other
  /// pieces than they were written, which stops the processor until the writes have left it.
  using Taken = Arrivals::Taken;
  [[nodiscard, gnu::always_inline]] Taken receive_at_once(std::span<std::byte> buffer, int source, int tag,
                                                          MessageContext& context, rma_message_info_t* info) {
    return !connection_wanted() ? arrivals_.receive_at_once(context, source, tag, buffer, info) : Taken::no;
  }
  /// Does the same with all that may follow from it. Returns whether the message is received.
  [[nodiscard, gnu::always_inline]] bool receive_now(std::span<std::byte> buffer, const Wanted& wanted,
                                                     rma_message_info_t& info) {
    MessageContext* const found = wanted.source >= 0 ? contexts_.at_once(wanted.context) : nullptr;
    if (found == nullptr) return false;
    const Taken taken = receive_at_once(buffer, wanted.source, wanted.tag, *found, &info);
    if (taken == Taken::otherwise) [[unlikely]]
      return receive_otherwise(buffer, wanted.source, wanted.tag, *found, &info);
    if (taken == Taken::wished) [[unlikely]]
      wake_receiver(wanted.source);
    return taken != Taken::no;
  }
  /// Does the rest of it for Taken::otherwise. Returns whether the message is received.
  [[nodiscard]] bool receive_otherwise(std::span<std::byte> buffer, int source, int tag,
                                       MessageContext& context, rma_message_info_t* info) {
    return arrivals_.receive_otherwise(context, source, tag, buffer, info);
  }

  /// `synchronous`: the send ends only when a receive has matched. `request` is null for a blocking call.
  [[nodiscard]] Status send(const MessageData& data, int rank, Envelope envelope, bool synchronous,
                            rma_request_t* request);
  [[nodiscard]] Status receive(const MessageData& data, const Wanted& wanted, rma_message_info_t* info,
                               rma_request_t* request);

  /// Posts a receive of contiguous memory whose end is told in `posted` (rma/unchecked.h).
  [[nodiscard]] Status post(std::span<std::byte> buffer, const Wanted& wanted, rma_posted_recv_t& posted);
  /// Does the same in the usual cases: the receive has no wildcard, and no message was kept. `posted` says
  /// where the buffer is. The context is one of the program's, which nobody revokes. Returns whether it is
  /// done; if not, the caller calls post_after_look(). It calls no function.
  ///
  /// It does not look into the ring of the source. A message that lies there finds this receive when it is
  /// taken in, together with those behind it, which takes fewer instructions than a look by each receive.
  [[nodiscard, gnu::always_inline]] bool post_at_once(rma_posted_recv_t& posted, int source, int tag,
                                                      MessageContext& context) {
    if (!context.lock.try_lock()) [[unlikely]]
      return false;
    // lose() changes the first before it takes this lock to withdraw receives. So either it finds this
    // receive, or this finds its change.
    const bool is_posted = !posts_otherwise_.load(std::memory_order_relaxed) &&
                           !context.matcher.has_messages() &&
                           context.matcher.post_at_once(
                               source, tag, [&]() __attribute__((always_inline))->CallersReceive & {
                                 return CallersReceive::make(posted, source, tag, &context);
                               });
    context.lock.unlock();
    if (is_posted) [[likely]]
      operations_.begin_callers();
    return is_posted;
  }
  /// Returns the context with this number, or null if the first look does not find it.
  [[nodiscard]] MessageContext* context_at_once(std::uint32_t number) { return contexts_.at_once(number); }
  /// Does the rest of post_at_once(), also for wildcards: takes a message that was kept, or posts. Returns
  /// whether it is done; if not, the caller calls post().
  [[nodiscard]] bool post_after_look(rma_posted_recv_t& posted, int source, int tag,
                                     MessageContext& context) noexcept;
  /// Waits until such a receive has ended, and returns its outcome.
  [[nodiscard]] Status wait(const rma_posted_recv_t& posted);
  /// Makes progress once, and returns whether it has ended. If not, lets other threads run.
  [[nodiscard, gnu::always_inline]] bool test(const rma_posted_recv_t& posted) {
    if (rma_posted_ended(&posted) != 0) return true;
    progress_once();
    if (rma_posted_ended(&posted) != 0) return true;
    let_others_run(job_.wait_policy());
    return false;
  }
  /// Cancels it, unless it has matched.
  void cancel(rma_posted_recv_t& posted);
  /// Gives it a request, which ends instead of `posted`. Stores RMA_REQUEST_NULL if it has ended or is about
  /// to. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status open_request(rma_posted_recv_t& posted, rma_request_t* request);

  /// Returns the context with this number. Throws std::bad_alloc at the first use of a number.
  [[nodiscard]] MessageContext& context(std::uint32_t number) { return contexts_.of(number); }
  /// Says that this process uses a context no more. Messages that no receive has taken are forgotten if
  /// `discards`; otherwise a context that has any stays. A context of which this process still has a receive
  /// stays too, and so does one that a rank has revoked.
  void drop_context(std::uint32_t number, bool discards);
  /// Returns the numbers of the objects of interfaces over this library.
  [[nodiscard]] ContextNumbers& numbers() { return numbers_; }
  /// Receives an eager message of the library's own, even when there is no memory: then it polls until the
  /// message is there. So a process without memory does not leave a message behind that another one has sent
  /// to it. RMA_ERR_PEER_LOST, RMA_ERR_TRUNCATED.
  [[nodiscard]] Status receive_without_fail(const MessageData& data, const Wanted& wanted,
                                            rma_message_info_t* info);
  /// Starts a send of the library's own. `own` is this rank's context that `rank` may revoke. The caller
  /// passes `awaited`, which is new, to finish_send(), unless this fails.
  [[nodiscard]] Status start_send(const MessageData& data, int rank, Envelope envelope, MessageContext& own,
                                  AwaitedSend& awaited) {
    connect_wanted();
    return start_send(data, rank, envelope, false, &own, nullptr, &awaited);
  }
  /// Waits for the end of the send. The caller may reuse the data then.
  [[nodiscard]] Status finish_send(AwaitedSend& awaited);
  /// Finds or makes the path to `rank`. After that, post_send() to the rank waits for nothing.
  /// RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY, RMA_ERR_UNSUPPORTED, RMA_ERR_LAUNCH.
  [[nodiscard]] Status connect(int rank) {
    connect_wanted();
    return outbox_.ready(rank);
  }
  /// Start a send and a receive of the library's own, and open a request for each. They wait for nothing, so
  /// threads that make progress may call them. The caller has called connect() for the rank.
  [[nodiscard]] Status post_send(const MessageData& data, int rank, Envelope envelope, MessageContext& own,
                                 rma_request_t* request) {
    return start_send(data, rank, envelope, false, &own, request, nullptr);
  }
  [[nodiscard]] Status post_receive(const MessageData& data, const Wanted& wanted, rma_request_t* request) {
    return start_receive(data, wanted, nullptr, {.request = request});
  }
  /// Tells `rank` that this rank uses a context no more. `number` is what `rank` calls it. All receives that
  /// are posted there at `rank`, and its sends to this rank for which it is its own context, end with
  /// RMA_ERR_PEER_LOST, and so do those that begin later. Their texts name the rank `lost`, if the caller
  /// names one. The caller has no receive from `rank` under way.
  void revoke(int rank, std::uint32_t number, int lost = MessageContext::kNobody);

  /// Looks for a message without receiving it, and sets `found`. With `wait`, waits until there is one. If
  /// `taken` is not null, takes the message out of the matching and stores its name there; 0 if there is
  /// none.
  [[nodiscard]] Status probe(const Wanted& wanted, bool wait, bool* found, std::uint64_t* taken,
                             rma_message_info_t* info);
  /// The outcome of probe_at_once(). Failed: probe() says why.
  enum class Probed : std::uint8_t { none, found, failed };
  /// Looks for a message without receiving it, and makes progress once if there is none. If there is none
  /// then, lets other threads run. `info` gets the message.
  [[nodiscard, gnu::always_inline]] Probed probe_at_once(int source, int tag, MessageContext& context,
                                                         rma_message_info_t& info) {
    if (context.matcher.has_messages() && look_for_kept(context, source, tag, info)) return Probed::found;
    progress_once();
    if (context.matcher.has_messages() && look_for_kept(context, source, tag, info)) return Probed::found;
    if (any_lost_.load(std::memory_order_acquire) && awaits_lost(source)) [[unlikely]]
      return Probed::failed;
    let_others_run(job_.wait_policy());
    return Probed::none;
  }
  /// Receives the message that probe() has taken by this name, and makes the name 0. Returns RMA_ERR_ARGUMENT
  /// for a name of no such message.
  [[nodiscard]] Status receive_taken(std::uint64_t* taken, const MessageData& data, rma_message_info_t* info,
                                     rma_request_t* request);

  /// Waits until the send or receive with this request has ended. Does nothing for operations of other kinds.
  /// The caller then closes the request.
  void wait_for(rma_request_t request);
  /// Says what the wait for a request is for.
  void describe(rma_request_t request, WaitNote& note);
  /// Connects with the ranks that a handler of a message, or a look after silent ranks, could not connect
  /// with. A thread of the program that waits calls it whenever connection_wanted() returns true.
  void connect_wanted();
  [[nodiscard]] bool connection_wanted() const { return rendezvous_.transfers().any_wanted(); }
  /// Cancels the receive with this request, unless it has matched.
  void cancel_receive(rma_request_t request);
  /// Cancels the send or receive with this request, unless it has matched. The request ends in any case as
  /// soon as the receiver of an announcement has said what has become of it.
  void cancel(rma_request_t request);

  /// Sends everything that still waits for room. Called when the program calls no more.
  void finish();
  /// Takes messages in until `over` is true. The thread that makes it true then calls wake().
  void take_in_until(const std::atomic<bool>& over);
  void wake() { pending_.engine().wake(); }
  /// Says whether schedules are under way. Every call that tests takes their next steps then.
  void schedules_go_on(bool any) { schedules_.store(any, std::memory_order_relaxed); }
  /// Takes in what has come.
  void take_in() { static_cast<void>(pending_.engine().progress()); }

  /// Returns whether another rank may need this one's progress while it waits for something else: a send or
  /// receive is under way, or a message waits for room.
  [[nodiscard]] bool pending() const override {
    return operations_.any() || outbox_.any_sends() || outbox_.waits();
  }
  bool drive() override { return pending_.engine().progress(); }

  bool progress() override;
  void flush(int /*rank*/, CompletionContext& /*context*/) override {
  }  // does nothing: messages are no part of a fence
  void give_up(int /*rank*/) override {}
  void arm() override;
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const override {
    return OperationEnds::explain(code, rank);
  }

 private:
  /// The addressee of a receive's end: a request, the caller's memory, or that of the call that waits.
  struct Issuer {
    rma_request_t* request = nullptr;         ///< where the call stores the request
    rma_posted_recv_t* posted = nullptr;      ///< the memory
    rma_request_t opened = RMA_REQUEST_NULL;  ///< the request, from open() on
    bool waits = false;                       ///< the call does
    /// Says that the receive of a call that does not wait is over already.
    void tell_complete() const {
      if (request != nullptr) *request = kCompleteRequest;
      if (posted == nullptr) return;
      posted->status = RMA_SUCCESS;
      posted->ended = 1;
    }
  };

  Messages(Job& job, RemoteAccess& remote_access, Channel* channel, const ProcessMemory& memory,
           InboxBlock& block);

  /// Polls for messages until `condition()` is true or the time for polling is over. Returns whether it is
  /// true.
  template <typename Condition>
  [[nodiscard]] bool poll_until(const Condition& condition);
  /// Waits until `condition()` is true. Polls for messages meanwhile, and connects with ranks as wanted.
  /// `describe`: see wait_unless().
  template <typename Condition, typename Describe>
  void wait_until(const Condition& condition, const Describe& describe);
  /// Looks into the rings for the message of a receive, and then at most `polls` times more. Returns whether
  /// it has come. If not, the receive is to be posted.
  [[nodiscard]] bool receive_directly(DirectReceive& receive, std::uint64_t polls);
  /// Makes progress for a call that tests and returns. Where all ranks send by rings, most such calls look
  /// only there, as threads that wait do.
  [[gnu::always_inline]] void progress_once() {
    const std::uint64_t looks = looks_.load(std::memory_order_relaxed) + 1;
    looks_.store(looks, std::memory_order_relaxed);  // threads that look at the same time may count once
    if (looks % kPollsOfRings == 0 || !all_by_ring_ || schedules_.load(std::memory_order_relaxed) ||
        outbox_.waits()) [[unlikely]] {
      progress_everywhere(looks);
    } else {
      arrivals_.look_into_rings();
    }
  }
  /// Does the same where there is more than rings to look at, for the look of this number.
  [[gnu::noinline]] void progress_everywhere(std::uint64_t looks);
  /// Returns from a nonblocking call, whose operation the progress thread drives if there is one.
  [[nodiscard]] Status hand_over();
  /// The others of this name. Exactly one of `request` and `awaited` is null.
  [[nodiscard]] Status start_send(const MessageData& data, int rank, Envelope envelope, bool synchronous,
                                  MessageContext* own, rma_request_t* request, AwaitedSend* awaited);
  /// Closes the request of an operation that could not begin. Does nothing for RMA_REQUEST_NULL.
  void abandon(rma_request_t opened);
  [[nodiscard]] Status start_receive(const MessageData& data, const Wanted& wanted, rma_message_info_t* info,
                                     Issuer issuer);
  /// Matches the operation of a receive with a message that was kept, or posts it.
  void match_or_post(ReceiveOperation& operation, const Issuer& issuer);
  /// Waits for the end of a receive that is told in the call's own memory.
  [[nodiscard]] Status finish_receive(const rma_posted_recv_t& own);
  void wait_for_end(const rma_posted_recv_t& posted);
  /// Ends a receive that was just posted by this name, if no message can come for it: its source is lost, or
  /// the context is revoked.
  void end_if_hopeless(MessageContext& context, int source, std::uint64_t name, const Issuer& issuer);
  /// Looks for a message that was kept. Returns whether there is one.
  [[nodiscard, gnu::noinline]] static bool look_for_kept(MessageContext& context, int source, int tag,
                                                         rma_message_info_t& info);
  /// Takes a CallersReceive out of the matching. Returns null if a message has matched it, or if `posted` has
  /// none.
  [[nodiscard]] static CallersReceive* withdraw(rma_posted_recv_t& posted);
  /// Puts an operation with this request in the place of a CallersReceive. Returns false if no CallersReceive
  /// is there.
  [[nodiscard]] bool replace_callers(rma_posted_recv_t& posted, rma_request_t opened);
  /// Takes a receive that no message has matched out of the matching, and returns it: the caller ends it.
  /// Returns null if a message has matched it, or if no receive has this name and issuer.
  [[nodiscard]] ReceiveOperation* withdraw(std::uint64_t name, const Issuer& issuer, int lost);
  void cancel_send(rma_request_t request);

  // These are in lost_ranks.cpp.
  [[nodiscard]] static std::int64_t monotonic_ms();
  void look_for_ended_ranks();
  /// Looks whether the ranks of other hosts that calls wait for are still there. A rank that ends there says
  /// nothing, and a process that only receives sends it nothing that could fail.
  void probe_awaited_ranks();
  void probe_rank(int rank, bool connects);
  /// Returns for each rank how a send, a receive or a probe waits for it.
  enum class Awaited : std::uint8_t { no, among_others, by_name };
  [[nodiscard]] std::vector<Awaited> awaited_ranks();
  void lose(int rank);
  [[nodiscard]] bool awaits_lost(int source) const;
  /// Returns the rank that is lost, for a text about a receive from `source`, which may be a wildcard.
  [[nodiscard]] int lost_among(int source) const {
    return source == kAnySource ? first_lost_.load(std::memory_order_relaxed) : source;
  }

  Job& job_;
  RemoteAccess& remote_access_;
  PendingOperations& pending_;
  Channel* const channel_;  ///< may be null
  ContextTable contexts_;
  OperationEnds operations_;
  SlotTable<TakenMessage> taken_;
  Inbox inbox_;
  Outbox outbox_;
  Rendezvous rendezvous_;
  ContextNumbers numbers_;
  Arrivals arrivals_;
  bool all_by_ring_ = false;      ///< all ranks are reached by rings
  bool another_by_ring_ = false;  ///< a rank other than this one is reached by rings
  /// For poll_until(). `usual_waits_`: so many of the next waits poll no longer than usual. `lost_patience_`:
  /// its value after the last wait that polled longer and still had to yield. Threads that wait at the same
  /// time may overwrite each other's values, which changes only how long they poll.
  std::atomic<std::uint32_t> usual_waits_ = 0;
  std::atomic<std::uint32_t> lost_patience_ = 0;
  std::atomic<bool> any_lost_ = false;
  std::atomic<bool> posts_otherwise_ = false;  ///< a rank is lost, or there is a progress thread
  std::atomic<int> first_lost_ = -1;
  std::atomic<bool> schedules_ = false;   ///< see schedules_go_on()
  std::atomic<std::uint64_t> looks_ = 0;  ///< counted by progress_once()
  std::uint64_t polls_ = 0;               ///< counted by progress(), which one thread at a time calls
  std::atomic<std::int64_t> looked_ = 0;  ///< monotonic time of the last look_for_ended_ranks(), ms
  std::atomic<std::int64_t> probed_ = 0;  ///< and of the last probe_awaited_ranks()
  /// A question to the device of a rank that has not been answered yet.
  struct SignOfLife {
    std::atomic<bool> asked = false;
    std::atomic<std::uint32_t> heard = 0;  ///< PendingOperations::signs_of() when the rank was heard last
    std::atomic<int> looks = 0;            ///< looks since then that have heard nothing
    std::atomic<bool> tested = false;      ///< rma_iprobe() has looked for a message of the rank
  };
  std::vector<SignOfLife> signs_of_life_;  ///< by rank
  std::atomic<int> probes_ = 0;            ///< calls of probe() that wait
  std::unique_ptr<ProgressThread>
      progress_thread_;  ///< null without RMA_PROGRESS=thread; the last, because it
                         ///< uses the others
};

}  // namespace librma
