// Mistakes that programs make, at any number of ranks: each call returns its error class under
// MPI_ERRORS_RETURN, and the program goes on. unit.mpi-cases has the ends of jobs under MPI_ERRORS_ARE_FATAL.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

constexpr int kBadTag = -7;

/// A call fails with this class, directly or by a code of the class.
void check_class(int code, int expected, const char* text, int line) {
  int found = -1;
  MPI_Error_class(code, &found);
  mpi_test::check(found == expected, text, __FILE__, line);
}
#define FAILS(expected, call) check_class((call), expected, #call, __LINE__)

/// The mistakes that all sends can contain.
template <class Call>
void sends(const Call& call, MPI_Comm comm, bool starts) {
  const int value = 1;
  const int size = size_of(comm);
  FAILS(MPI_ERR_RANK, call(&value, 1, MPI_INT, size, 0, comm));
  FAILS(MPI_ERR_RANK, call(&value, 1, MPI_INT, -17, 0, comm));
  FAILS(MPI_ERR_RANK, call(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm));
  FAILS(MPI_ERR_TAG, call(&value, 1, MPI_INT, 0, kBadTag, comm));
  FAILS(MPI_ERR_TAG, call(&value, 1, MPI_INT, 0, MPI_ANY_TAG, comm));
  FAILS(MPI_ERR_COUNT, call(&value, -1, MPI_INT, 0, 0, comm));
  FAILS(MPI_ERR_TYPE, call(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm));
  FAILS(MPI_ERR_COMM, call(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
  FAILS(MPI_ERR_BUFFER, call(nullptr, 1, MPI_INT, 0, 0, comm));
  if (starts) return;
  SUCCEEDS(call(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm));
}

/// The mistakes that all receives can contain.
template <class Call>
void receives(const Call& call, MPI_Comm comm) {
  int value = 0;
  FAILS(MPI_ERR_RANK, call(&value, 1, MPI_INT, size_of(comm), 0, comm));
  FAILS(MPI_ERR_RANK, call(&value, 1, MPI_INT, -17, 0, comm));
  FAILS(MPI_ERR_TAG, call(&value, 1, MPI_INT, 0, kBadTag, comm));
  FAILS(MPI_ERR_COUNT, call(&value, -1, MPI_INT, 0, 0, comm));
  FAILS(MPI_ERR_TYPE, call(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm));
  FAILS(MPI_ERR_COMM, call(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
  FAILS(MPI_ERR_BUFFER, call(nullptr, 1, MPI_INT, 0, 0, comm));
}

void point_to_point(MPI_Comm comm) {
  sends(MPI_Send, comm, false);
  sends(MPI_Ssend, comm, false);
  sends(MPI_Rsend, comm, false);
  sends(MPI_Bsend, comm, false);
  using Start = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  for (const Start start : {MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend, MPI_Send_init, MPI_Ssend_init,
                            MPI_Rsend_init, MPI_Bsend_init}) {
    MPI_Request request = MPI_REQUEST_NULL;
    sends([&](const void* data, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm on) { return start(data, count, type, to, tag, on, &request); },
          comm, true);
    CHECK(request == MPI_REQUEST_NULL);
    FAILS(MPI_ERR_ARG, start(nullptr, 0, MPI_INT, 0, 0, comm, nullptr));
  }
  MPI_Request request = MPI_REQUEST_NULL;
  receives([](void* data, int count, MPI_Datatype type, int from, int tag,
              MPI_Comm on) { return MPI_Recv(data, count, type, from, tag, on, MPI_STATUS_IGNORE); },
           comm);
  for (const auto start : {MPI_Irecv, MPI_Recv_init}) {
    receives([&](void* data, int count, MPI_Datatype type, int from, int tag,
                 MPI_Comm on) { return start(data, count, type, from, tag, on, &request); },
             comm);
  }
  CHECK(request == MPI_REQUEST_NULL);
}

void probes(MPI_Comm comm) {
  int flag = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  FAILS(MPI_ERR_RANK, MPI_Probe(size_of(comm), 0, comm, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_TAG, MPI_Probe(0, kBadTag, comm, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_COMM, MPI_Iprobe(0, 0, MPI_COMM_NULL, &flag, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_ARG, MPI_Iprobe(0, 0, comm, nullptr, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_RANK, MPI_Mprobe(size_of(comm), 0, comm, &message, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_TAG, MPI_Improbe(0, kBadTag, comm, &flag, &message, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_REQUEST, MPI_Mrecv(nullptr, 0, MPI_INT, &message, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_REQUEST, MPI_Imrecv(nullptr, 0, MPI_INT, &message, &request));
}

void requests() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int flag = 0;
  int index = 0;
  int count = 0;
  FAILS(MPI_ERR_REQUEST, MPI_Start(&request));
  FAILS(MPI_ERR_REQUEST, MPI_Startall(1, &request));
  FAILS(MPI_ERR_REQUEST, MPI_Request_free(&request));
  FAILS(MPI_ERR_REQUEST, MPI_Cancel(&request));
  FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(request));
  FAILS(MPI_ERR_ARG, MPI_Wait(nullptr, &status));
  FAILS(MPI_ERR_ARG, MPI_Test(&request, nullptr, &status));
  FAILS(MPI_ERR_COUNT, MPI_Waitall(-1, &request, &status));
  FAILS(MPI_ERR_REQUEST, MPI_Waitall(1, nullptr, &status));
  FAILS(MPI_ERR_ARG, MPI_Waitany(1, &request, nullptr, &status));
  FAILS(MPI_ERR_ARG, MPI_Waitsome(1, &request, &count, nullptr, &status));
  FAILS(MPI_ERR_ARG, MPI_Testall(1, &request, nullptr, &status));
  FAILS(MPI_ERR_ARG, MPI_Testany(1, &request, &index, nullptr, &status));
  FAILS(MPI_ERR_COUNT, MPI_Request_get_status_all(-1, &request, &flag, &status));

  // A request that is no persistent one cannot be started, and one that runs cannot be started again.
  int value = 0;
  SUCCEEDS(MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
  FAILS(MPI_ERR_REQUEST, MPI_Start(&request));
  SUCCEEDS(MPI_Cancel(&request));
  SUCCEEDS(MPI_Wait(&request, &status));
  SUCCEEDS(MPI_Recv_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
  SUCCEEDS(MPI_Start(&request));
  FAILS(MPI_ERR_REQUEST, MPI_Start(&request));
  SUCCEEDS(MPI_Cancel(&request));
  SUCCEEDS(MPI_Wait(&request, &status));
  SUCCEEDS(MPI_Request_free(&request));
}

/// A message that is too long: the beginning is received, and the call that ends the receive says so.
void truncations(MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int next = (rank + 1) % size_of(comm);
  const int previous = (rank + size_of(comm) - 1) % size_of(comm);
  for (const int length : {10, 3000, 100000}) {
    const std::vector<int> out(static_cast<std::size_t>(length), 7);
    std::vector<int> in(static_cast<std::size_t>(length), 1);
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::array<MPI_Status, 2> statuses;
    const auto arrived = [&] { return in[0] == 7 && in[1] == 1; };
    SUCCEEDS(MPI_Isend(out.data(), length, MPI_INT, next, 1, comm, &requests[1]));
    FAILS(MPI_ERR_TRUNCATE, MPI_Recv(in.data(), 1, MPI_INT, previous, 1, comm, statuses.data()));
    CHECK(arrived() && statuses[0].MPI_SOURCE == previous);
    SUCCEEDS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));

    in[0] = 1;
    SUCCEEDS(MPI_Irecv(in.data(), 1, MPI_INT, previous, 2, comm, &requests[0]));
    SUCCEEDS(MPI_Isend(out.data(), length, MPI_INT, next, 2, comm, &requests[1]));
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, requests.data(), statuses.data()));
    FAILS(MPI_ERR_TRUNCATE, statuses[0].MPI_ERROR);
    CHECK(arrived() && statuses[1].MPI_ERROR == MPI_SUCCESS);

    in[0] = 1;
    MPI_Message message = MPI_MESSAGE_NULL;
    SUCCEEDS(MPI_Isend(out.data(), length, MPI_INT, next, 3, comm, &requests[1]));
    SUCCEEDS(MPI_Mprobe(previous, 3, comm, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_TRUNCATE, MPI_Mrecv(in.data(), 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK(arrived() && message == MPI_MESSAGE_NULL);
    SUCCEEDS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));

    in[0] = 1;
    SUCCEEDS(MPI_Isend(out.data(), length, MPI_INT, next, 4, comm, &requests[1]));
    FAILS(MPI_ERR_TRUNCATE, MPI_Sendrecv(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, in.data(), 1, MPI_INT,
                                         previous, 4, comm, MPI_STATUS_IGNORE));
    CHECK(arrived());
    SUCCEEDS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  }
}

/// Mistakes that every member makes in the same call, so that nobody waits for a member that has returned.
void collectives(MPI_Comm comm) {
  const int size = size_of(comm);
  const auto n = static_cast<std::size_t>(size);
  std::vector<int> in(n);
  std::vector<int> out(n);
  std::vector<int> counts(n, 1);
  const std::vector<int> negative(n, -1);
  std::vector<MPI_Datatype> types(n, MPI_INT);
  const std::vector<MPI_Datatype> no_types(n, MPI_DATATYPE_NULL);
  FAILS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
  for (const int root : {size, -1, MPI_PROC_NULL, MPI_ROOT}) {
    FAILS(MPI_ERR_ROOT, MPI_Bcast(in.data(), 1, MPI_INT, root, comm));
    FAILS(MPI_ERR_ROOT, MPI_Reduce(out.data(), in.data(), 1, MPI_INT, MPI_SUM, root, comm));
    FAILS(MPI_ERR_ROOT, MPI_Gather(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, root, comm));
    FAILS(MPI_ERR_ROOT, MPI_Scatter(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, root, comm));
  }
  FAILS(MPI_ERR_COUNT, MPI_Bcast(in.data(), -1, MPI_INT, 0, comm));
  FAILS(MPI_ERR_TYPE, MPI_Bcast(in.data(), 1, MPI_DATATYPE_NULL, 0, comm));
  FAILS(MPI_ERR_BUFFER, MPI_Bcast(nullptr, 1, MPI_INT, 0, comm));
  FAILS(MPI_ERR_COUNT, MPI_Allgather(out.data(), 1, MPI_INT, in.data(), -1, MPI_INT, comm));
  FAILS(MPI_ERR_COUNT,
        MPI_Allgatherv(out.data(), 1, MPI_INT, in.data(), negative.data(), counts.data(), MPI_INT, comm));
  FAILS(MPI_ERR_ARG,
        MPI_Allgatherv(out.data(), 1, MPI_INT, in.data(), nullptr, counts.data(), MPI_INT, comm));
  FAILS(MPI_ERR_TYPE, MPI_Alltoall(out.data(), 1, MPI_DATATYPE_NULL, in.data(), 1, MPI_INT, comm));
  FAILS(MPI_ERR_ARG, MPI_Alltoallv(out.data(), counts.data(), nullptr, MPI_INT, in.data(), counts.data(),
                                   counts.data(), MPI_INT, comm));
  FAILS(MPI_ERR_TYPE, MPI_Alltoallw(out.data(), counts.data(), counts.data(), types.data(), in.data(),
                                    counts.data(), counts.data(), no_types.data(), comm));
  FAILS(MPI_ERR_ARG, MPI_Alltoallw(out.data(), counts.data(), counts.data(), nullptr, in.data(),
                                   counts.data(), counts.data(), types.data(), comm));
  FAILS(MPI_ERR_OP, MPI_Allreduce(out.data(), in.data(), 1, MPI_INT, MPI_OP_NULL, comm));
  FAILS(MPI_ERR_OP, MPI_Allreduce(out.data(), in.data(), 1, MPI_CHARACTER, MPI_SUM, comm));
  FAILS(MPI_ERR_OP, MPI_Allreduce(out.data(), in.data(), 1, MPI_DOUBLE, MPI_BAND, comm));
  FAILS(MPI_ERR_OP, MPI_Scan(out.data(), in.data(), 1, MPI_INT, MPI_MAXLOC, comm));
  FAILS(MPI_ERR_COUNT, MPI_Exscan(out.data(), in.data(), -1, MPI_INT, MPI_SUM, comm));
  FAILS(MPI_ERR_COUNT, MPI_Reduce_scatter(out.data(), in.data(), negative.data(), MPI_INT, MPI_SUM, comm));
  FAILS(MPI_ERR_TYPE, MPI_Reduce_scatter_block(out.data(), in.data(), 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
  FAILS(MPI_ERR_OP, MPI_Reduce_local(out.data(), in.data(), 1, MPI_INT, MPI_OP_NULL));
  // One buffer in two roles, which MPI_IN_PLACE is for.
  FAILS(MPI_ERR_BUFFER, MPI_Allreduce(in.data(), in.data(), 1, MPI_INT, MPI_SUM, comm));
  FAILS(MPI_ERR_BUFFER, MPI_Scan(in.data(), in.data(), 1, MPI_INT, MPI_SUM, comm));
  FAILS(MPI_ERR_BUFFER, MPI_Alltoall(in.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm));
  SUCCEEDS(MPI_Barrier(comm));
}

/// Each process sends itself another number of bytes than it receives, in all forms of the calls with equal
/// blocks. Nobody waits for ever, and no memory beside the buffers changes.
void blocks_of_two_sizes(MPI_Comm comm) {
  const std::vector<double> out(64 * static_cast<std::size_t>(size_of(comm)));
  std::vector<short> in(4 * out.size());
  MPI_Request request = MPI_REQUEST_NULL;
  const int root = size_of(comm) - 1;
  const bool is_root = rank_in(comm) == root;
  const auto refused = [&](int sent, int got, int expected) {
    std::ranges::fill(in, short{-1});
    const int at_root = is_root ? expected : MPI_SUCCESS;
    const auto ends = [&](int wanted) {
      FAILS(wanted, MPI_Wait(&request, MPI_STATUS_IGNORE));
      CHECK(request == MPI_REQUEST_NULL);
    };
    FAILS(expected, MPI_Alltoall(out.data(), sent, MPI_DOUBLE, in.data(), got, MPI_SHORT, comm));
    SUCCEEDS(MPI_Ialltoall(out.data(), sent, MPI_DOUBLE, in.data(), got, MPI_SHORT, comm, &request));
    ends(expected);
    const auto end = static_cast<std::ptrdiff_t>(got) * size_of(comm);
    CHECK(std::all_of(in.begin() + end, in.end(), [](short one) { return one == -1; }));
    std::ranges::fill(in, short{-1});
    FAILS(expected, MPI_Allgather(out.data(), sent, MPI_DOUBLE, in.data(), got, MPI_SHORT, comm));
    SUCCEEDS(MPI_Iallgather(out.data(), sent, MPI_DOUBLE, in.data(), got, MPI_SHORT, comm, &request));
    ends(expected);
    FAILS(at_root, MPI_Gather(out.data(), sent, MPI_DOUBLE, in.data(), got, MPI_SHORT, root, comm));
    SUCCEEDS(MPI_Igather(out.data(), sent, MPI_DOUBLE, in.data(), got, MPI_SHORT, root, comm, &request));
    ends(at_root);
    SUCCEEDS(MPI_Gather_init(out.data(), sent, MPI_DOUBLE, in.data(), got, MPI_SHORT, root, comm,
                             MPI_INFO_NULL, &request));
    for (int round = 0; round < 2; ++round) {
      SUCCEEDS(MPI_Start(&request));
      FAILS(at_root, MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    SUCCEEDS(MPI_Request_free(&request));
    CHECK(std::ranges::all_of(in, [](short one) { return one == -1; }));
    // What the others get is as long as they wanted it.
    const int scattered = is_root ? sent : 0;
    FAILS(at_root, MPI_Scatter(out.data(), scattered, MPI_DOUBLE, in.data(), got, MPI_SHORT, root, comm));
    SUCCEEDS(
        MPI_Iscatter(out.data(), scattered, MPI_DOUBLE, in.data(), got, MPI_SHORT, root, comm, &request));
    ends(at_root);
  };
  refused(64, 255, MPI_ERR_TRUNCATE);
  refused(1, 0, MPI_ERR_TRUNCATE);
  refused(1, 5, MPI_ERR_COUNT);
  refused(0, 1, MPI_ERR_COUNT);
  SUCCEEDS(MPI_Gather(out.data(), 64, MPI_DOUBLE, in.data(), 256, MPI_SHORT, root, comm));
  CHECK(!is_root || in.back() == 0);
  SUCCEEDS(MPI_Barrier(comm));
}

void objects(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Op op = MPI_SUM;
  MPI_Datatype type = MPI_INT;
  int number = 0;
  FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &number));
  FAILS(MPI_ERR_ARG, MPI_Comm_rank(comm, nullptr));
  FAILS(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &made));
  FAILS(MPI_ERR_ARG, MPI_Comm_dup(comm, nullptr));
  FAILS(MPI_ERR_ARG, MPI_Comm_split(comm, -5, 0, &made));
  FAILS(MPI_ERR_ARG, MPI_Comm_split_type(comm, 12345, 0, MPI_INFO_NULL, &made));
  made = MPI_COMM_WORLD;
  FAILS(MPI_ERR_COMM, MPI_Comm_free(&made));
  made = MPI_COMM_NULL;
  FAILS(MPI_ERR_COMM, MPI_Comm_free(&made));
  FAILS(MPI_ERR_GROUP, MPI_Comm_create(comm, MPI_GROUP_NULL, &made));
  FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &number));
  FAILS(MPI_ERR_GROUP, MPI_Group_free(&group));
  FAILS(MPI_ERR_OP, MPI_Op_free(&op));
  FAILS(MPI_ERR_TYPE, MPI_Type_free(&type));
  FAILS(MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &number));
  // The handle of an object of another kind.
  FAILS(MPI_ERR_COMM, MPI_Comm_size(reinterpret_cast<MPI_Comm>(MPI_INT), &number));
  FAILS(MPI_ERR_TYPE, MPI_Type_size(reinterpret_cast<MPI_Datatype>(comm), &number));
  FAILS(MPI_ERR_INFO, MPI_Comm_set_info(comm, reinterpret_cast<MPI_Info>(comm)));
}

int refuse_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_ERR_OTHER;
}
int refuse_type_copy(MPI_Datatype, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_ERR_OTHER;
}

/// The handle of an object that a call could not make is null, whatever the program had there.
void objects_not_made(MPI_Comm comm) {
  const auto junk = [](auto& handle) {
    handle = reinterpret_cast<std::decay_t<decltype(handle)>>(0x7654321);
  };
  MPI_Comm made;
  MPI_Request request;
  int key = MPI_KEYVAL_INVALID;
  SUCCEEDS(MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
  SUCCEEDS(MPI_Comm_set_attr(comm, key, nullptr));
  junk(made);
  FAILS(MPI_ERR_OTHER, MPI_Comm_dup(comm, &made));
  CHECK(made == MPI_COMM_NULL);
  junk(made);
  junk(request);
  FAILS(MPI_ERR_OTHER, MPI_Comm_idup(comm, &made, &request));
  CHECK(made == MPI_COMM_NULL && request == MPI_REQUEST_NULL);
  SUCCEEDS(MPI_Comm_delete_attr(comm, key));
  SUCCEEDS(MPI_Comm_free_keyval(&key));
  for (const auto& make : std::initializer_list<int (*)(MPI_Comm, MPI_Comm*)>{
           [](MPI_Comm from, MPI_Comm*to) { return MPI_Comm_split(from, -5, 0, to); },
           [](MPI_Comm from, MPI_Comm*to) { return MPI_Comm_split_type(from, 12345, 0, MPI_INFO_NULL, to); },
           [](MPI_Comm from, MPI_Comm*to) { return MPI_Comm_create(from, MPI_GROUP_NULL, to); },
           [](MPI_Comm from, MPI_Comm*to) { return MPI_Comm_create_group(from, MPI_GROUP_NULL, 0, to); },
           [](MPI_Comm from, MPI_Comm*to) { return MPI_Cart_create(from, -1, nullptr, nullptr, 0, to); },
           [](MPI_Comm from, MPI_Comm*to) { return MPI_Graph_create(from, -1, nullptr, nullptr, 0, to); },
           [](MPI_Comm from, MPI_Comm*to) { return MPI_Cart_sub(from, nullptr, to); },
           [](MPI_Comm from, MPI_Comm*to) { return MPI_Intercomm_merge(from, 0, to); },
       }) {
    junk(made);
    CHECK(make(comm, &made) != MPI_SUCCESS);
    CHECK(made == MPI_COMM_NULL);
  }
  MPI_Datatype type;
  junk(type);
  FAILS(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &type));
  CHECK(type == MPI_DATATYPE_NULL);
  junk(type);
  FAILS(MPI_ERR_TYPE, MPI_Type_vector(1, 1, 1, MPI_DATATYPE_NULL, &type));
  CHECK(type == MPI_DATATYPE_NULL);
  MPI_Datatype with_attribute = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_contiguous(2, MPI_INT, &with_attribute));
  SUCCEEDS(MPI_Type_create_keyval(refuse_type_copy, MPI_TYPE_NULL_DELETE_FN, &key, nullptr));
  SUCCEEDS(MPI_Type_set_attr(with_attribute, key, nullptr));
  junk(type);
  FAILS(MPI_ERR_OTHER, MPI_Type_dup(with_attribute, &type));
  CHECK(type == MPI_DATATYPE_NULL);
  SUCCEEDS(MPI_Type_free(&with_attribute));
  SUCCEEDS(MPI_Type_free_keyval(&key));
  MPI_Group group;
  junk(group);
  FAILS(MPI_ERR_GROUP, MPI_Group_union(MPI_GROUP_NULL, MPI_GROUP_EMPTY, &group));
  CHECK(group == MPI_GROUP_NULL);
  MPI_Op op;
  junk(op);
  FAILS(MPI_ERR_ARG, MPI_Op_create(nullptr, 1, &op));
  CHECK(op == MPI_OP_NULL);
  MPI_Win win;
  junk(win);
  CHECK(MPI_Win_create(nullptr, -1, 1, MPI_INFO_NULL, comm, &win) != MPI_SUCCESS);
  CHECK(win == MPI_WIN_NULL);
  MPI_Info info;
  junk(info);
  CHECK(MPI_Info_dup(MPI_INFO_NULL, &info) != MPI_SUCCESS);
  CHECK(info == MPI_INFO_NULL);
  int number = 0;
  junk(request);
  FAILS(MPI_ERR_ROOT, MPI_Bcast_init(&number, 1, MPI_INT, -1, comm, MPI_INFO_NULL, &request));
  CHECK(request == MPI_REQUEST_NULL);
  junk(request);
  FAILS(MPI_ERR_ROOT, MPI_Ibcast(&number, 1, MPI_INT, -1, comm, &request));
  CHECK(request == MPI_REQUEST_NULL);
  junk(request);
  FAILS(MPI_ERR_RANK, MPI_Send_init(&number, 1, MPI_INT, -17, 0, comm, &request));
  CHECK(request == MPI_REQUEST_NULL);
  // A call that frees leaves the handle of an object that it refuses.
  op = MPI_SUM;
  FAILS(MPI_ERR_OP, MPI_Op_free(&op));
  CHECK(op == MPI_SUM);
}

int calls_of_world = 0;
int calls_of_self = 0;

void note_world(MPI_Comm* comm, int* /*code*/, ...) {
  CHECK(*comm == MPI_COMM_WORLD);
  ++calls_of_world;
}
void note_self(MPI_Comm* comm, int* /*code*/, ...) {
  CHECK(*comm == MPI_COMM_SELF);
  ++calls_of_self;
}

/// Makes mistakes without a usable communicator, window, file or session. Returns how many.
int mistakes_without_object() {
  int number = 0;
  void* address = nullptr;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  FAILS(MPI_ERR_TYPE, MPI_Type_commit(&type));
  FAILS(MPI_ERR_GROUP, MPI_Group_union(MPI_GROUP_NULL, MPI_GROUP_EMPTY, &group));
  FAILS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
  FAILS(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
  FAILS(MPI_ERR_BUFFER, MPI_Buffer_detach(static_cast<void*>(&address), &number));
  FAILS(MPI_ERR_REQUEST, MPI_Start(&request));
  // A null result is found before what else is wrong.
  int ranges[][3] = {{1000, 1001, 1}};
  FAILS(MPI_ERR_ARG, MPI_Group_range_excl(MPI_GROUP_EMPTY, 1, ranges, nullptr));
  return 7;
}

/// Nobody has set a handler of MPI_COMM_SELF when this begins.
void mistakes_go_to_world_until_self_has_a_handler() {
  MPI_Errhandler of_world = MPI_ERRHANDLER_NULL;
  MPI_Errhandler of_self = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(note_world, &of_world);
  MPI_Comm_create_errhandler(note_self, &of_self);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_world);
  const int mistakes = mistakes_without_object();
  CHECK(calls_of_world == mistakes && calls_of_self == 0);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, of_self);
  mistakes_without_object();
  CHECK(calls_of_world == mistakes && calls_of_self == mistakes);
  MPI_Errhandler_free(&of_world);
  MPI_Errhandler_free(&of_self);
}

void handle_by_success(MPI_Comm* /*comm*/, int* code, ...) { *code = MPI_SUCCESS; }
void handle_by_code(MPI_Comm* /*comm*/, int* code, ...) { *code = MPI_ERR_OTHER; }

/// A call returns the code that the handler of the program leaves.
void a_handler_chooses_the_code() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  const auto code_with = [&](MPI_Comm_errhandler_function* function) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(copy, handler);
    MPI_Errhandler_free(&handler);
    return MPI_Send(nullptr, 0, MPI_INT, 1000, 0, copy);
  };
  CHECK(code_with(handle_by_success) == MPI_SUCCESS);
  CHECK(code_with(handle_by_code) == MPI_ERR_OTHER);
  MPI_Comm_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  mistakes_go_to_world_until_self_has_a_handler();
  a_handler_chooses_the_code();
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF, copy})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, copy}) {
    point_to_point(comm);
    probes(comm);
    requests();
    truncations(comm);
    collectives(comm);
    blocks_of_two_sizes(comm);
    objects(comm);
    objects_not_made(comm);
  }
  MPI_Comm_free(&copy);
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
