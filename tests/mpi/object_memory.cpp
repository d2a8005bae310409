// Objects of every kind are made, used and freed again and again: the resident memory stays as it is.
// LIBRMA_TEST_OBJECTS says how many of each kind; LIBRMA_TEST_KIND chooses one kind.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::Ring;

/// Returns the resident memory of this process in KiB.
long resident() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long all = 0;
  long resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &all, &resident) != 2) std::abort();
  std::fclose(file);
  return resident * ::sysconf(_SC_PAGESIZE) / 1024;
}

/// Uses a communicator in all ways, and frees it.
void use(MPI_Comm& comm) {
  if (comm == MPI_COMM_NULL) return;
  int inter = 0;
  int one = 1;
  int sum = 0;
  SUCCEEDS(MPI_Comm_test_inter(comm, &inter));
  SUCCEEDS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  if (inter == 0) {
    const Ring ring(comm);
    int come = -1;
    SUCCEEDS(MPI_Sendrecv(&ring.rank, 1, MPI_INT, ring.next, 1, &come, 1, MPI_INT, ring.previous, 1, comm,
                          MPI_STATUS_IGNORE));
    CHECK(sum == ring.size && come == ring.previous);
    MPI_Request request = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Ibcast(&sum, 1, MPI_INT, 0, comm, &request));
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  SUCCEEDS(MPI_Comm_free(&comm));
}

void use(MPI_Win& win) {
  int number = 1;
  SUCCEEDS(MPI_Win_fence(0, win));
  SUCCEEDS(MPI_Put(&number, 1, MPI_INT, mpi_test::rank_in(MPI_COMM_WORLD), 0, 1, MPI_INT, win));
  SUCCEEDS(MPI_Win_fence(0, win));
  SUCCEEDS(MPI_Win_free(&win));
}

