#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "mpi.h"
#include "rma/messages.h"
#include "rma/rma.h"
#include "rma/unchecked.h"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/datatypes/noncontiguous.hpp"
#include "twosided_compat/messages/fortran_sections.hpp"
#include "twosided_compat/messages/status.hpp"
#include "twosided_compat/objects/object.hpp"
#include "util/spare_memory.hpp"

namespace librma::mpi {

class Partitioned;

/// The state that a nonblocking or persistent collective operation keeps until its request is freed.
class CollectiveOperation {
 public:
  CollectiveOperation() = default;
  CollectiveOperation(const CollectiveOperation&) = delete;
  CollectiveOperation& operator=(const CollectiveOperation&) = delete;
  virtual ~CollectiveOperation() = default;

  /// Moves the results to their places. Called when the operation has ended well. Returns MPI_SUCCESS, or an
  /// error class if there are no results.
  [[nodiscard]] virtual int store_results() const = 0;
};

inline constinit SpareMemory spare_requests;

/// A nonblocking or persistent operation, from the call that makes it to the one that frees its handle.
class Request : public Object {
 public:
  enum class Type : std::uint8_t {
    kSend,
    kReceive,
    kCollective,
    kGeneralized,
    kFlush,
    kDuplicate,
    kWindow,
    kFile
  };

  /// Says whether the end of a receive is told in `receive`, and whether anything else follows from it.
  enum class Posted : std::uint8_t {
    no,         ///< it has a `pending`, has ended, or is not active
    alone,      ///< nothing follows: there is no Extra
    with_extra  ///< the Extra says what follows
  };

  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): see `receive`
  Request(Type type, Communicator& comm, Posted state = Posted::no)
      : Object(Kind::kRequest), posted(state), type_(type), comm_(comm) {
    comm.add_reference();
  }
  /// An operation on a window or file, whose error handler gets its failures.
  explicit Request(ErrorHandlerOwner& owner, Type type = Type::kWindow);
  ~Request() {
    if (is_posted()) [[unlikely]]
      give_up_posted();
    comm_.remove_reference();
  }
  /// Memory for requests comes from a list of those that were freed: a program makes and frees millions.
  [[nodiscard]] static void* operator new(std::size_t bytes) { return spare_requests.take(bytes); }
  static void operator delete(void* memory) noexcept { spare_requests.give(memory); }

  [[nodiscard]] Type type() const { return type_; }
  /// Returns the communicator of the operation, or MPI_COMM_SELF if it has none.
  [[nodiscard]] Communicator& comm() const { return comm_; }
  /// Returns the object whose error handler gets the operation's failure.
  [[nodiscard]] ErrorHandlerOwner& owner() const {
    return extra_ != nullptr && extra_->owner != nullptr ? *extra_->owner : comm_;
  }

  /// librma's request. RMA_REQUEST_NULL if the operation has ended, or a persistent one is not active.
  rma_request_t pending = RMA_REQUEST_NULL;
  // These are written by one store.
  Posted posted = Posted::no;
  bool active = true;  ///< false: a persistent request that was not started, or has ended and was waited for
  bool ended = false;  ///< the operation has ended, with its result in `code` and `cancelled`
  bool cancelled = false;
  int code = MPI_SUCCESS;
  bool proc_null = false;  ///< a receive from MPI_PROC_NULL

  /// A receive of contiguous data, and the message of every receive that has ended. Of an operation on a file
  /// only the number of bytes counts. Nothing is written there before: most of it is librma's.
  rma_posted_recv_t receive;  // NOLINT(cppcoreguidelines-pro-type-member-init)

  /// Keeps a datatype of the program, which may be freed while the request needs it.
  void keep_datatype(MPI_Datatype type);

