// Processes that a program starts while it runs: how they meet their parents and each other, what both can do
// together, and what happens if they cannot start. The children are this program too; their first argument
// says what they do.

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using namespace mpi_test;

std::string own_path() {
  std::array<char, PATH_MAX> path = {};
  CHECK(readlink("/proc/self/exe", path.data(), path.size() - 1) > 0);
  return path.data();
}

int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

int remote_size_of(MPI_Comm inter) {
  int size = -1;
  SUCCEEDS(MPI_Comm_remote_size(inter, &size));
  return size;
}

/// Starts children that are this program with these arguments.
MPI_Comm spawn(MPI_Comm comm, int count, std::vector<std::string> words, MPI_Info info = MPI_INFO_NULL) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<int> codes(static_cast<std::size_t>(count), -1);
  MPI_Comm inter = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_spawn(own_path().c_str(), arguments.data(), count, info, 0, comm, &inter, codes.data()));
  CHECK(codes == std::vector<int>(static_cast<std::size_t>(count), MPI_SUCCESS));
  return inter;
}

/// Each process sends to each of the other group and receives from it, short messages and long ones.
void exchange_messages(MPI_Comm inter) {
  const int rank = rank_in(inter);
  const int others = remote_size_of(inter);
  for (const int count : {1, 100, 300000}) {
    std::vector<std::vector<int>> in(static_cast<std::size_t>(others));
    const std::vector<int> out(static_cast<std::size_t>(count), 1000 + rank);
    std::vector<MPI_Request> requests;
    for (int other = 0; other < others; ++other) {
      auto& buffer = in[static_cast<std::size_t>(other)];
      buffer.resize(static_cast<std::size_t>(count));
      SUCCEEDS(MPI_Irecv(buffer.data(), count, MPI_INT, other, count, inter, &requests.emplace_back()));
    }
    for (int other = 0; other < others; ++other)
      SUCCEEDS(MPI_Send(out.data(), count, MPI_INT, other, count, inter));
    SUCCEEDS(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    for (int other = 0; other < others; ++other)
      CHECK(in[static_cast<std::size_t>(other)] ==
            std::vector<int>(static_cast<std::size_t>(count), 1000 + other));
  }
  SUCCEEDS(MPI_Barrier(inter));
  // From any of them.
  std::vector<MPI_Request> sends(static_cast<std::size_t>(others));
  for (int other = 0; other < others; ++other)
    SUCCEEDS(MPI_Isend(&rank, 1, MPI_INT, other, 7, inter, &sends[static_cast<std::size_t>(other)]));
  std::vector<bool> seen(static_cast<std::size_t>(others));
  for (int i = 0; i < others; ++i) {
    int from = -1;
    MPI_Status status;
    SUCCEEDS(MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 7, inter, &status));
    CHECK(status.MPI_SOURCE == from && from >= 0 && from < others);
    seen[static_cast<std::size_t>(from)] = true;
  }
  CHECK(seen == std::vector<bool>(static_cast<std::size_t>(others), true));
  SUCCEEDS(MPI_Waitall(others, sends.data(), MPI_STATUSES_IGNORE));
}

/// Collective calls of both groups.
void call_across(MPI_Comm inter, bool is_parent) {
  const int others = remote_size_of(inter);
  int value = is_parent ? 4711 : -1;
  const int parents_root = rank_in(inter) == 0 ? MPI_ROOT : MPI_PROC_NULL;
  SUCCEEDS(MPI_Bcast(&value, 1, MPI_INT, is_parent ? parents_root : 0, inter));
  CHECK(value == 4711);
  const int mine = 1 + rank_in(inter);
  int sum = -1;
  SUCCEEDS(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
  CHECK(sum == others * (others + 1) / 2);
  std::vector<int> all(static_cast<std::size_t>(others));
  SUCCEEDS(MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, inter));
  for (int i = 0; i < others; ++i) CHECK(all[static_cast<std::size_t>(i)] == i + 1);
}