void use(MPI_Datatype& type) {
  std::array<int, 64> out = {};
  std::array<int, 64> in = {};
  SUCCEEDS(MPI_Type_commit(&type));
  SUCCEEDS(
      MPI_Sendrecv(out.data(), 1, type, 0, 1, in.data(), 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Type_free(&type));
}

int copied(MPI_Comm /*comm*/, int /*key*/, void* /*extra*/, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}

struct Kind {
  const char* name;
  int share;  ///< it costs so many times what the others cost
  void (*once)();
};

void communicator_dup() {
  MPI_Comm made = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &made));
  use(made);
}
void communicator_unused() {
  MPI_Comm made = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &made));
  SUCCEEDS(MPI_Comm_free(&made));
}
void communicator_idup() {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  use(made);
}
void communicator_split() {
  MPI_Comm made = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split(MPI_COMM_WORLD, mpi_test::rank_in(MPI_COMM_WORLD) % 2, 0, &made));
  use(made);
}
void communicator_split_type() {
  MPI_Comm made = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
  use(made);
}
void communicator_of_group() {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_group(MPI_COMM_WORLD, &group));
  SUCCEEDS(MPI_Comm_create(MPI_COMM_WORLD, group, &made));
  use(made);
  SUCCEEDS(MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &made));
  use(made);
  SUCCEEDS(MPI_Comm_create_from_group(group, "memory", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made));
  use(made);
  SUCCEEDS(MPI_Group_free(&group));
}
void grid() {
  const std::array<int, 2> lengths = {1, mpi_test::size_of(MPI_COMM_WORLD)};
  const std::array<int, 2> yes = {1, 1};
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm row = MPI_COMM_NULL;
  SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, 2, lengths.data(), yes.data(), 0, &made));
  SUCCEEDS(MPI_Cart_sub(made, yes.data(), &row));
  use(row);
  use(made);
}
void graph() {
  const Ring ring(MPI_COMM_WORLD);
  const int weight = 1;
  MPI_Comm made = MPI_COMM_NULL;
  SUCCEEDS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &ring.previous, &weight, 1, &ring.next, &weight,
                                          MPI_INFO_NULL, 0, &made));
  int come = -1;
  SUCCEEDS(MPI_Neighbor_alltoall(&ring.rank, 1, MPI_INT, &come, 1, MPI_INT, made));
  use(made);
}
void intercommunicator() {
  const Ring ring(MPI_COMM_WORLD);
  if (ring.size < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm merged = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split(MPI_COMM_WORLD, ring.rank % 2, 0, &half));
  SUCCEEDS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - ring.rank % 2, 3, &both));
  SUCCEEDS(MPI_Intercomm_merge(both, 0, &merged));
  use(merged);
  use(both);
  use(half);
}
void window_of_memory() {
  static int memory = 0;
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  use(win);
}
void window_allocated() {
  void* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &win));
  use(win);
}
void window_shared() {
  void* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &win));
  use(win);
}
void window_dynamic() {
  static int memory = 0;
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  SUCCEEDS(MPI_Win_attach(win, &memory, sizeof memory));
  SUCCEEDS(MPI_Win_detach(win, &memory));
  SUCCEEDS(MPI_Win_free(&win));
}
void datatypes() {
  const std::array<int, 3> counts = {1, 2, 3};
  const std::array<int, 3> places = {0, 5, 9};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype of = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(3, 2, 4, MPI_INT, &type));
  SUCCEEDS(MPI_Type_dup(type, &of));
  use(of);
  use(type);
  SUCCEEDS(MPI_Type_indexed(3, counts.data(), places.data(), MPI_INT, &of));
  SUCCEEDS(MPI_Type_create_resized(of, 0, 64, &type));
  SUCCEEDS(MPI_Type_free(&of));
  use(type);
}
void groups() {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group one = MPI_GROUP_NULL;
  MPI_Group rest = MPI_GROUP_NULL;
  const int first = 0;
  SUCCEEDS(MPI_Comm_group(MPI_COMM_WORLD, &all));
  SUCCEEDS(MPI_Group_incl(all, 1, &first, &one));
  SUCCEEDS(MPI_Group_difference(all, one, &rest));
  if (rest != MPI_GROUP_EMPTY) SUCCEEDS(MPI_Group_free(&rest));
  SUCCEEDS(MPI_Group_free(&one));
  SUCCEEDS(MPI_Group_free(&all));
}
void operators() {
  MPI_Op op = MPI_OP_NULL;
  int one = 1;
  int two = 2;
  SUCCEEDS(MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op));
  SUCCEEDS(MPI_Reduce_local(&one, &two, 1, MPI_INT, op));
  SUCCEEDS(MPI_Op_free(&op));
}
void infos() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info copy = MPI_INFO_NULL;
  SUCCEEDS(MPI_Info_create(&info));
  SUCCEEDS(MPI_Info_set(info, "a key too long to need no memory", "and a value"));
  SUCCEEDS(MPI_Info_dup(info, &copy));
  SUCCEEDS(MPI_Info_free(&copy));
  SUCCEEDS(MPI_Info_free(&info));
}
void keys() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm copy = MPI_COMM_NULL;
  int flag = 0;
  void* value = nullptr;
  SUCCEEDS(MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
  const int same = key;
  SUCCEEDS(MPI_Comm_set_attr(MPI_COMM_SELF, key, &flag));
  SUCCEEDS(MPI_Comm_dup(MPI_COMM_SELF, &copy));
  SUCCEEDS(MPI_Comm_get_attr(copy, key, static_cast<void*>(&value), &flag));
  CHECK(flag == 1 && value == &flag);
  SUCCEEDS(MPI_Comm_free_keyval(&key));
  SUCCEEDS(MPI_Comm_free(&copy));
  SUCCEEDS(MPI_Comm_delete_attr(MPI_COMM_SELF, same));
  SUCCEEDS(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr));
  SUCCEEDS(MPI_Type_free_keyval(&key));
}
void ignore_failure(MPI_Comm* /*comm*/, int* /*code*/, ...) {}
void error_handlers() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  SUCCEEDS(MPI_Comm_create_errhandler(ignore_failure, &handler));
  SUCCEEDS(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
  SUCCEEDS(MPI_Errhandler_free(&handler));
  SUCCEEDS(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}
void messages() {
  const Ring ring(MPI_COMM_WORLD);
  std::array<int, 2> numbers = {ring.rank, -1};
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  SUCCEEDS(MPI_Irecv(&numbers[1], 1, MPI_INT, ring.previous, 2, MPI_COMM_WORLD, requests.data()));
  SUCCEEDS(MPI_Issend(numbers.data(), 1, MPI_INT, ring.next, 2, MPI_COMM_WORLD, &requests[1]));
  SUCCEEDS(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
  CHECK(numbers[1] == ring.previous);
  SUCCEEDS(MPI_Issend(numbers.data(), 1, MPI_INT, ring.next, 3, MPI_COMM_WORLD, requests.data()));
  SUCCEEDS(MPI_Cancel(requests.data()));
  SUCCEEDS(MPI_Wait(requests.data(), MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Irecv(numbers.data(), 1, MPI_INT, ring.next, 4, MPI_COMM_WORLD, requests.data()));
  SUCCEEDS(MPI_Cancel(requests.data()));
  SUCCEEDS(MPI_Request_free(requests.data()));
}
void persistent_requests() {
  const Ring ring(MPI_COMM_WORLD);
  std::array<int, 2> numbers = {ring.rank, -1};
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  SUCCEEDS(MPI_Recv_init(&numbers[1], 1, MPI_INT, ring.previous, 2, MPI_COMM_WORLD, requests.data()));
  SUCCEEDS(MPI_Send_init(numbers.data(), 1, MPI_INT, ring.next, 2, MPI_COMM_WORLD, &requests[1]));
  SUCCEEDS(MPI_Startall(2, requests.data()));
  SUCCEEDS(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
  for (MPI_Request& request : requests) SUCCEEDS(MPI_Request_free(&request));
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Bcast_init(numbers.data(), 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  SUCCEEDS(MPI_Start(&request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Request_free(&request));
}
void partitioned_requests() {
  const Ring ring(MPI_COMM_WORLD);
  std::array<int, 2> out = {1, 2};
  std::array<int, 2> in = {};
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  SUCCEEDS(MPI_Psend_init(out.data(), 2, 1, MPI_INT, ring.next, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                          requests.data()));
  SUCCEEDS(MPI_Precv_init(in.data(), 2, 1, MPI_INT, ring.previous, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &requests[1]));
  SUCCEEDS(MPI_Startall(2, requests.data()));
  SUCCEEDS(MPI_Pready_range(0, 1, requests[0]));
  SUCCEEDS(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
  for (MPI_Request& request : requests) SUCCEEDS(MPI_Request_free(&request));
}
void generalized_requests() {
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Grequest_start(
      [](void*, MPI_Status* status) {
        MPI_Status_set_elements(status, MPI_BYTE, 0);
        MPI_Status_set_cancelled(status, 0);
        return static_cast<int>(MPI_SUCCESS);
      },
      [](void*) { return static_cast<int>(MPI_SUCCESS); },
      [](void*, int) { return static_cast<int>(MPI_SUCCESS); }, nullptr, &request));
  SUCCEEDS(MPI_Grequest_complete(request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
void session() {
  MPI_Session made = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  SUCCEEDS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made));
  SUCCEEDS(MPI_Group_from_session_pset(made, "mpi://WORLD", &group));
  SUCCEEDS(MPI_Comm_create_from_group(group, "session", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
  SUCCEEDS(MPI_Group_free(&group));
  use(comm);
  SUCCEEDS(MPI_Session_finalize(&made));
}

constexpr std::array kKinds = {
    Kind{"dup", 1, communicator_dup},
    Kind{"unused dup", 1, communicator_unused},
    Kind{"idup", 1, communicator_idup},
    Kind{"split", 1, communicator_split},
    Kind{"split type", 1, communicator_split_type},
    Kind{"of group", 3, communicator_of_group},
    Kind{"grid", 2, grid},
    Kind{"graph", 2, graph},
    Kind{"intercommunicator", 4, intercommunicator},
    Kind{"window of memory", 4, window_of_memory},
    Kind{"window allocated", 4, window_allocated},
    Kind{"window shared", 4, window_shared},
    Kind{"window dynamic", 4, window_dynamic},
    Kind{"datatypes", 1, datatypes},
    Kind{"groups", 1, groups},
    Kind{"operators", 1, operators},
    Kind{"infos", 1, infos},
    Kind{"keys", 1, keys},
    Kind{"error handlers", 1, error_handlers},
    Kind{"messages", 1, messages},
    Kind{"persistent requests", 1, persistent_requests},
    Kind{"partitioned requests", 1, partitioned_requests},
    Kind{"generalized requests", 1, generalized_requests},
    Kind{"session", 2, session},
};

/// Makes objects of a kind. Returns by how many KiB the resident memory of a rank has grown at most.
long growth(const Kind& kind, long objects) {
  const long first = resident();
  for (long i = 0; i < objects; ++i) kind.once();
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  long grown = resident() - first;
  SUCCEEDS(MPI_Allreduce(MPI_IN_PLACE, &grown, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
  return grown;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* const given = std::getenv("LIBRMA_TEST_OBJECTS");
  const char* const chosen = std::getenv("LIBRMA_TEST_KIND");
  constexpr long kUsual = 1200;
  /// Before the first measurement: freed keys keep their numbers for so long.
  constexpr long kBefore = 1200;
  const long most = given != nullptr ? 1024 : 256;  // KiB; 256 are 200 bytes for each
  /// A rank that lags behind lets memory pile up once. What is lost grows each time.
  constexpr int kTimes = 3;
  const long objects = given != nullptr ? std::strtol(given, nullptr, 10) : kUsual;
  for (const Kind& kind : kKinds) {
    if (chosen != nullptr && std::strcmp(chosen, kind.name) != 0) continue;
    const long before = std::min(kBefore, objects) / kind.share;
    for (long i = 0; i < before; ++i) kind.once();
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    long grown = growth(kind, objects / kind.share);
    for (int time = 1; time < kTimes && grown > most; ++time) grown = growth(kind, objects / kind.share);
    const bool first = mpi_test::rank_in(MPI_COMM_WORLD) == 0;
    if (first && (given != nullptr || grown > most))
      std::fprintf(stderr, "%s: %ld KiB more after %ld\n", kind.name, grown, objects / kind.share);
    CHECK(grown <= most);
  }
  const int result = mpi_test::result();
  MPI_Finalize();
  return result;
}
