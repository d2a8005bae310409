// Sends in buffered mode, and the buffers that programs attach for them: one for the process, one for each
// session, and one for each communicator.

#include "twosided_compat/messages/buffered_sends.hpp"

#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/messages/send_buffer.hpp"
#include "twosided_compat/messages/sends.hpp"
#include "twosided_compat/objects/session.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// The owner of an attached buffer: a communicator, with the session that it comes from; a session, if `comm`
/// is null; or the process, if there is no session either.
struct Owner {
  const Communicator* comm = nullptr;
  std::uint64_t session = kNoSession;
  auto operator<=>(const Owner&) const = default;  // NOLINT(modernize-use-nullptr): it sees a 0 there
};
Owner owner_of(const Communicator& comm) { return {.comm = &comm, .session = comm.session()}; }
constexpr Owner kProcess;

using Buffers = std::map<Owner, std::shared_ptr<SendBuffer>>;

/// The buffers that are attached.
struct Attached {
  std::mutex lock;
  Buffers buffers;
};
Attached& attached() {
  static Attached* const kAttached =
      new Attached;  // never destroyed: MPI_Finalize may be called by a destructor
  return *kAttached;
}

/// Returns the buffer of this owner, or null.
std::shared_ptr<SendBuffer> buffer_of(const Owner& owner) {
  Attached& all = attached();
  const std::lock_guard guard(all.lock);
  const auto found = all.buffers.find(owner);
  return found != all.buffers.end() ? found->second : nullptr;
}

/// Returns the buffer that a send on this communicator uses, or null: its own one, that of its session, or
/// that of the process, in this order (MPI 4.1, section 3.6).
std::shared_ptr<SendBuffer> buffer_for(const Communicator& comm) {
  if (std::shared_ptr<SendBuffer> own = buffer_of(owner_of(comm)); own != nullptr) return own;
  if (comm.session() != kNoSession) {
    if (std::shared_ptr<SendBuffer> common = buffer_of({.session = comm.session()}); common != nullptr)
      return common;
  }
  return buffer_of(kProcess);
}

/// Takes the buffer of an owner out of the table. Returns null if there is none.
std::shared_ptr<SendBuffer> take_buffer(const Owner& owner) {
  Attached& all = attached();
  const std::lock_guard guard(all.lock);
  auto taken = all.buffers.extract(owner);
  return taken.empty() ? nullptr : std::move(taken.mapped());
}

int attach(const Owner& owner, void* memory, MPI_Count size) {
  if (size < 0) return failure(MPI_ERR_ARG, fmt::format("size {} is negative", size));
  if (memory == nullptr && size > 0) return failure(MPI_ERR_BUFFER, "the buffer is null");
  Attached& all = attached();
  const std::lock_guard guard(all.lock);
  auto made = std::make_shared<SendBuffer>(memory, static_cast<std::size_t>(size));
  if (!all.buffers.emplace(owner, std::move(made)).second) {
    return failure(MPI_ERR_BUFFER, "a buffer is attached already");
  }
  return MPI_SUCCESS;
}

int detach(const Owner& owner, void* address, MPI_Count* size) {
  if (address == nullptr || size == nullptr) return failure(MPI_ERR_ARG, "buffer_addr or size is null");
  const std::shared_ptr<SendBuffer> buffer = take_buffer(owner);
  if (buffer == nullptr) return failure(MPI_ERR_BUFFER, "no buffer is attached");
  const int code = buffer->flush();
  *static_cast<void**>(address) = buffer->memory();
  *size = static_cast<MPI_Count>(buffer->bytes());
  return code;
}

int flush(const Owner& owner) {
  const std::shared_ptr<SendBuffer> buffer = buffer_of(owner);
  return buffer != nullptr ? buffer->flush() : MPI_SUCCESS;
}

/// Makes a request that ends when the messages which lie in the owner's buffer are sent. Its errors are those
/// of `comm`.
int begin_flush(const Owner& owner, Communicator& comm, MPI_Request* made) {
  auto request = std::make_unique<Request>(Request::Type::kFlush, comm);
  const std::shared_ptr<SendBuffer> buffer = buffer_of(owner);
  request->ended = buffer == nullptr;
  if (buffer != nullptr) {
    request->become<Request::HasEnded>([buffer, last = buffer->newest()] { return buffer->is_sent(last); });
  }
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

/// Does the same for an owner that is no communicator.
int begin_flush_without_comm(const Owner& owner, MPI_Request* made) {
  auto* const self = find<Communicator>(MPI_COMM_SELF);
  if (self == nullptr) return failure(MPI_ERR_OTHER, "another thread has finalized MPI");
  return begin_flush(owner, *self, made);
}

/// Sends a message whose arguments were checked.
int send_buffered(const Send& send, int dest, int tag) {
  if (dest == MPI_PROC_NULL) return MPI_SUCCESS;
  const std::shared_ptr<SendBuffer> buffer = buffer_for(*send.comm);
  if (buffer == nullptr) return failure(MPI_ERR_BUFFER, "no buffer is attached for buffered sends");
  return buffer->send(send, dest, tag);
}

}  // namespace

