// Sends in buffered mode, at any number of ranks: each rank sends to the one behind it.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::Ring;

/// A message of this size is sent only when its receive has been posted.
constexpr int kLong = 1 << 18;
constexpr int kTag = 3;
constexpr int kGo = 4;

std::vector<unsigned char> content(int length, int rank) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(i * 11 + static_cast<std::size_t>(rank) * 37 + bytes.size());
  }
  return bytes;
}

/// Receives a message of so many bytes from the rank before, and checks it.
void receive(const Ring& ring, int length) {
  std::vector<unsigned char> in(static_cast<std::size_t>(length) + 1);
  MPI_Status status;
  int count = -1;
  SUCCEEDS(MPI_Recv(in.data(), length + 1, MPI_BYTE, ring.previous, kTag, ring.comm, &status));
  SUCCEEDS(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK(count == length);
  in.resize(static_cast<std::size_t>(length));
  CHECK(in == content(length, ring.previous));
}

void modes(const Ring& ring) {
  std::vector<char> memory(3 * (kLong + MPI_BSEND_OVERHEAD));
  SUCCEEDS(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
  for (const int length : {0, 1, 48, 4000, 8193, 70000, kLong}) {
    const std::vector<unsigned char> out = content(length, ring.rank);
    std::vector<unsigned char> reused = out;
    MPI_Request request = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Bsend(reused.data(), length, MPI_BYTE, ring.next, kTag, ring.comm));
    std::fill(reused.begin(), reused.end(), 0xee);
    reused = out;
    SUCCEEDS(MPI_Ibsend(reused.data(), length, MPI_BYTE, ring.next, kTag, ring.comm, &request));
    int done = 0;
    SUCCEEDS(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    CHECK(done == 1 && request == MPI_REQUEST_NULL);
    std::fill(reused.begin(), reused.end(), 0xee);
    reused = out;
    SUCCEEDS(MPI_Bsend_init(reused.data(), length, MPI_BYTE, ring.next, kTag, ring.comm, &request));
    SUCCEEDS(MPI_Start(&request));
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    std::fill(reused.begin(), reused.end(), 0xee);
    for (int i = 0; i < 3; ++i) receive(ring, length);
    SUCCEEDS(
        MPI_Buffer_flush());  // the next rank may not have received the three yet; there is room for three
    reused = out;
    SUCCEEDS(MPI_Start(&request));
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    SUCCEEDS(MPI_Request_free(&request));
    receive(ring, length);
    SUCCEEDS(MPI_Buffer_flush());
  }
  SUCCEEDS(MPI_Bsend(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, ring.comm));
  void* detached = nullptr;
  int size = 0;
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &size));
  CHECK(detached == memory.data() && size == static_cast<int>(memory.size()));
}

/// The buffer holds what MPI_BSEND_OVERHEAD promises, and not more.
void room(const Ring& ring) {
  constexpr int kMessages = 3;
  std::vector<char> memory(kMessages * (kLong + MPI_BSEND_OVERHEAD));
  const std::vector<unsigned char> out = content(kLong, ring.rank);
  SUCCEEDS(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
  MPI_Comm_set_errhandler(ring.comm, MPI_ERRORS_RETURN);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kMessages; ++i)
      SUCCEEDS(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, ring.comm));
    // Nobody receives before the barrier, so all messages still lie in the buffer.
    CHECK(MPI_Bsend(out.data(), 1, MPI_BYTE, ring.next, kTag, ring.comm) == MPI_ERR_BUFFER);
    SUCCEEDS(MPI_Barrier(ring.comm));
    receive(ring, kLong);
    receive(ring, kLong);
    receive(ring, kLong);
    SUCCEEDS(MPI_Buffer_flush());
  }
  CHECK(MPI_Bsend(out.data(), kMessages * (kLong + MPI_BSEND_OVERHEAD), MPI_BYTE, ring.next, kTag,
                  ring.comm) == MPI_ERR_BUFFER);
  MPI_Comm_set_errhandler(ring.comm, MPI_ERRORS_ARE_FATAL);
  char* detached = nullptr;
  int size = 0;
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &size));
}

