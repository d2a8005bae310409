// Groups of one job that meet at ports, whose names they find by services, and processes that have a socket
// in common. The groups are parts of MPI_COMM_WORLD, and children of two spawns. Without rmarun ("alone")
// every call says that it cannot.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace {

using namespace mpi_test;

int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

using PortName = std::array<char, MPI_MAX_PORT_NAME>;

/// Members of two groups talk, together and to each other.
void talk(MPI_Comm inter, int others) {
  int size = -1;
  SUCCEEDS(MPI_Comm_remote_size(inter, &size));
  CHECK(size == others);
  const int rank = rank_in(inter);
  int sum = -1;
  SUCCEEDS(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
  CHECK(sum == others * (others - 1) / 2);
  std::vector<MPI_Request> sends(static_cast<std::size_t>(others));
  for (int other = 0; other < others; ++other)
    SUCCEEDS(MPI_Isend(&rank, 1, MPI_INT, other, 9, inter, &sends[static_cast<std::size_t>(other)]));
  for (int other = 0; other < others; ++other) {
    int from = -1;
    SUCCEEDS(MPI_Recv(&from, 1, MPI_INT, other, 9, inter, MPI_STATUS_IGNORE));
    CHECK(from == other);
  }
  SUCCEEDS(MPI_Waitall(others, sends.data(), MPI_STATUSES_IGNORE));
  SUCCEEDS(MPI_Comm_disconnect(&inter));
}

/// The processes of even rank accept, and the others find them by a service and connect. Several times,
/// because a port serves any number of groups.
void test_two_halves() {
  const bool accepts = rank_in(MPI_COMM_WORLD) % 2 == 0;
  MPI_Comm half = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split(MPI_COMM_WORLD, accepts ? 0 : 1, 0, &half));
  PortName port = {};
  if (rank_in(MPI_COMM_WORLD) == 0) {
    SUCCEEDS(MPI_Open_port(MPI_INFO_NULL, port.data()));
    SUCCEEDS(MPI_Publish_name("halves", MPI_INFO_NULL, port.data()));
    CHECK(class_of(MPI_Publish_name("halves", MPI_INFO_NULL, port.data())) == MPI_ERR_SERVICE);
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  if (!accepts && rank_in(half) == 0) SUCCEEDS(MPI_Lookup_name("halves", MPI_INFO_NULL, port.data()));
  for (int i = 0; i < 3; ++i) {
    MPI_Comm inter = MPI_COMM_NULL;
    SUCCEEDS(accepts ? MPI_Comm_accept(port.data(), MPI_INFO_NULL, 0, half, &inter)
                     : MPI_Comm_connect(port.data(), MPI_INFO_NULL, 0, half, &inter));
    talk(inter, size_of(MPI_COMM_WORLD) - size_of(half));
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  if (rank_in(MPI_COMM_WORLD) == 0) {
    SUCCEEDS(MPI_Unpublish_name("halves", MPI_INFO_NULL, port.data()));
    CHECK(class_of(MPI_Unpublish_name("halves", MPI_INFO_NULL, port.data())) == MPI_ERR_SERVICE);
    PortName found = {};
    CHECK(class_of(MPI_Lookup_name("halves", MPI_INFO_NULL, found.data())) == MPI_ERR_NAME);
    SUCCEEDS(MPI_Close_port(port.data()));
    CHECK(class_of(MPI_Close_port(port.data())) == MPI_ERR_PORT);
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  MPI_Comm inter = MPI_COMM_SELF;
  CHECK(class_of(MPI_Comm_connect(port.data(), MPI_INFO_NULL, 0, half, &inter)) == MPI_ERR_PORT);
  CHECK(inter == MPI_COMM_NULL);
  CHECK(class_of(MPI_Comm_accept("no port", MPI_INFO_NULL, 0, half, &inter)) == MPI_ERR_PORT);
  SUCCEEDS(MPI_Comm_free(&half));
}

/// Nobody accepts, so a process that connects gives up after the time that its hint names.
void test_nobody_accepts() {
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  PortName port = {};
  SUCCEEDS(MPI_Open_port(MPI_INFO_NULL, port.data()));
  MPI_Info hints = MPI_INFO_NULL;
  SUCCEEDS(MPI_Info_create(&hints));
  SUCCEEDS(MPI_Info_set(hints, "timeout", "1"));
  SUCCEEDS(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  MPI_Comm inter = MPI_COMM_SELF;
  CHECK(class_of(MPI_Comm_connect(port.data(), hints, 0, MPI_COMM_SELF, &inter)) == MPI_ERR_PORT);
  CHECK(inter == MPI_COMM_NULL);
  SUCCEEDS(MPI_Info_free(&hints));
  SUCCEEDS(MPI_Close_port(port.data()));
}

/// An address that no other job has.
sockaddr_un address_of(const PortName& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), sizeof address.sun_path - 1);
  return address;
}

int socket_of_first(const PortName& name) {
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = address_of(name);
  CHECK(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(listen(listening, 1) == 0);
  SUCCEEDS(MPI_Send(nullptr, 0, MPI_INT, 1, 1, MPI_COMM_WORLD));
  const int made = accept(listening, nullptr, nullptr);
  close(listening);
  return made;
}

int socket_of_second(const PortName& name) {
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = address_of(name);
  SUCCEEDS(MPI_Recv(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return made;
}

/// Ranks 0 and 1 have a socket in common.
void test_join() {
  const int rank = rank_in(MPI_COMM_WORLD);
  if (rank > 1) return;
  PortName name = {};
  const int pid = static_cast<int>(getpid());
  std::snprintf(name.data(), name.size(), "librma-test-join-%d", pid);
  if (rank == 0) SUCCEEDS(MPI_Send(name.data(), MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
  if (rank == 1)
    SUCCEEDS(MPI_Recv(name.data(), MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  const int fd = rank == 0 ? socket_of_first(name) : socket_of_second(name);
  MPI_Comm inter = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_join(fd, &inter));
  talk(inter, 1);
  close(fd);
}

/// Children of two spawns, which have no ancestor in common but the job.
void test_children_of_two() {
  std::array<char, PATH_MAX> path = {};
  CHECK(readlink("/proc/self/exe", path.data(), path.size() - 1) > 0);
  std::array<MPI_Comm, 2> children = {};
  const std::array<std::string, 2> words = {"accept", "connect"};
  for (std::size_t i = 0; i < children.size(); ++i) {
    std::string word = words[i];
    std::array<char*, 2> arguments = {word.data(), nullptr};
    SUCCEEDS(MPI_Comm_spawn(path.data(), arguments.data(), 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children[i],
                            MPI_ERRCODES_IGNORE));
    // The port is there before those start that look for it.
    SUCCEEDS(MPI_Barrier(children[i]));
  }
  for (MPI_Comm& inter : children) SUCCEEDS(MPI_Comm_disconnect(&inter));
}

int be_child(MPI_Comm parent, std::string_view what) {
  PortName port = {};
  const bool is_first = rank_in(MPI_COMM_WORLD) == 0;
  MPI_Comm inter = MPI_COMM_NULL;
  if (what == "accept") {
    if (is_first) SUCCEEDS(MPI_Open_port(MPI_INFO_NULL, port.data()));
    if (is_first) SUCCEEDS(MPI_Publish_name("children", MPI_INFO_NULL, port.data()));
    SUCCEEDS(MPI_Barrier(parent));
    SUCCEEDS(MPI_Comm_accept(port.data(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
  } else {
    SUCCEEDS(MPI_Barrier(parent));
    if (is_first) SUCCEEDS(MPI_Lookup_name("children", MPI_INFO_NULL, port.data()));
    SUCCEEDS(MPI_Comm_connect(port.data(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
  }
  talk(inter, 2);
  if (what == "accept" && is_first) SUCCEEDS(MPI_Unpublish_name("children", MPI_INFO_NULL, port.data()));
  SUCCEEDS(MPI_Comm_disconnect(&parent));
  return result();
}

void test_alone() {
  PortName port = {};
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK(class_of(MPI_Open_port(MPI_INFO_NULL, port.data())) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_Publish_name("x", MPI_INFO_NULL, "y")) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_Unpublish_name("x", MPI_INFO_NULL, "y")) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_Lookup_name("x", MPI_INFO_NULL, port.data())) == MPI_ERR_UNSUPPORTED_OPERATION);
  const int code = MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                  MPI_ERRCODES_IGNORE);
  CHECK(class_of(code) == MPI_ERR_SPAWN);
  std::array<char, MPI_MAX_ERROR_STRING> text = {};
  int length = 0;
  SUCCEEDS(MPI_Error_string(code, text.data(), &length));
  CHECK(inter == MPI_COMM_NULL && length > 0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = 0;
  if (parent != MPI_COMM_NULL) {
    code = be_child(parent, argv[1]);
  } else if (argc > 1 && std::string_view(argv[1]) == "alone") {
    test_alone();
    code = result();
  } else {
    test_two_halves();
    test_nobody_accepts();
    test_join();
    int* seats = nullptr;
    int flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &seats, &flag);
    if (*seats > size_of(MPI_COMM_WORLD)) test_children_of_two();
    code = result();
  }
  MPI_Finalize();
  return code;
}