void detach_buffer_of(const Communicator& comm) {
  // The communicator's message of failure has no place to go: the call that frees it has not failed.
  if (const auto buffer = take_buffer(owner_of(comm)); buffer != nullptr) static_cast<void>(buffer->flush());
}

void detach_buffers_of_session(std::uint64_t session) {
  Buffers taken;
  {
    Attached& all = attached();
    const std::lock_guard guard(all.lock);
    for (auto next = all.buffers.begin(); next != all.buffers.end();) {
      const auto entry = next++;
      if (entry->first.session == session) taken.insert(all.buffers.extract(entry));
    }
  }
  for (const auto& [owner, buffer] : taken) static_cast<void>(buffer->flush());
}

void detach_all_buffers() {
  Buffers taken;
  {
    Attached& all = attached();
    const std::lock_guard guard(all.lock);
    taken.swap(all.buffers);
  }
  for (const auto& [owner, buffer] : taken) static_cast<void>(buffer->flush());
}

int bsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  Send send;
  RMA_TRY(find_send(buf, count, datatype, dest, tag, comm, send));
  return send_buffered(send, dest, tag);
}

// The message is in the buffer when the call returns, so the send is over.
int ibsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
           MPI_Request* made) {
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(bsend(buf, count, datatype, dest, tag, comm));
  *made = sent_request->handle<MPI_Request>();
  return MPI_SUCCESS;
}

int bsend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* made) {
  Send send;
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(find_send(buf, count, datatype, dest, tag, comm, send));
  auto request = std::make_unique<Request>(Request::Type::kSend, *send.comm);
  request->keep_datatype(datatype);
  request->active = false;
  request->extra().start = [send, dest, tag](Request& self) {
    const int code = send_buffered(send, dest, tag);
    self.ended = code == MPI_SUCCESS;
    return code;
  };
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

int buffer_attach(void* buffer, MPI_Count size) { return attach(kProcess, buffer, size); }
int buffer_detach(void* buffer_addr, MPI_Count* size) { return detach(kProcess, buffer_addr, size); }
int buffer_flush() { return flush(kProcess); }

int buffer_iflush(MPI_Request* request) {
  if (request == nullptr) return failure(MPI_ERR_ARG, "request is null");
  return begin_flush_without_comm(kProcess, request);
}

int comm_attach_buffer(MPI_Comm handle, void* buffer, MPI_Count size) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  return attach(owner_of(*comm), buffer, size);
}

int comm_detach_buffer(MPI_Comm handle, void* buffer_addr, MPI_Count* size) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  return detach(owner_of(*comm), buffer_addr, size);
}

int comm_flush_buffer(MPI_Comm handle) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  return flush(owner_of(*comm));
}

int comm_iflush_buffer(MPI_Comm handle, MPI_Request* request) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  if (request == nullptr) return failure(MPI_ERR_ARG, "request is null");
  return begin_flush(owner_of(*comm), *comm, request);
}

int session_attach_buffer(MPI_Session handle, void* buffer, MPI_Count size) {
  RMA_TRY_ASSIGN(session, find_session(handle));
  return attach({.session = session->number()}, buffer, size);
}

int session_detach_buffer(MPI_Session handle, void* buffer_addr, MPI_Count* size) {
  RMA_TRY_ASSIGN(session, find_session(handle));
  return detach({.session = session->number()}, buffer_addr, size);
}

int session_flush_buffer(MPI_Session handle) {
  RMA_TRY_ASSIGN(session, find_session(handle));
  return flush({.session = session->number()});
}

int session_iflush_buffer(MPI_Session handle, MPI_Request* request) {
  RMA_TRY_ASSIGN(session, find_session(handle));
  if (request == nullptr) return failure(MPI_ERR_ARG, "request is null");
  return begin_flush_without_comm({.session = session->number()}, request);
}

}  // namespace librma::mpi
