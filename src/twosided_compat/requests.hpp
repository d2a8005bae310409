#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "mpi.h"
#include "rma/messages.h"
#include "rma/rma.h"
#include "twosided_compat/communicator.hpp"
#include "twosided_compat/datatypes.hpp"
#include "twosided_compat/noncontiguous.hpp"
#include "twosided_compat/object.hpp"
#include "twosided_compat/status.hpp"

namespace rma::mpi {

class CollectiveCall;
class Partitioned;

/// A nonblocking or persistent operation, from the call that makes it to the one that frees its handle.
class Request : public Object {
 public:
  enum class Type : std::uint8_t { kSend, kReceive, kCollective, kGeneralized, kFlush, kDuplicate, kWindow };

  Request(Type type, Communicator& comm);
  /// An operation on a window, whose error handler gets its failures.
  explicit Request(ErrorHandlerOwner& window);
  ~Request();
  /// Memory for requests comes from a list of those that were freed: a program makes and frees millions.
  [[nodiscard]] static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;

  [[nodiscard]] Type type() const { return type_; }
  /// Returns the communicator of the operation, or MPI_COMM_SELF if it has none.
  [[nodiscard]] Communicator& comm() const { return comm_; }
  /// Returns the object whose error handler gets the operation's failure.
  [[nodiscard]] ErrorHandlerOwner& owner() const { return window_ != nullptr ? *window_ : comm_; }

  /// librma's request. RMA_REQUEST_NULL if the operation has ended, or a persistent one is not active.
  rma_request_t pending = RMA_REQUEST_NULL;
  rma_message_info_t info = {};  ///< of a receive, once it has ended

  /// Keeps a datatype of the program, which may be freed while the request needs it.
  void keep_datatype(MPI_Datatype type);

  /// Data that this library packs, because librma cannot describe where they lie (noncontiguous.hpp).
  struct Packed {
    PackMemory memory;  ///< null if librma moves the data from or to their places
    Buffer buffer;      ///< of a receive: where the data go
  };
  Packed packed;

  /// Starts a persistent request; empty if the request is not persistent.
  std::function<int(Request&)> start;
  bool active = true;  ///< false: a persistent request that was not started, or has ended and was waited for

  /// The operation has ended. The result is in `code` and `cancelled`.
  bool ended = false;
  int code = MPI_SUCCESS;
  bool cancelled = false;
  bool proc_null = false;  ///< a receive from MPI_PROC_NULL

  /// A generalized request's callbacks; see generalized.cpp.
  struct Generalized {
    MPI_Grequest_query_function* query = nullptr;
    MPI_Grequest_free_function* free = nullptr;
    MPI_Grequest_cancel_function* cancel = nullptr;
    void* extra = nullptr;
    std::atomic<bool> complete = false;
  };
  std::unique_ptr<Generalized> generalized;

  /// Tells whether an operation without a librma request of its own has ended, such as MPI_Buffer_iflush.
  std::function<bool()> has_ended;
  /// Returns whether only polling tells that the operation has ended, because librma has no request of it.
  [[nodiscard]] bool is_polled() const { return generalized != nullptr || has_ended != nullptr; }

  /// A partitioned operation; see partitioned.hpp.
  std::shared_ptr<Partitioned> partitioned;

  /// The send of MPI_Isendrecv, beside the receive that the request is otherwise.
  struct Exchange {
    rma_request_t send = RMA_REQUEST_NULL;  ///< RMA_REQUEST_NULL if the send has ended
    PackMemory copy;                        ///< a packed copy of the data to send; null if none is needed
  };
  std::unique_ptr<Exchange> exchange;
  std::unique_ptr<CollectiveCall> collective;  ///< of a collective call

  /// Returns librma's request that must end before this one can: the send of an exchange comes first.
  [[nodiscard]] rma_request_t& awaited() {
    return exchange != nullptr && exchange->send != RMA_REQUEST_NULL ? exchange->send : pending;
  }
  /// Records that rma_wait or rma_test has returned `status` for `part`, which was awaited(). The operation
  /// has ended when nothing else is awaited.
  void end(rma_request_t& part, rma_status_t status);
  /// Writes the status of an operation that has ended. MPI_ERROR is not touched.
  void describe(MPI_Status* status) const;

 private:
  const Type type_;
  Communicator& comm_;
  ErrorHandlerOwner* window_ = nullptr;  // of an operation on a window; holds a reference
  Datatype* kept_type_ = nullptr;
};

/// The request of every send that was over when it was issued, while MPI is initialised. Many handles may
/// name it, so nothing changes it or frees it.
inline constinit Request* sent_request = nullptr;
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

}  // namespace rma::mpi
