#pragma once

#include <cstddef>
#include <new>

#include "mpi.h"
#include "rings/send_port.hpp"
#include "rma/unchecked.h"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/messages/status.hpp"
#include "twosided_compat/objects/object.hpp"

// The short ways of the calls that move a few bytes. Each does the whole call and returns true if all
// arguments are plainly right and nothing has to be waited for. Otherwise it returns false and has done
// nothing: the call then takes the other way, which checks the arguments again and reports what is wrong.
//
// They are inlined into the entry points, and all that they call is inlined, too, except for librma's
// functions. They need not ask whether MPI runs: before MPI_Init and after MPI_Finalize no handle names a
// communicator.

namespace librma::mpi {

/// Longer messages take the other way.
inline constexpr std::size_t kMostAtOnce = 8192;

/// The communicator and the memory of a message, if they are plainly right.
struct ShortMessage {
  Communicator* comm = nullptr;
  std::size_t bytes = 0;

  /// Returns false if that is not sure.
  [[nodiscard, gnu::always_inline]] bool find(const void* address, MPI_Count count, MPI_Datatype type,
                                              MPI_Comm handle) {
    return find_bytes(address, count, type) && find_communicator(handle);
  }
  [[nodiscard, gnu::always_inline]] bool find_bytes(const void* address, MPI_Count count, MPI_Datatype type) {
    const std::size_t size = dense_size(type);
    MPI_Count product = 0;  // of a negative count, a negative number, which is a large size
    if (size == 0 || address == nullptr ||
        __builtin_mul_overflow(count, static_cast<MPI_Count>(size), &product)) [[unlikely]] {
      return false;
    }
    bytes = static_cast<std::size_t>(product);
    return true;
  }
  [[nodiscard, gnu::always_inline]] bool find_communicator(MPI_Comm handle) {
    comm = mpi::find<Communicator>(handle);
    return comm != nullptr;
  }
};

/// Sends a message of a few bytes by the port of its receiver (rings/send_port.hpp). No call of librma lies
/// in between, so the entry point keeps its arguments in the registers in which it got them. Calls sent() as
/// soon as the message is on its way. Returns false if it has done nothing.
template <class Sent>
[[nodiscard, gnu::always_inline]] inline bool send_by_port(const void* address, MPI_Count count,
                                                           MPI_Datatype type, int dest, int tag,
                                                           MPI_Comm handle, const Sent& sent) {
  ShortMessage message;
  // A longer message learns first that it takes the other way.
  if (!message.find_bytes(address, count, type) || message.bytes > RingLine::kBody) return false;
  // Pairs with the store in rma_init.
  auto* const ports = reinterpret_cast<SendPort*>(__atomic_load_n(&rma_send_ports, __ATOMIC_ACQUIRE));
  if (ports == nullptr || !message.find_communicator(handle)) [[unlikely]]
    return false;
  const Communicator& comm = *message.comm;
  if (!comm.has_peer(dest) || tag < 0) [[unlikely]]
    return false;
  const int rank = comm.world_rank(dest);
  switch (ports[static_cast<unsigned>(rank)].try_send(
      {.context = comm.context(), .tag = tag}, static_cast<const std::byte*>(address), message.bytes)) {
    [[likely]] case SendPort::Sent::yes : sent();
    return true;
    case SendPort::Sent::wake:
      sent();  // before the call, so that nothing need be kept for after it
      rma_wake_receiver(rank);
      return true;
    case SendPort::Sent::no:
      break;
  }
  return false;
}

[[nodiscard, gnu::always_inline]] inline bool inlined_send(const void* address, MPI_Count count,
                                                           MPI_Datatype type, int dest, int tag,
                                                           MPI_Comm handle) {
  return send_by_port(address, count, type, dest, tag, handle, [] {});
}

[[nodiscard, gnu::always_inline]] inline bool inlined_isend(const void* address, MPI_Count count,
                                                            MPI_Datatype type, int dest, int tag,
                                                            MPI_Comm handle, MPI_Request* request) {
  return request != nullptr &&
         send_by_port(address, count, type, dest, tag, handle, [request] { *request = sent_handle; });
}

[[nodiscard, gnu::always_inline]] inline bool short_send(const void* address, MPI_Count count,
                                                         MPI_Datatype type, int dest, int tag,
                                                         MPI_Comm handle) {
  ShortMessage message;
  if (!message.find(address, count, type, handle) || message.bytes > kMostAtOnce) [[unlikely]]
    return false;
  const Communicator& comm = *message.comm;
  if (!comm.has_peer(dest) || tag < 0) [[unlikely]]
    return false;
  return rma_try_send(address, message.bytes, comm.world_rank(dest), tag, comm.context()) != 0;
}

[[nodiscard, gnu::always_inline]] inline bool short_isend(const void* address, MPI_Count count,
                                                          MPI_Datatype type, int dest, int tag,
                                                          MPI_Comm handle, MPI_Request* request) {
  if (request == nullptr || !short_send(address, count, type, dest, tag, handle)) [[unlikely]]
    return false;
  *request = sent_handle;
  return true;
}

[[nodiscard, gnu::always_inline]] inline bool short_recv(void* address, MPI_Count count, MPI_Datatype type,
                                                         int source, int tag, MPI_Comm handle,
                                                         MPI_Status* status) {
  ShortMessage message;
  if (!message.find(address, count, type, handle) || static_cast<std::ptrdiff_t>(message.bytes) < 0)
      [[unlikely]] {
    return false;
  }
  Communicator& comm = *message.comm;
  if (!comm.has_peer(source) || tag < 0) [[unlikely]]
    return false;
  rma_receive_context_t* const context = comm.find_receive_context();
  if (context == nullptr) [[unlikely]]
    return false;
  rma_message_info_t info;  // NOLINT(cppcoreguidelines-pro-type-member-init): librma's
  if (rma_try_recv_in(address, message.bytes, comm.world_rank(source), tag, context,
                      status != MPI_STATUS_IGNORE ? &info : nullptr) == 0) {
    return false;
  }
  if (status != MPI_STATUS_IGNORE) write_status(status, source, tag, static_cast<MPI_Count>(info.bytes));
  return true;
}

/// Posts a receive without wildcards in a context that is known, and stores the result of the call. librma
/// does the last step, to which the entry point jumps, so that it saves no registers for after it. It never
/// waits, so no report of a wait needs the entry point's frame.
[[nodiscard, gnu::always_inline]] inline bool inlined_irecv(void* address, MPI_Count count, MPI_Datatype type,
                                                            int source, int tag, MPI_Comm handle,
                                                            MPI_Request* made, int& result) {
  ShortMessage message;
  if (made == nullptr || count < 0 || !message.find(address, count, type, handle)) [[unlikely]]
    return false;
  Communicator& comm = *message.comm;
  // It stays, and is loaded again below rather than kept: the arguments take the registers until then.
  if (!comm.has_peer(source) || tag < 0 || comm.receive_context() == nullptr) [[unlikely]]
    return false;
  void* const memory = spare_requests.take_at_once();
  if (memory == nullptr) [[unlikely]]
    return false;
  auto* const request = ::new (memory) Request(Request::Type::kReceive, comm, Request::Posted::alone);
  request->receive.address = address;
  request->receive.bytes = message.bytes;
  if constexpr (kIsAddress<MPI_Request>) {
    *made = request->made_handle<MPI_Request>();  // no request is predefined
  } else {
    try {
      *made = request->made_handle<MPI_Request>();
    } catch (const std::bad_alloc&) {  // a handle that is an integer needs a number
      request->posted = Request::Posted::no;
      delete request;
      return false;
    }
  }
  static_assert(MPI_SUCCESS == RMA_SUCCESS);
  result = rma_post_recv_in(&request->receive, comm.world_rank(source), tag, comm.receive_context());
  return true;
}

/// Finds the request of a handle. Returns null if the handle needs a further look.
[[nodiscard, gnu::always_inline]] inline Request* short_request(const MPI_Request* handle) {
  if (handle == nullptr || is_predefined(*handle)) [[unlikely]]
    return nullptr;
  return find<Request>(*handle);
}

/// Ends a receive that has come, if the program ignores the status, and stores the result of the call. It
/// calls no function, except that the last user of a communicator jumps to what deletes it. So the entry
/// point saves no registers and makes no frame.
template <class Handle>
[[nodiscard, gnu::always_inline]] inline bool inlined_wait(Handle* handle, MPI_Status* status, int& result) {
  if constexpr (kIsAddress<Handle>) {
    if (status != MPI_STATUS_IGNORE || handle == nullptr || is_predefined(*handle)) [[unlikely]]
      return false;
    // As find() does, which compares the kind alone.
    auto* const request = static_cast<Request*>(reinterpret_cast<Object*>(*handle));
    if (!request->is_unnumbered(Kind::kRequest) || !request->has_come()) [[unlikely]]
      return false;
    Communicator& comm = request->comm();
    if (!Request::consume_unnumbered(*handle, *request)) [[unlikely]]
      return false;
    result = comm.has_lost_last_reference() ? Communicator::delete_last(&comm) : MPI_SUCCESS;
    return true;
  } else {
    return false;  // the request of a handle that is an integer has a number
  }
}

[[nodiscard, gnu::always_inline]] inline bool short_wait(MPI_Request* handle, MPI_Status* status) {
  Request* const request = short_request(handle);
  if (request == nullptr || !request->has_come()) [[unlikely]]
    return false;
  return Request::consume_come(*handle, *request, status);
}

[[nodiscard, gnu::always_inline]] inline bool short_test(MPI_Request* handle, int* flag, MPI_Status* status) {
  Request* const request = short_request(handle);
  if (request == nullptr || flag == nullptr || !request->is_posted_alone()) [[unlikely]]
    return false;
  if (rma_posted_ended(&request->receive) == 0 && rma_posted_test(&request->receive) == 0) {
    *flag = 0;
    return true;
  }
  if (request->receive.status != RMA_SUCCESS || !Request::consume_come(*handle, *request, status))
      [[unlikely]]
    return false;
  *flag = 1;
  return true;
}

[[nodiscard, gnu::always_inline]] inline bool short_iprobe(int source, int tag, MPI_Comm handle, int* flag,
                                                           MPI_Status* status) {
  auto* const comm = find<Communicator>(handle);
  if (comm == nullptr || flag == nullptr || !comm->has_peer(source) || tag < 0) [[unlikely]]
    return false;
  rma_receive_context_t* const context = comm->find_receive_context();
  if (context == nullptr) [[unlikely]]
    return false;
  rma_message_info_t info;  // NOLINT(cppcoreguidelines-pro-type-member-init): librma's
  const int found = rma_try_probe(comm->world_rank(source), tag, context, &info);
  if (found < 0) [[unlikely]]
    return false;
  *flag = found;
  if (found != 0) write_status(status, source, tag, static_cast<MPI_Count>(info.bytes));
  return true;
}

}  // namespace librma::mpi