/// Places become free in another order than they were taken, and are used again.
void gaps(const Ring& ring) {
  constexpr int kSlot = kLong / 4;
  std::vector<char> memory(4 * (kSlot + MPI_BSEND_OVERHEAD));
  const std::vector<unsigned char> out = content(kSlot, ring.rank);
  SUCCEEDS(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
  const auto send = [&](int tag) {
    SUCCEEDS(MPI_Bsend(out.data(), kSlot, MPI_BYTE, ring.next, tag, ring.comm));
  };
  const auto take = [&](int tag) {
    std::vector<unsigned char> in(kSlot);
    SUCCEEDS(MPI_Recv(in.data(), kSlot, MPI_BYTE, ring.previous, tag, ring.comm, MPI_STATUS_IGNORE));
    CHECK(in == content(kSlot, ring.previous));
  };
  for (const int tag : {10, 11, 12, 13}) send(tag);
  for (const int tag : {11, 13}) take(tag);
  SUCCEEDS(MPI_Barrier(ring.comm));  // the rank behind has received messages 11 and 13
  for (const int tag : {14, 15}) send(tag);
  for (const int tag : {15, 10, 14, 12}) take(tag);
  char* detached = nullptr;
  int size = 0;
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &size));
}

/// MPI_Buffer_iflush ends when the messages that lay in the buffer are sent, and not before.
void flushes(const Ring& ring) {
  std::vector<char> memory(2 * (kLong + MPI_BSEND_OVERHEAD));
  const std::vector<unsigned char> out = content(kLong, ring.rank);
  SUCCEEDS(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int flag = -1;
  int index = -1;
  SUCCEEDS(MPI_Buffer_iflush(&requests[0]));
  SUCCEEDS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  CHECK(requests[0] == MPI_REQUEST_NULL);
  SUCCEEDS(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, ring.comm));
  SUCCEEDS(MPI_Buffer_iflush(&requests[0]));
  SUCCEEDS(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
  CHECK(flag == 0);
  char token = 0;
  SUCCEEDS(MPI_Irecv(&token, 1, MPI_CHAR, ring.previous, kGo, ring.comm, &requests[1]));
  SUCCEEDS(MPI_Send(&token, 1, MPI_CHAR, ring.next, kGo, ring.comm));
  SUCCEEDS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  receive(ring, kLong);
  MPI_Status status;
  SUCCEEDS(MPI_Waitany(2, requests.data(), &index, &status));
  CHECK(index == 0 && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
  char* detached = nullptr;
  int size = 0;
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &size));
}

/// The program may use its memory again when MPI_Buffer_detach has returned.
void detach_waits(const Ring& ring) {
  std::vector<char> memory(kLong + MPI_BSEND_OVERHEAD);
  const std::vector<unsigned char> out = content(kLong, ring.rank);
  std::vector<unsigned char> in(kLong);
  for (int round = 0; round < 5; ++round) {
    SUCCEEDS(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
    SUCCEEDS(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, ring.comm));
    MPI_Request request = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Irecv(in.data(), kLong, MPI_BYTE, ring.previous, kTag, ring.comm, &request));
    char* detached = nullptr;
    int size = 0;
    SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &size));
    std::memset(memory.data(), 0xdd, memory.size());
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == content(kLong, ring.previous));
  }
}

/// A communicator's own buffer serves its messages only.
void of_communicators(const Ring& world) {
  MPI_Comm comm = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(world.comm, &comm));
  const Ring ring(comm);
  std::vector<char> memory(kLong + MPI_BSEND_OVERHEAD);
  const std::vector<unsigned char> out = content(kLong, ring.rank);
  MPI_Comm_set_errhandler(world.comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(MPI_Bsend(out.data(), 1, MPI_BYTE, ring.next, kTag, comm) == MPI_ERR_BUFFER);
  SUCCEEDS(MPI_Comm_attach_buffer(comm, memory.data(), static_cast<int>(memory.size())));
  CHECK(MPI_Bsend(out.data(), 1, MPI_BYTE, world.next, kTag, world.comm) == MPI_ERR_BUFFER);
  SUCCEEDS(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, comm));
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Comm_iflush_buffer(comm, &request));
  receive(ring, kLong);
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Comm_flush_buffer(comm));
  void* detached = nullptr;
  int size = 0;
  SUCCEEDS(MPI_Comm_detach_buffer(comm, static_cast<void*>(&detached), &size));
  CHECK(detached == memory.data() && size == static_cast<int>(memory.size()));
  CHECK(MPI_Comm_detach_buffer(comm, static_cast<void*>(&detached), &size) == MPI_ERR_BUFFER);

  // The call that frees the communicator waits for its messages.
  SUCCEEDS(MPI_Comm_attach_buffer(comm, memory.data(), static_cast<int>(memory.size())));
  SUCCEEDS(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, comm));
  std::vector<unsigned char> in(kLong);
  SUCCEEDS(MPI_Irecv(in.data(), kLong, MPI_BYTE, ring.previous, kTag, comm, &request));
  SUCCEEDS(MPI_Comm_free(&comm));
  std::memset(memory.data(), 0xdd, memory.size());
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(in == content(kLong, ring.previous));
  MPI_Comm_set_errhandler(world.comm, MPI_ERRORS_ARE_FATAL);
}