/// What a communicator of both groups can do.
void use_together(MPI_Comm both) {
  const int rank = rank_in(both);
  const int size = size_of(both);
  int sum = -1;
  SUCCEEDS(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both));
  CHECK(sum == size * (size - 1) / 2);
  std::vector<int> out(static_cast<std::size_t>(size));
  std::vector<int> in(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) out[static_cast<std::size_t>(i)] = 100 * rank + i;
  SUCCEEDS(MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, both));
  for (int i = 0; i < size; ++i) CHECK(in[static_cast<std::size_t>(i)] == 100 * i + rank);
  MPI_Comm half = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split(both, rank % 2, -rank, &half));
  int least = -1;
  SUCCEEDS(MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, half));
  CHECK(least == rank % 2);
  SUCCEEDS(MPI_Comm_free(&half));
  int* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, both, &memory, &window));
  SUCCEEDS(MPI_Win_fence(0, window));
  SUCCEEDS(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window));
  SUCCEEDS(MPI_Win_fence(0, window));
  CHECK(*memory == (rank + size - 1) % size);
  SUCCEEDS(MPI_Win_free(&window));
}

/// What parents and children do with each other, and their goodbye.
void live_together(MPI_Comm inter, bool is_parent) {
  exchange_messages(inter);
  call_across(inter, is_parent);
  MPI_Comm both = MPI_COMM_NULL;
  SUCCEEDS(MPI_Intercomm_merge(inter, is_parent ? 0 : 1, &both));
  CHECK(rank_in(both) == rank_in(inter) + (is_parent ? 0 : remote_size_of(inter)));
  use_together(both);
  SUCCEEDS(MPI_Comm_free(&both));
  SUCCEEDS(MPI_Comm_disconnect(&inter));
  CHECK(inter == MPI_COMM_NULL);
}

void test_children() {
  for (int children = 1; children <= 3; ++children) {
    MPI_Comm inter = spawn(MPI_COMM_WORLD, children, {"live", std::to_string(children)});
    CHECK(remote_size_of(inter) == children);
    live_together(inter, true);
  }
}

/// Two groups of children at a time, and receives from any rank of the own world meanwhile and afterwards.
void test_twice() {
  MPI_Comm first = spawn(MPI_COMM_WORLD, 2, {"live", "2"});
  MPI_Comm second = spawn(MPI_COMM_WORLD, 1, {"live", "1"});
  live_together(second, true);
  live_together(first, true);
  const Ring ring(MPI_COMM_WORLD);
  int from = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Irecv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_Send(&ring.rank, 1, MPI_INT, ring.next, 3, MPI_COMM_WORLD));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(from == ring.previous);
}

