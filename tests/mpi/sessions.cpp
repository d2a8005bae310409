// Sessions without MPI_Init, beside it and after it, and communicators of groups that have no parent.

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

int errors = 0;
void count_error(MPI_Session* /*session*/, int* /*code*/, ...) { ++errors; }

/// Returns the communicator of a process set.
MPI_Comm comm_of(MPI_Session session, const char* set, const char* text) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  SUCCEEDS(MPI_Group_from_session_pset(session, set, &group));
  SUCCEEDS(MPI_Comm_create_from_group(group, text, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  SUCCEEDS(MPI_Group_free(&group));
  return comm;
}

/// What a session says of itself and of its process sets. `world` has all processes.
void questions(MPI_Session session, MPI_Comm world) {
  int count = -1;
  SUCCEEDS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
  CHECK(count == 2);
  std::vector<std::string> sets;
  for (int i = 0; i < count; ++i) {
    int length = 0;
    SUCCEEDS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, nullptr));
    std::string name(static_cast<std::size_t>(length), 'x');
    SUCCEEDS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name.data()));
    CHECK(static_cast<int>(std::strlen(name.c_str())) == length - 1);
    sets.emplace_back(name.c_str());
    std::array<char, 4> beginning = {'x', 'x', 'x', 'x'};
    length = 3;
    SUCCEEDS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, beginning.data()));
    CHECK(std::strcmp(beginning.data(), "mp") == 0 && beginning[3] == 'x');
  }
  CHECK((sets == std::vector<std::string>{"mpi://WORLD", "mpi://SELF"}));
  for (const auto& [set, expected] : {std::pair{"mpi://world", size_of(world)}, std::pair{"mpi://SELF", 1}}) {
    MPI_Info info = MPI_INFO_NULL;
    int found = 0;
    std::array<char, 32> value = {};
    auto length = static_cast<int>(value.size());
    SUCCEEDS(MPI_Session_get_pset_info(session, set, &info));
    SUCCEEDS(MPI_Info_get_string(info, "mpi_size", &length, value.data(), &found));
    CHECK(found == 1 && value.data() == std::to_string(expected));
    SUCCEEDS(MPI_Info_free(&info));
  }
  errors = 0;
  MPI_Group group = MPI_GROUP_NULL;
  CHECK(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group) == MPI_ERR_ARG);
  CHECK(group == MPI_GROUP_NULL);
  CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &count, nullptr) == MPI_ERR_ARG);
  CHECK(errors == 2);
}

void levels(MPI_Errhandler handler) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Session session = MPI_SESSION_NULL;
  SUCCEEDS(MPI_Info_create(&info));
  SUCCEEDS(MPI_Info_set(info, "thread_level", "as many as possible"));
  CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_ERR_INFO_VALUE);
  CHECK(session == MPI_SESSION_NULL);
  SUCCEEDS(MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED"));
  SUCCEEDS(MPI_Session_init(info, handler, &session));
  SUCCEEDS(MPI_Info_free(&info));
  SUCCEEDS(MPI_Session_get_info(session, &info));
  std::array<char, 32> value = {};
  auto length = static_cast<int>(value.size());
  int found = 0;
  SUCCEEDS(MPI_Info_get_string(info, "thread_level", &length, value.data(), &found));
  CHECK(found == 1 && std::strcmp(value.data(), "MPI_THREAD_FUNNELED") == 0);
  SUCCEEDS(MPI_Info_free(&info));
  SUCCEEDS(MPI_Session_finalize(&session));
  CHECK(session == MPI_SESSION_NULL);
}

int sum_of_ranks(MPI_Comm comm) {
  const int rank = rank_in(comm);
  int sum = -1;
  if (MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS) return -1;
  return sum;
}