/// Makes the communicator of a session's groups: all processes, from the difference, union and inclusion of
/// groups.
MPI_Comm comm_of(MPI_Session session) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group none = MPI_GROUP_NULL;
  MPI_Group both = MPI_GROUP_NULL;
  MPI_Group range = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  int ranges[1][3] = {{0, 0, 1}};  // NOLINT: MPI takes arrays
  SUCCEEDS(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
  SUCCEEDS(MPI_Group_size(all, &ranges[0][1]));
  --ranges[0][1];
  SUCCEEDS(MPI_Group_difference(all, all, &none));
  SUCCEEDS(MPI_Group_union(none, all, &both));
  SUCCEEDS(MPI_Group_range_incl(both, 1, ranges, &range));
  SUCCEEDS(MPI_Comm_create_from_group(range, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  for (MPI_Group* group : {&all, &none, &both, &range}) SUCCEEDS(MPI_Group_free(group));
  return comm;
}

/// A session's buffer serves the messages of its communicators, and of those that are made from them.
void of_sessions(const Ring& world) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session other = MPI_SESSION_NULL;
  SUCCEEDS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  SUCCEEDS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
  MPI_Comm first = comm_of(session);
  MPI_Comm foreign = comm_of(other);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm created = MPI_COMM_NULL;
  MPI_Comm second = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_group(first, &group));
  SUCCEEDS(MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &created));
  SUCCEEDS(MPI_Group_free(&group));
  SUCCEEDS(MPI_Comm_split(created, 0, 0, &second));
  const Ring ring(second);
  std::vector<char> memory(kLong + MPI_BSEND_OVERHEAD);
  const std::vector<unsigned char> out = content(kLong, ring.rank);
  MPI_Comm_set_errhandler(world.comm, MPI_ERRORS_RETURN);
  SUCCEEDS(MPI_Session_attach_buffer(session, memory.data(), static_cast<int>(memory.size())));
  CHECK(MPI_Session_attach_buffer(session, memory.data(), 8) == MPI_ERR_BUFFER);
  CHECK(MPI_Bsend(out.data(), 1, MPI_BYTE, world.next, kTag, world.comm) == MPI_ERR_BUFFER);
  CHECK(MPI_Bsend(out.data(), 1, MPI_BYTE, ring.next, kTag, foreign) == MPI_ERR_BUFFER);
  SUCCEEDS(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, second));
  // The two communicators have one buffer, and it is full.
  CHECK(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, first) == MPI_ERR_BUFFER);
  MPI_Request request = MPI_REQUEST_NULL;
  int flag = -1;
  SUCCEEDS(MPI_Session_iflush_buffer(session, &request));
  SUCCEEDS(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK(flag == 0);
  SUCCEEDS(MPI_Barrier(second));
  receive(ring, kLong);
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Session_flush_buffer(session));

  // A communicator's own buffer comes first, and the process's last.
  char own[MPI_BSEND_OVERHEAD];  // NOLINT: MPI takes arrays
  SUCCEEDS(MPI_Comm_attach_buffer(second, own, MPI_BSEND_OVERHEAD));
  CHECK(MPI_Bsend(out.data(), 1, MPI_BYTE, ring.next, kTag, second) == MPI_ERR_BUFFER);
  char* detached = nullptr;
  int size = 0;
  MPI_Count long_size = 0;
  SUCCEEDS(MPI_Comm_detach_buffer(second, static_cast<void*>(&detached), &size));
  CHECK(detached == own);
  SUCCEEDS(MPI_Session_detach_buffer(session, static_cast<void*>(&detached), &size));
  CHECK(detached == memory.data() && size == static_cast<int>(memory.size()));
  CHECK(MPI_Session_detach_buffer(session, static_cast<void*>(&detached), &size) == MPI_ERR_BUFFER);
  SUCCEEDS(MPI_Session_flush_buffer(session));
  SUCCEEDS(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
  SUCCEEDS(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, second));
  receive(ring, kLong);
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &size));

  SUCCEEDS(MPI_Session_attach_buffer_c(session, memory.data(), static_cast<MPI_Count>(memory.size())));
  SUCCEEDS(MPI_Session_detach_buffer_c(session, static_cast<void*>(&detached), &long_size));
  CHECK(detached == memory.data() && long_size == static_cast<MPI_Count>(memory.size()));
  CHECK(MPI_Session_iflush_buffer(session, nullptr) == MPI_ERR_ARG);

  // The call that ends the session waits for its messages.
  SUCCEEDS(MPI_Session_attach_buffer(session, memory.data(), static_cast<int>(memory.size())));
  SUCCEEDS(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, second));
  std::vector<unsigned char> in(kLong);
  SUCCEEDS(MPI_Irecv(in.data(), kLong, MPI_BYTE, ring.previous, kTag, second, &request));
  for (MPI_Comm* comm : {&first, &created, &second, &foreign}) SUCCEEDS(MPI_Comm_free(comm));
  SUCCEEDS(MPI_Session_finalize(&session));
  std::memset(memory.data(), 0xdd, memory.size());
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(in == content(kLong, ring.previous));
  SUCCEEDS(MPI_Session_finalize(&other));
  MPI_Comm_set_errhandler(world.comm, MPI_ERRORS_ARE_FATAL);
}