/// Two threads of each process spawn at the same time, each over a communicator of its own.
void test_threads() {
  std::array<MPI_Comm, 2> comms = {};
  for (MPI_Comm& comm : comms) SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  constexpr int kTimes = 3;
  for (int i = 0; i < kTimes; ++i) {
    std::array<std::thread, 2> threads;
    for (std::size_t thread = 0; thread < threads.size(); ++thread) {
      threads[thread] = std::thread([comm = comms[thread]] {
        live_together(spawn(comm, 1, {"live", "1"}), true);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (MPI_Comm& comm : comms) SUCCEEDS(MPI_Comm_free(&comm));
}

/// One process alone has a child. The others then meet it too.
void test_introduced() {
  MPI_Comm both = MPI_COMM_NULL;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    MPI_Comm inter = spawn(MPI_COMM_SELF, 1, {"introduced"});
    SUCCEEDS(MPI_Intercomm_merge(inter, 0, &both));
    SUCCEEDS(MPI_Comm_free(&inter));
  }
  MPI_Comm inter = MPI_COMM_NULL;
  SUCCEEDS(MPI_Intercomm_create(MPI_COMM_WORLD, 0, both, 1, 5, &inter));
  if (both != MPI_COMM_NULL) SUCCEEDS(MPI_Comm_free(&both));
  live_together(inter, true);
}

void test_grandchildren() {
  MPI_Comm inter = spawn(MPI_COMM_WORLD, 1, {"parent"});
  int grandchildren = -1;
  SUCCEEDS(MPI_Bcast(&grandchildren, 1, MPI_INT, 0, inter));
  CHECK(grandchildren == 2);
  live_together(inter, true);
}

void test_two_programs() {
  std::string path = own_path();
  std::array<char*, 2> commands = {path.data(), path.data()};
  std::string word = "program";
  std::string zero = "0";
  std::string one = "1";
  std::array<char*, 3> first = {word.data(), zero.data(), nullptr};
  std::array<char*, 3> second = {word.data(), one.data(), nullptr};
  std::array<char**, 2> arguments = {first.data(), second.data()};
  const std::array most = {1, 2};
  const std::array infos = {MPI_INFO_NULL, MPI_INFO_NULL};
  std::array codes = {-1, -1, -1};
  MPI_Comm inter = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_spawn_multiple(2, commands.data(), arguments.data(), most.data(), infos.data(), 0,
                                   MPI_COMM_WORLD, &inter, codes.data()));
  CHECK((codes == std::array{MPI_SUCCESS, MPI_SUCCESS, MPI_SUCCESS}));
  CHECK(remote_size_of(inter) == 3);
  live_together(inter, true);
}

MPI_Info info_of(const char* key, const std::string& value) {
  MPI_Info info = MPI_INFO_NULL;
  SUCCEEDS(MPI_Info_create(&info));
  SUCCEEDS(MPI_Info_set(info, key, value.c_str()));
  return info;
}

void test_infos() {
  MPI_Info directory = info_of("wdir", "/");
  MPI_Comm inter = spawn(MPI_COMM_WORLD, 1, {"directory"}, directory);
  live_together(inter, true);
  SUCCEEDS(MPI_Info_free(&directory));

  std::string folder = own_path();
  const std::string name = folder.substr(folder.rfind('/') + 1);
  folder.resize(folder.rfind('/'));
  MPI_Info path = info_of("path", "/nowhere:" + folder);
  SUCCEEDS(MPI_Info_set(path, "host", "localhost"));
  std::string word = "live";
  std::string one = "1";
  std::array<char*, 3> arguments = {word.data(), one.data(), nullptr};
  SUCCEEDS(MPI_Comm_spawn(name.c_str(), arguments.data(), 1, path, 0, MPI_COMM_WORLD, &inter,
                          MPI_ERRCODES_IGNORE));
  live_together(inter, true);
  SUCCEEDS(MPI_Info_free(&path));

  // As many as a list allows.
  int* seats = nullptr;
  int flag = 0;
  SUCCEEDS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &seats, &flag));
  CHECK(flag != 0 && *seats > size_of(MPI_COMM_WORLD));
  MPI_Info soft = info_of("soft", "1:2");
  std::string two = "2";
  arguments[1] = two.data();
  std::vector<int> codes(static_cast<std::size_t>(*seats), -1);
  SUCCEEDS(MPI_Comm_spawn(own_path().c_str(), arguments.data(), *seats, soft, 0, MPI_COMM_WORLD, &inter,
                          codes.data()));
  CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS && class_of(codes[2]) == MPI_ERR_SPAWN);
  CHECK(remote_size_of(inter) == 2);
  live_together(inter, true);
  SUCCEEDS(MPI_Info_free(&soft));
}