  /// Data that this library packs, because librma cannot describe where they lie (noncontiguous.hpp).
  struct Packed {
    PackMemory memory;  ///< null if librma moves the data from or to their places
    Buffer buffer;      ///< of a receive: where the data go
  };
  /// A generalized request's callbacks; see generalized.cpp.
  struct Generalized {
    MPI_Grequest_query_function* query = nullptr;
    MPI_Grequest_free_function* free = nullptr;
    MPI_Grequest_cancel_function* cancel = nullptr;
    void* extra = nullptr;
    std::atomic<bool> complete = false;
    /// How many of the two have begun: MPI_Grequest_complete and MPI_Request_free. The second one ends the
    /// request.
    std::atomic<int> ends = 0;
  };
  /// The send of MPI_Isendrecv, beside the receive that the request is otherwise.
  struct SendAndReceive {
    rma_request_t send = RMA_REQUEST_NULL;  ///< RMA_REQUEST_NULL if the send has ended
    PackMemory copy;                        ///< a packed copy of the data to send; null if none is needed
    Packed received;                        ///< of the receive
  };
  /// Tells whether an operation without a librma request of its own has ended, such as MPI_Buffer_iflush.
  using HasEnded = std::function<bool()>;
  /// The kind of an operation, unless it is one message of contiguous data, with the state that it needs.
  using Operation = std::variant<std::monostate, Packed, SendAndReceive, Generalized, HasEnded,
                                 std::shared_ptr<Partitioned>, std::unique_ptr<CollectiveOperation>>;
  /// The members that sends and receives of contiguous data lack, unless they are persistent. They are most
  /// requests, so making and freeing one of them does not touch any of this.
  struct Extra {
    Extra();
    ~Extra();
    Extra(const Extra&) = delete;
    Extra& operator=(const Extra&) = delete;

    Operation operation;
    /// Starts a persistent request; empty if the request is not persistent.
    std::function<int(Request&)> start;
    /// Copies of Fortran's array sections. A request that is not persistent stores what has arrived as it
    /// ends.
    std::unique_ptr<StagedData> staged;
    ErrorHandlerOwner* owner = nullptr;  ///< the window or file of an operation; holds a reference
    Datatype* kept_type = nullptr;       ///< see keep_datatype(); holds a reference
  };
  /// Returns the request's Extra, which it makes when it is first needed.
  [[nodiscard]] Extra& extra() {
    if (extra_ == nullptr) extra_ = std::make_unique<Extra>();
    if (posted == Posted::alone) posted = Posted::with_extra;
    return *extra_;
  }
  /// Says that the operation is a `Kind`, which it makes of the arguments unless it is one already.
  template <class Kind, class... Arguments>
  Kind& become(Arguments&&... arguments) {
    Operation& operation = extra().operation;
    if (Kind* const already = std::get_if<Kind>(&operation); already != nullptr) return *already;
    return operation.emplace<Kind>(std::forward<Arguments>(arguments)...);
  }
  /// Returns what the operation is, or null if it is no `Kind`.
  template <class Kind>
  [[nodiscard]] Kind* as() const {
    return extra_ != nullptr ? std::get_if<Kind>(&extra_->operation) : nullptr;
  }
  [[nodiscard]] Generalized* generalized() const { return as<Generalized>(); }
  [[nodiscard]] Partitioned* partitioned() const {
    const auto* const partitioned = as<std::shared_ptr<Partitioned>>();
    return partitioned != nullptr ? partitioned->get() : nullptr;
  }
  [[nodiscard]] SendAndReceive* exchange() const { return as<SendAndReceive>(); }
  [[nodiscard]] StagedData* staged() const { return extra_ ? extra_->staged.get() : nullptr; }