void automatic(const Ring& ring) {
  SUCCEEDS(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  const std::vector<unsigned char> out = content(kLong, ring.rank);
  for (int i = 0; i < 5; ++i) SUCCEEDS(MPI_Bsend(out.data(), kLong, MPI_BYTE, ring.next, kTag, ring.comm));
  SUCCEEDS(MPI_Bsend(out.data(), 0, MPI_BYTE, ring.next, kTag, ring.comm));
  for (int i = 0; i < 5; ++i) receive(ring, kLong);
  receive(ring, 0);
  void* detached = nullptr;
  int size = -1;
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &size));
  CHECK(detached == MPI_BUFFER_AUTOMATIC && size == 0);
}

void mistakes() {
  char memory[8];  // NOLINT: MPI takes arrays
  char* detached = nullptr;
  int size = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(MPI_Buffer_detach(static_cast<void*>(&detached), &size) == MPI_ERR_BUFFER);
  CHECK(MPI_Buffer_attach(memory, -1) == MPI_ERR_ARG);
  CHECK(MPI_Buffer_attach(nullptr, 8) == MPI_ERR_BUFFER);
  SUCCEEDS(MPI_Buffer_attach(memory, 8));
  CHECK(MPI_Buffer_attach(memory, 8) == MPI_ERR_BUFFER);
  CHECK(MPI_Buffer_detach(nullptr, &size) == MPI_ERR_ARG);
  CHECK(MPI_Bsend(memory, 0, MPI_CHAR, 0, 0, MPI_COMM_SELF) == MPI_ERR_BUFFER);  // no room for the overhead
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &size));
  CHECK(detached == memory && size == 8);
  CHECK(MPI_Buffer_iflush(nullptr) == MPI_ERR_ARG);
  CHECK(MPI_Comm_attach_buffer(MPI_COMM_NULL, memory, 8) == MPI_ERR_COMM);
  CHECK(MPI_Session_attach_buffer(MPI_SESSION_NULL, memory, 8) == MPI_ERR_SESSION);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    const Ring ring(comm);
    modes(ring);
    room(ring);
    gaps(ring);
    flushes(ring);
    detach_waits(ring);
    of_communicators(ring);
    automatic(ring);
    mistakes();
  }
  of_sessions(Ring(MPI_COMM_WORLD));
  // MPI_Finalize waits for messages that lie in the buffer.
  const Ring world(MPI_COMM_WORLD);
  static std::vector<char> memory(kLong + MPI_BSEND_OVERHEAD);
  SUCCEEDS(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
  const int code = mpi_test::result();
  MPI_Bsend(content(kLong, world.rank).data(), kLong, MPI_BYTE, world.next, kTag, MPI_COMM_WORLD);
  if (world.rank % 2 == 0) MPI_Send(nullptr, 0, MPI_BYTE, world.next, kGo, MPI_COMM_WORLD);
  receive(world, kLong);
  if (world.previous % 2 == 0)
    MPI_Recv(nullptr, 0, MPI_BYTE, world.previous, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return code != EXIT_SUCCESS || mpi_test::failures != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