void expect_none(const char* command, int count, MPI_Info info) {
  MPI_Comm inter = MPI_COMM_SELF;
  std::vector<int> codes(static_cast<std::size_t>(count), -1);
  const int code =
      MPI_Comm_spawn(command, MPI_ARGV_NULL, count, info, 0, MPI_COMM_WORLD, &inter, codes.data());
  CHECK(class_of(code) == MPI_ERR_SPAWN);
  CHECK(inter == MPI_COMM_NULL);
  CHECK(codes == std::vector<int>(static_cast<std::size_t>(count), MPI_ERR_SPAWN));
}

void test_failures() {
  expect_none("/nowhere/no-such-program", 2, MPI_INFO_NULL);
  expect_none("no-such-program-in-any-folder", 1, MPI_INFO_NULL);
  expect_none("/etc/passwd", 1, MPI_INFO_NULL);
  expect_none(own_path().c_str(), 10000, MPI_INFO_NULL);
  for (const auto& [key, value] :
       {std::pair{"host", "another.example"}, std::pair{"wdir", "/nowhere"}, std::pair{"soft", "no list"}}) {
    MPI_Info info = info_of(key, value);
    expect_none(own_path().c_str(), 1, info);
    SUCCEEDS(MPI_Info_free(&info));
  }
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK(class_of(MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, size_of(MPI_COMM_WORLD),
                                MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)) == MPI_ERR_ROOT);
  CHECK(class_of(MPI_Comm_spawn_multiple(0, nullptr, MPI_ARGVS_NULL, nullptr, nullptr, 0, MPI_COMM_WORLD,
                                         &inter, MPI_ERRCODES_IGNORE)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Comm_spawn_multiple(1, nullptr, MPI_ARGVS_NULL, nullptr, nullptr, 0, MPI_COMM_WORLD,
                                         &inter, MPI_ERRCODES_IGNORE)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                MPI_ERRCODES_IGNORE)) == MPI_ERR_ARG);
}

int be_child(MPI_Comm parent, const std::vector<std::string>& words) {
  const std::string& what = words.at(0);
  CHECK(remote_size_of(parent) > 0);
  if (what == "live") CHECK(size_of(MPI_COMM_WORLD) == std::stoi(words.at(1)));
  if (what == "program") {
    int* number = nullptr;
    int flag = 0;
    SUCCEEDS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
    CHECK(flag != 0 && *number == std::stoi(words.at(1)));
    CHECK(size_of(MPI_COMM_WORLD) == 3);
  }
  if (what == "directory") {
    std::array<char, PATH_MAX> here = {};
    CHECK(getcwd(here.data(), here.size()) != nullptr && std::strcmp(here.data(), "/") == 0);
  }
  if (what == "parent") {
    MPI_Comm inter = spawn(MPI_COMM_WORLD, 2, {"live", "2"});
    live_together(inter, true);
    int count = 2;
    SUCCEEDS(MPI_Bcast(&count, 1, MPI_INT, MPI_ROOT, parent));
  }
  if (what == "introduced") {
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Comm inter = MPI_COMM_NULL;
    SUCCEEDS(MPI_Intercomm_merge(parent, 1, &both));
    SUCCEEDS(MPI_Comm_free(&parent));
    SUCCEEDS(MPI_Intercomm_create(MPI_COMM_WORLD, 0, both, 0, 5, &inter));
    SUCCEEDS(MPI_Comm_free(&both));
    live_together(inter, false);
    return result();
  }
  live_together(parent, false);
  MPI_Comm again = MPI_COMM_SELF;
  SUCCEEDS(MPI_Comm_get_parent(&again));
  CHECK(again == MPI_COMM_NULL);
  return result();
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm parent = MPI_COMM_SELF;
  MPI_Comm_get_parent(&parent);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = 0;
  if (parent != MPI_COMM_NULL) {
    code = be_child(parent, {argv + 1, argv + argc});
  } else {
    test_children();
    test_twice();
    test_threads();
    test_introduced();
    test_grandchildren();
    test_two_programs();
    test_infos();
    test_failures();
    code = result();
  }
  MPI_Finalize();
  return code;
}