/// Threads make communicators of one group at the same time, with texts of their own, in different orders.
void threads(MPI_Session session, MPI_Comm world) {
  constexpr std::size_t kThreads = 3;
  const int size = size_of(world);
  MPI_Group group = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  std::array<int, kThreads> failures = {};
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < kThreads; ++i) {
    all.emplace_back([&, i] {
      const std::string text = "thread " + std::to_string(i);
      for (int turn = 0; turn < 8; ++turn) {
        MPI_Comm comm = MPI_COMM_NULL;
        const int made =
            MPI_Comm_create_from_group(group, text.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        if (made != MPI_SUCCESS || sum_of_ranks(comm) != size * (size - 1) / 2) ++failures[i];
        if (MPI_Comm_free(&comm) != MPI_SUCCESS) ++failures[i];
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  CHECK((failures == std::array<int, kThreads>{}));
  SUCCEEDS(MPI_Group_free(&group));
}

/// Two groups meet without a communicator: the even and the odd ranks.
void two_groups(MPI_Session session, MPI_Comm world) {
  const int size = size_of(world);
  const int rank = rank_in(world);
  if (size == 1) return;
  MPI_Group all = MPI_GROUP_NULL;
  std::array<MPI_Group, 2> halves = {MPI_GROUP_NULL, MPI_GROUP_NULL};
  SUCCEEDS(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
  for (int i = 0; i < 2; ++i) {
    int range[1][3] = {{i, size - 1, 2}};
    SUCCEEDS(MPI_Group_range_incl(all, 1, range, &halves[static_cast<std::size_t>(i)]));
  }
  const auto own = static_cast<std::size_t>(rank % 2);
  int last = -1;
  SUCCEEDS(MPI_Group_size(halves[1], &last));
  --last;
  MPI_Comm inter = MPI_COMM_NULL;
  // The leaders are the first even rank and the last odd one.
  SUCCEEDS(MPI_Intercomm_create_from_groups(halves[own], own == 0 ? 0 : last, halves[1 - own],
                                            own == 0 ? last : 0, "even and odd", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &inter));
  int remote = -1;
  SUCCEEDS(MPI_Comm_remote_size(inter, &remote));
  CHECK(size_of(inter) == (own == 0 ? (size + 1) / 2 : size / 2) && size_of(inter) + remote == size);
  int sum = -1;
  int expected = 0;
  for (int i = own == 0 ? 1 : 0; i < size; i += 2) expected += i;
  SUCCEEDS(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
  CHECK(sum == expected);
  SUCCEEDS(MPI_Comm_free(&inter));
  for (MPI_Group& half : halves) SUCCEEDS(MPI_Group_free(&half));
  SUCCEEDS(MPI_Group_free(&all));
}

void mistakes(MPI_Session session) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  SUCCEEDS(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
  const std::string endless(MPI_MAX_STRINGTAG_LEN, 'x');
  CHECK(MPI_Comm_create_from_group(MPI_GROUP_NULL, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_ERR_GROUP);
  CHECK(MPI_Comm_create_from_group(group, nullptr, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_ERR_ARG);
  CHECK(MPI_Comm_create_from_group(group, endless.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_ERR_ARG);
  CHECK(MPI_Intercomm_create_from_groups(group, 1, group, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_ERR_RANK);
  CHECK(MPI_Intercomm_create_from_groups(group, 0, group, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_ERR_GROUP);
  SUCCEEDS(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  CHECK(comm == MPI_COMM_NULL);
  SUCCEEDS(MPI_Group_free(&group));
}

/// Opens a window in an epoch of a fence, and leaves it open.
MPI_Win leave_window(MPI_Comm world) {
  MPI_Win win = MPI_WIN_NULL;
  void* base = nullptr;
  SUCCEEDS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, world, &base, &win));
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  SUCCEEDS(MPI_Win_fence(0, win));
  const long value = 1;
  SUCCEEDS(MPI_Put(&value, 1, MPI_LONG, rank_in(world), 0, 1, MPI_LONG, win));
  return win;
}

/// The epochs of a window end with the job, whose memory the window is.
void use_left_window(MPI_Win win, int rank) {
  long value = 1;
  CHECK(MPI_Put(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win) == MPI_ERR_RMA_SYNC);
  CHECK(MPI_Get(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win) == MPI_ERR_RMA_SYNC);
  CHECK(MPI_Accumulate(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, MPI_SUM, win) == MPI_ERR_RMA_SYNC);
}

/// A session's whole life. MPI_COMM_WORLD may not be there.
void use_session(MPI_Errhandler handler, int& failures, MPI_Win& left) {
  mpi_test::failures = 0;
  MPI_Session session = MPI_SESSION_NULL;
  SUCCEEDS(MPI_Session_init(MPI_INFO_NULL, handler, &session));
  MPI_Comm world = comm_of(session, "mpi://WORLD", "all");
  MPI_Comm self = comm_of(session, "mpi://SELF", "alone");
  CHECK(size_of(self) == 1 && sum_of_ranks(world) == size_of(world) * (size_of(world) - 1) / 2);
  questions(session, world);
  levels(handler);
  threads(session, world);
  two_groups(session, world);
  mistakes(session);
  if (left != MPI_WIN_NULL) use_left_window(left, rank_in(world));
  left = leave_window(world);
  SUCCEEDS(MPI_Comm_free(&self));
  SUCCEEDS(MPI_Comm_disconnect(&world));
  SUCCEEDS(MPI_Session_finalize(&session));
  failures += mpi_test::failures;
}

}  // namespace

int main(int argc, char** argv) {
  int failures = 0;
  int flag = -1;
  MPI_Win left = MPI_WIN_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Session_create_errhandler(count_error, &handler);
  use_session(handler, failures, left);
  MPI_Initialized(&flag);
  if (flag != 0) ++failures;  // a session is not MPI_Init
  MPI_Init(&argc, &argv);
  use_session(handler, failures, left);
  MPI_Session beyond = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &beyond);
  mpi_test::failures = failures;
  int code = mpi_test::result();
  MPI_Finalize();
  // The job goes on for the session that is open.
  MPI_Comm world = comm_of(beyond, "mpi://WORLD", "after");
  if (sum_of_ranks(world) != size_of(world) * (size_of(world) - 1) / 2) code = EXIT_FAILURE;
  MPI_Comm_disconnect(&world);
  MPI_Session_finalize(&beyond);
  MPI_Errhandler_free(&handler);
  return code;
}