  [[nodiscard]] bool is_persistent() const { return extra_ && extra_->start; }
  /// Returns whether only polling tells that the operation has ended, because librma has no request of it.
  [[nodiscard]] bool is_polled() const {
    return extra_ != nullptr &&
           (generalized() != nullptr || partitioned() != nullptr || as<HasEnded>() != nullptr);
  }
  /// Polls such an operation. Returns whether it has ended.
  [[nodiscard]] bool poll_itself();
  /// Returns librma's request that must end before this one can: the send of an exchange comes first.
  [[nodiscard]] rma_request_t& awaited() {
    SendAndReceive* const both = exchange();
    return both != nullptr && both->send != RMA_REQUEST_NULL ? both->send : pending;
  }
  /// Returns whether it is the posted receive that must end.
  [[nodiscard]] bool awaits_posted() { return is_posted() && &awaited() == &pending; }
  /// Says that librma's request is over if the call that started it has ended it already.
  void end_if_complete() {
    if (pending != RMA_REQUEST_COMPLETE) return;
    pending = RMA_REQUEST_NULL;
    ended = true;
  }
  /// Records that rma_wait or rma_test has returned `status` for `part`, which was awaited(). The operation
  /// has ended when nothing else is awaited.
  void end(rma_request_t& part, rma_status_t status);
  /// Returns whether the operation has ended or is not active, as far as that can be seen without a call.
  [[nodiscard]] bool is_over() {
    if (ended || !active) return true;
    if (!has_come()) return false;
    posted = Posted::no;
    ended = true;
    return true;
  }
  [[nodiscard]] bool is_posted() const { return posted != Posted::no; }
  /// Says that the receive is posted, and its end is told in `receive`.
  void become_posted() { posted = extra_ == nullptr ? Posted::alone : Posted::with_extra; }
  /// Returns whether this is a posted receive from whose end nothing follows.
  [[nodiscard, gnu::always_inline]] bool is_posted_alone() const { return posted == Posted::alone; }
  /// Returns whether this is a posted receive that has ended well and from whose end nothing follows.
  [[nodiscard, gnu::always_inline]] bool has_come() const {
    return is_posted_alone() && rma_posted_ended(&receive) == RMA_POSTED_WELL;
  }
  /// Records that the posted receive has ended.
  void end_posted() {
    posted = Posted::no;
    end(pending, receive.status == RMA_SUCCESS ? RMA_SUCCESS : rma_posted_wait(&receive));
  }
  /// Gives the posted receive a `pending`, so that it can be waited for together with other operations.
  /// Returns false if the receive has ended meanwhile.
  [[nodiscard]] bool open_pending();
  /// Ends the use of a request that has_come(), and makes its handle null. Returns false, and has done
  /// nothing, if that needs more than a few instructions.
  [[nodiscard, gnu::always_inline]] static bool consume_come(MPI_Request& handle, Request& request,
                                                             MPI_Status* status) {
    if (!request.is_unnumbered(Kind::kRequest)) [[unlikely]]
      return false;
    if (status != MPI_STATUS_IGNORE) {
      const rma_message_info_t& info = request.receive.info;
      write_status(status, request.comm_.rank_of(info.source), info.tag, static_cast<MPI_Count>(info.bytes));
    }
    Communicator& comm = request.comm_;
    if (!consume_unnumbered(handle, request)) [[unlikely]]
      return false;
    comm.remove_reference();
    return true;
  }
  /// Does the same if no number was drawn for the request, but writes no status, and leaves the request's
  /// reference to the communicator to the caller.
  [[nodiscard, gnu::always_inline]] static bool consume_unnumbered(MPI_Request& handle, Request& request) {
    // The destructor has nothing else to do. The memory's list overwrites the kind.
    if (!spare_requests.give_at_once(&request)) [[unlikely]]
      return false;
    handle = MPI_REQUEST_NULL;
    return true;
  }
  /// Returns whether a wait that ignores the status has only to free the request: it is not persistent, has
  /// ended well, and nothing follows from its end.
  [[nodiscard]] bool is_plain() const { return ended && extra_ == nullptr && code == MPI_SUCCESS; }
  /// Cancels the send or receive, unless it has matched.
  void cancel_message();
  /// Writes the status of an operation that has ended. MPI_ERROR is not touched.
  void describe(MPI_Status* status) const;

 private:
  /// Ends a posted receive that nobody will wait for, because of a failure: librma must not write here later.
  [[gnu::cold]] void give_up_posted();
  /// Moves what an operation with an Extra has brought to where the program wants it.
  void store_results(rma_status_t status);

  const Type type_;
  Communicator& comm_;
  std::unique_ptr<Extra> extra_;
};

/// The request of every send that was over when it was issued, while MPI is initialised. Many handles may
/// name it, so nothing changes it or frees it.
inline constinit Request* sent_request = nullptr;
inline constinit MPI_Request sent_handle = {};  ///< its handle
/// Frees a request that has ended, and makes its handle null.
inline void forget(MPI_Request& handle, Request& request) {
  handle = MPI_REQUEST_NULL;
  if (&request != sent_request) delete &request;
}
/// Make and end the objects above. Called by MPI_Init and MPI_Finalize.
void open_requests(Communicator& self);
void close_requests();

/// Writes the status of a request that is null or not active (MPI 4.1, section 3.7.3).
inline void describe_nothing(MPI_Status* status) { write_empty_status(status); }
/// Writes the status of a receive from MPI_PROC_NULL.
void describe_proc_null(MPI_Status* status);
/// Writes the status of a message that was received or found. The source is a world rank.
void describe_message(MPI_Status* status, const Communicator& comm, const rma_message_info_t& info);

/// Waits for all freed requests that have not ended (MPI_Request_free). Called by MPI_Finalize.
void wait_for_freed_requests();

}  // namespace librma::mpi
