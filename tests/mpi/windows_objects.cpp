// Windows as objects: attributes, names, hints, groups, conversions, error handlers; and the errors of every
// call.

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "window_case.hpp"

namespace {

using namespace mpi_test;

void predefined_attributes() {
  for (const int flavor : flavors()) {
    const TestWindow window(flavor, 160);
    void* value = nullptr;
    int flag = 0;
    const bool dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC;
    SUCCEEDS(MPI_Win_get_attr(window.get(), MPI_WIN_BASE, &value, &flag));
    CHECK(flag == 1 && value == (dynamic ? MPI_BOTTOM : window.memory()));
    SUCCEEDS(MPI_Win_get_attr(window.get(), MPI_WIN_SIZE, &value, &flag));
    CHECK(flag == 1 && *static_cast<MPI_Aint*>(value) == (dynamic ? 0 : 160));
    SUCCEEDS(MPI_Win_get_attr(window.get(), MPI_WIN_DISP_UNIT, &value, &flag));
    CHECK(flag == 1 &&
          *static_cast<int*>(value) == (dynamic ? 1 : TestWindow::unit(rank_in(MPI_COMM_WORLD))));
    SUCCEEDS(MPI_Win_get_attr(window.get(), MPI_WIN_CREATE_FLAVOR, &value, &flag));
    CHECK(flag == 1 && *static_cast<int*>(value) == flavor);
    SUCCEEDS(MPI_Win_get_attr(window.get(), MPI_WIN_MODEL, &value, &flag));
    CHECK(flag == 1 && *static_cast<int*>(value) == MPI_WIN_UNIFIED);
  }
}

int deleted = 0;
int count_deletion(MPI_Win /*win*/, int /*keyval*/, void* value, void* extra) {
  deleted += *static_cast<int*>(value);
  return *static_cast<int*>(extra);
}

void own_attributes() {
  MPI_Win win = MPI_WIN_NULL;
  void* base = nullptr;
  SUCCEEDS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  int result_of_delete = MPI_SUCCESS;
  int key = MPI_KEYVAL_INVALID;
  SUCCEEDS(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deletion, &key, &result_of_delete));
  int one = 1;
  int ten = 10;
  void* value = nullptr;
  int flag = 1;
  SUCCEEDS(MPI_Win_get_attr(win, key, &value, &flag));
  CHECK(flag == 0);
  SUCCEEDS(MPI_Win_set_attr(win, key, &one));
  SUCCEEDS(MPI_Win_get_attr(win, key, &value, &flag));
  CHECK(flag == 1 && value == &one);
  SUCCEEDS(MPI_Win_set_attr(win, key, &ten));
  CHECK(deleted == 1);
  SUCCEEDS(MPI_Win_delete_attr(win, key));
  CHECK(deleted == 11);
  CHECK(MPI_Win_delete_attr(win, key) == MPI_ERR_KEYVAL);
  CHECK(MPI_Win_set_attr(win, MPI_WIN_SIZE, &one) == MPI_ERR_KEYVAL);
  CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &one) == MPI_ERR_KEYVAL);
  SUCCEEDS(MPI_Win_set_attr(win, key, &one));
  // A delete function that fails keeps the window.
  result_of_delete = MPI_ERR_OTHER;
  CHECK(MPI_Win_free(&win) == MPI_ERR_OTHER);
  CHECK(win != MPI_WIN_NULL && deleted == 12);
  result_of_delete = MPI_SUCCESS;
  int again = key;
  SUCCEEDS(MPI_Win_free_keyval(&again));
  CHECK(again == MPI_KEYVAL_INVALID);
  CHECK(MPI_Win_set_attr(win, key, &one) == MPI_ERR_KEYVAL);
  SUCCEEDS(MPI_Win_free(&win));
  CHECK(win == MPI_WIN_NULL && deleted == 13);
}

void names_and_hints() {
  MPI_Info given = MPI_INFO_NULL;
  SUCCEEDS(MPI_Info_create(&given));
  SUCCEEDS(MPI_Info_set(given, "no_locks", "true"));
  SUCCEEDS(MPI_Info_set(given, "nobody_knows", "true"));
  MPI_Win win = MPI_WIN_NULL;
  void* base = nullptr;
  SUCCEEDS(MPI_Win_allocate(8, 1, given, MPI_COMM_WORLD, &base, &win));
  std::array<char, MPI_MAX_OBJECT_NAME> name = {};
  int length = -1;
  SUCCEEDS(MPI_Win_get_name(win, name.data(), &length));
  CHECK(length == 0 && name[0] == '\0');
  SUCCEEDS(MPI_Win_set_name(win, "the window"));
  SUCCEEDS(MPI_Win_get_name(win, name.data(), &length));
  CHECK(length == 10 && std::strcmp(name.data(), "the window") == 0);
  SUCCEEDS(MPI_Info_set(given, "no_locks", "false"));
  SUCCEEDS(MPI_Info_set(given, "same_size", "true"));
  SUCCEEDS(MPI_Win_set_info(win, given));
  MPI_Info used = MPI_INFO_NULL;
  SUCCEEDS(MPI_Win_get_info(win, &used));
  const auto hint = [&](const char* key) {
    std::array<char, 64> value = {};
    int flag = 0;
    SUCCEEDS(MPI_Info_get(used, key, 63, value.data(), &flag));
    return std::string(flag != 0 ? value.data() : "none");
  };
  CHECK(hint("no_locks") == "false" && hint("same_size") == "true" && hint("nobody_knows") == "none");
  CHECK(hint("accumulate_ordering") == "rar,raw,war,waw");
  SUCCEEDS(MPI_Info_free(&used));
  SUCCEEDS(MPI_Info_free(&given));
  SUCCEEDS(MPI_Win_free(&win));
}

/// The members of a window of a part of the processes, in another order.
void groups_and_conversions() {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
  int value = 100 + rank;
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, half, &win));
  MPI_Group of_window = MPI_GROUP_NULL;
  MPI_Group of_comm = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Win_get_group(win, &of_window));
  SUCCEEDS(MPI_Comm_group(half, &of_comm));
  int comparison = -1;
  SUCCEEDS(MPI_Group_compare(of_window, of_comm, &comparison));
  CHECK(comparison == MPI_IDENT);
  CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
  CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
  CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
  // The first rank of the window is the last one of its half.
  const int last = size - 1 - (size - 1 - rank) % 2;
  int got = -1;
  SUCCEEDS(MPI_Win_fence(0, win));
  SUCCEEDS(MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  SUCCEEDS(MPI_Win_fence(0, win));
  CHECK(got == 100 + last);
  SUCCEEDS(MPI_Group_free(&of_window));
  SUCCEEDS(MPI_Group_free(&of_comm));
  SUCCEEDS(MPI_Comm_free(&half));  // the window stays
  SUCCEEDS(MPI_Win_fence(0, win));
  SUCCEEDS(MPI_Win_free(&win));
}

MPI_Win handled_win = MPI_WIN_NULL;
int handled_code = MPI_SUCCESS;
void handle_error(MPI_Win* win, int* code, ...) {
  handled_win = *win;
  handled_code = *code;
}

void error_handlers() {
  MPI_Win win = MPI_WIN_NULL;
  void* base = nullptr;
  SUCCEEDS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  SUCCEEDS(MPI_Win_get_errhandler(win, &handler));
  CHECK(handler == MPI_ERRORS_ARE_FATAL);
  SUCCEEDS(MPI_Win_create_errhandler(handle_error, &handler));
  SUCCEEDS(MPI_Win_set_errhandler(win, handler));
  MPI_Errhandler seen = MPI_ERRHANDLER_NULL;
  SUCCEEDS(MPI_Win_get_errhandler(win, &seen));
  CHECK(seen == handler);
  SUCCEEDS(MPI_Errhandler_free(&seen));
  SUCCEEDS(MPI_Errhandler_free(&handler));
  SUCCEEDS(MPI_Win_call_errhandler(win, MPI_ERR_IO));
  CHECK(handled_win == win && handled_code == MPI_ERR_IO);
  CHECK(MPI_Win_unlock(0, win) == MPI_ERR_RMA_SYNC);
  CHECK(handled_win == win && handled_code == MPI_ERR_RMA_SYNC);
  SUCCEEDS(MPI_Win_free(&win));
}

/// Creation with wrong arguments fails before anybody waits.
void creation_errors() {
  MPI_Win win = MPI_WIN_NULL;
  void* base = nullptr;
  long word = 0;
  CHECK(MPI_Win_create(&word, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_ERR_SIZE);
  CHECK(MPI_Win_create(&word, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_ERR_DISP);
  CHECK(MPI_Win_create(nullptr, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_ERR_BASE);
  CHECK(MPI_Win_create(&word, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr) == MPI_ERR_ARG);
  CHECK(MPI_Win_create(&word, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win) == MPI_ERR_COMM);
  CHECK(MPI_Win_allocate(8, -4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_ERR_DISP);
  CHECK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr, &win) == MPI_ERR_ARG);
  CHECK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win) == MPI_ERR_COMM);
  CHECK(MPI_Win_free(&win) == MPI_ERR_WIN);
  CHECK(MPI_Win_free(nullptr) == MPI_ERR_ARG);
  // More than the heap has: all ranks get the error, and later windows work.
  constexpr MPI_Aint kHuge = MPI_Aint{1} << 46;
  CHECK(MPI_Win_allocate(kHuge, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_ERR_NO_MEM);
  CHECK(MPI_Win_allocate_shared(kHuge, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_ERR_NO_MEM);
  CHECK(win == MPI_WIN_NULL);
}

void synchronization_errors(MPI_Win win) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  MPI_Group group = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Win_get_group(win, &group));
  int flag = 0;
  CHECK(MPI_Win_fence(1, win) == MPI_ERR_ASSERT);
  CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSTORE, win) == MPI_ERR_ASSERT);
  CHECK(MPI_Win_lock_all(MPI_MODE_NOPUT, win) == MPI_ERR_ASSERT);
  CHECK(MPI_Win_start(group, MPI_MODE_NOSTORE, win) == MPI_ERR_ASSERT);
  CHECK(MPI_Win_post(group, MPI_MODE_NOSUCCEED, win) == MPI_ERR_ASSERT);
  CHECK(MPI_Win_lock(7, 0, 0, win) == MPI_ERR_LOCKTYPE);
  CHECK(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win) == MPI_ERR_RANK);
  CHECK(MPI_Win_unlock(-9, win) == MPI_ERR_RANK);
  CHECK(MPI_Win_flush(size, win) == MPI_ERR_RANK);
  CHECK(MPI_Win_start(MPI_GROUP_NULL, 0, win) == MPI_ERR_GROUP);
  CHECK(MPI_Win_post(MPI_GROUP_NULL, 0, win) == MPI_ERR_GROUP);
  CHECK(MPI_Win_test(win, nullptr) == MPI_ERR_ARG);
  for (const int code : {MPI_Win_unlock(0, win), MPI_Win_unlock_all(win), MPI_Win_flush(0, win),
                         MPI_Win_flush_all(win), MPI_Win_flush_local(0, win), MPI_Win_flush_local_all(win),
                         MPI_Win_complete(win), MPI_Win_wait(win), MPI_Win_test(win, &flag)}) {
    CHECK(code == MPI_ERR_RMA_SYNC);
  }
  SUCCEEDS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
  CHECK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win) == MPI_ERR_RMA_SYNC);
  CHECK(MPI_Win_lock_all(0, win) == MPI_ERR_RMA_SYNC);
  CHECK(MPI_Win_fence(0, win) == MPI_ERR_RMA_SYNC);
  CHECK(MPI_Win_start(group, 0, win) == MPI_ERR_RMA_SYNC);
  MPI_Win same = win;
  CHECK(MPI_Win_free(&same) == MPI_ERR_RMA_SYNC && same == win);
  // An epoch for one rank does not give access to another.
  int value = 0;
  if (size > 1) CHECK(MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win) == MPI_ERR_RMA_SYNC);
  SUCCEEDS(MPI_Win_unlock(rank, win));
  SUCCEEDS(MPI_Win_lock_all(0, win));
  CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win) == MPI_ERR_RMA_SYNC);
  CHECK(MPI_Win_lock_all(0, win) == MPI_ERR_RMA_SYNC);
  CHECK(MPI_Win_unlock(rank, win) == MPI_ERR_RMA_SYNC);
  SUCCEEDS(MPI_Win_unlock_all(win));
  SUCCEEDS(MPI_Group_free(&group));
}

void access_errors(MPI_Win win) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  std::array<int, 4> value = {};
  std::array<int, 4> result = {};
  const auto put = [&](int target, MPI_Aint disp, int count, MPI_Datatype type) {
    return MPI_Put(value.data(), count, type, target, disp, count, type, win);
  };
  CHECK(put(rank, 0, 1, MPI_INT) == MPI_ERR_RMA_SYNC);
  CHECK(MPI_Fetch_and_op(value.data(), result.data(), MPI_INT, rank, 0, MPI_SUM, win) == MPI_ERR_RMA_SYNC);
  SUCCEEDS(MPI_Win_lock_all(0, win));
  CHECK(put(size, 0, 1, MPI_INT) == MPI_ERR_RANK);
  CHECK(put(-7, 0, 1, MPI_INT) == MPI_ERR_RANK);
  CHECK(put(rank, -1, 1, MPI_INT) == MPI_ERR_DISP);
  CHECK(put(rank, 0, -1, MPI_INT) == MPI_ERR_COUNT);
  CHECK(put(rank, 0, 1, MPI_DATATYPE_NULL) == MPI_ERR_TYPE);
  CHECK(put(rank, 0, 3, MPI_INT) == MPI_ERR_RMA_RANGE);  // the window has two
  CHECK(put(rank, 2, 1, MPI_INT) == MPI_ERR_RMA_RANGE);
  CHECK(put(rank, 1, 1, MPI_DOUBLE) == MPI_ERR_RMA_RANGE);
  CHECK(put(rank, MPI_Aint{1} << 62, 1, MPI_INT) == MPI_ERR_RMA_RANGE);
  // Counts whose bytes are 4 and 8 in 64 bits, and a negative one that ends where the window begins.
  for (const MPI_Count count : {(MPI_Count{1} << 62U) + 1, -(MPI_Count{1} << 62U) + 2, MPI_Count{-1}}) {
    for (const MPI_Aint disp : {0, 1, 2}) {
      const int code = MPI_Put_c(value.data(), count, MPI_INT, rank, disp, count, MPI_INT, win);
      CHECK(code == MPI_ERR_COUNT);
    }
  }
  SUCCEEDS(put(rank, 2, 0, MPI_INT));
  SUCCEEDS(put(MPI_PROC_NULL, 99, 1, MPI_INT));
  CHECK(MPI_Put(nullptr, 1, MPI_INT, rank, 0, 1, MPI_INT, win) == MPI_ERR_BUFFER);
  CHECK(MPI_Put(value.data(), 2, MPI_INT, rank, 0, 1, MPI_INT, win) == MPI_ERR_TRUNCATE);
  CHECK(MPI_Get(value.data(), 1, MPI_INT, rank, 0, 2, MPI_INT, win) == MPI_ERR_TRUNCATE);
  CHECK(MPI_Rput(value.data(), 1, MPI_INT, rank, 0, 1, MPI_INT, win, nullptr) == MPI_ERR_ARG);
  CHECK(MPI_Raccumulate(value.data(), 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, win, nullptr) == MPI_ERR_ARG);
  CHECK(MPI_Put(value.data(), 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_WIN_NULL) == MPI_ERR_WIN);
  MPI_Datatype reaching = MPI_DATATYPE_NULL;  // begins before its address
  const std::array<int, 2> places = {-1, 0};
  SUCCEEDS(MPI_Type_create_indexed_block(2, 1, places.data(), MPI_INT, &reaching));
  CHECK(MPI_Put(value.data() + 1, 1, reaching, rank, 1, 1, reaching, win) == MPI_ERR_TYPE);  // not committed
  SUCCEEDS(MPI_Type_commit(&reaching));
  CHECK(MPI_Put(value.data() + 1, 1, reaching, rank, 0, 1, reaching, win) == MPI_ERR_RMA_RANGE);
  SUCCEEDS(MPI_Put(value.data() + 1, 1, reaching, rank, 1, 1, reaching, win));
  SUCCEEDS(MPI_Type_free(&reaching));
  SUCCEEDS(MPI_Win_unlock_all(win));
}

void sum_function(void* /*in*/, void* /*inout*/, int* /*count*/, MPI_Datatype* /*type*/) {}

void accumulate_errors(MPI_Win win) {
  const int rank = rank_in(MPI_COMM_WORLD);
  std::array<int, 4> value = {};
  std::array<int, 4> result = {};
  const auto accumulate = [&](MPI_Datatype origin, MPI_Datatype target, MPI_Op op) {
    return MPI_Accumulate(value.data(), 1, origin, rank, 0, 1, target, op, win);
  };
  SUCCEEDS(MPI_Win_lock_all(0, win));
  MPI_Op own = MPI_OP_NULL;
  SUCCEEDS(MPI_Op_create(sum_function, 1, &own));
  CHECK(accumulate(MPI_INT, MPI_INT, own) == MPI_ERR_OP);
  SUCCEEDS(MPI_Op_free(&own));
  CHECK(accumulate(MPI_INT, MPI_INT, MPI_OP_NULL) == MPI_ERR_OP);
  CHECK(accumulate(MPI_INT, MPI_INT, MPI_NO_OP) == MPI_ERR_OP);
  CHECK(accumulate(MPI_DOUBLE, MPI_DOUBLE, MPI_BAND) == MPI_ERR_OP);
  CHECK(accumulate(MPI_INT, MPI_FLOAT, MPI_SUM) == MPI_ERR_TYPE);
  const std::array<int, 2> lengths = {1, 1};
  const std::array<MPI_Aint, 2> places = {0, 4};
  const std::array<MPI_Datatype, 2> types = {MPI_INT, MPI_FLOAT};
  MPI_Datatype mixed = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &mixed));
  SUCCEEDS(MPI_Type_commit(&mixed));
  CHECK(accumulate(mixed, mixed, MPI_REPLACE) == MPI_ERR_TYPE);
  CHECK(MPI_Fetch_and_op(value.data(), result.data(), mixed, rank, 0, MPI_SUM, win) == MPI_ERR_TYPE);
  SUCCEEDS(MPI_Type_free(&mixed));
  CHECK(MPI_Accumulate(value.data(), 2, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, win) == MPI_ERR_COUNT);
  CHECK(MPI_Get_accumulate(value.data(), 1, MPI_INT, result.data(), 2, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM,
                           win) == MPI_ERR_COUNT);
  CHECK(MPI_Get_accumulate(value.data(), 1, MPI_INT, nullptr, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM,
                           win) == MPI_ERR_BUFFER);
  CHECK(MPI_Fetch_and_op(value.data(), nullptr, MPI_INT, rank, 0, MPI_SUM, win) == MPI_ERR_BUFFER);
  CHECK(MPI_Fetch_and_op(nullptr, result.data(), MPI_LONG, rank, 0, MPI_SUM, win) == MPI_ERR_BUFFER);
  CHECK(MPI_Fetch_and_op(value.data(), result.data(), MPI_LONG, rank, 1, MPI_SUM, win) == MPI_ERR_RMA_RANGE);
  CHECK(MPI_Compare_and_swap(value.data(), value.data(), result.data(), MPI_FLOAT, rank, 0, win) ==
        MPI_ERR_TYPE);
  CHECK(MPI_Compare_and_swap(value.data(), nullptr, result.data(), MPI_INT, rank, 0, win) == MPI_ERR_BUFFER);
  CHECK(MPI_Compare_and_swap(value.data(), value.data(), result.data(), MPI_INT, rank, 2, win) ==
        MPI_ERR_RMA_RANGE);
  SUCCEEDS(MPI_Accumulate(value.data(), 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win));
  SUCCEEDS(MPI_Get_accumulate(value.data(), 0, MPI_INT, result.data(), 0, MPI_INT, MPI_PROC_NULL, 0, 0,
                              MPI_BYTE, MPI_SUM, win));
  // Without data, no operation and no type is refused.
  MPI_Datatype empty = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_contiguous(0, MPI_INT, &empty));
  SUCCEEDS(MPI_Type_commit(&empty));
  SUCCEEDS(MPI_Accumulate(value.data(), 0, MPI_DOUBLE, rank, 0, 0, MPI_INT, MPI_SUM, win));
  SUCCEEDS(MPI_Accumulate(nullptr, 2, empty, rank, 0, 0, MPI_INT, MPI_SUM, win));
  SUCCEEDS(MPI_Get_accumulate(value.data(), 0, MPI_INT, result.data(), 1, empty, rank, 0, 0, MPI_DOUBLE,
                              MPI_SUM, win));
  CHECK(MPI_Accumulate(value.data(), -1, empty, rank, 0, 0, MPI_INT, MPI_SUM, win) == MPI_ERR_COUNT);
  SUCCEEDS(MPI_Type_free(&empty));
  SUCCEEDS(MPI_Get_accumulate(value.data(), 0, MPI_BYTE, result.data(), 0, MPI_BYTE, 0, 0, 0, MPI_BYTE,
                              MPI_SUM, win));
  SUCCEEDS(MPI_Fetch_and_op(value.data(), result.data(), MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win));
  SUCCEEDS(MPI_Compare_and_swap(value.data(), value.data(), result.data(), MPI_INT, MPI_PROC_NULL, 0, win));
  SUCCEEDS(MPI_Win_unlock_all(win));
}

/// An integer that is not aligned at the target.
void alignment_errors() {
  MPI_Win win = MPI_WIN_NULL;
  void* base = nullptr;
  const int rank = rank_in(MPI_COMM_WORLD);
  SUCCEEDS(MPI_Win_allocate(32, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  SUCCEEDS(MPI_Win_lock_all(0, win));
  long value = 1;
  long result = 0;
  CHECK(MPI_Fetch_and_op(&value, &result, MPI_LONG, rank, 4, MPI_SUM, win) == MPI_ERR_DISP);
  CHECK(MPI_Accumulate(&value, 1, MPI_LONG, rank, 4, 1, MPI_LONG, MPI_PROD, win) == MPI_ERR_DISP);
  CHECK(MPI_Compare_and_swap(&value, &value, &result, MPI_LONG, rank, 4, win) == MPI_ERR_DISP);
  SUCCEEDS(MPI_Win_unlock_all(win));
  SUCCEEDS(MPI_Win_free(&win));
}

void flavor_errors(MPI_Win allocated) {
  long word = 0;
  CHECK(MPI_Win_attach(allocated, &word, 8) == MPI_ERR_RMA_FLAVOR);
  CHECK(MPI_Win_detach(allocated, &word) == MPI_ERR_RMA_FLAVOR);
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  MPI_Aint size = 0;
  int unit = 0;
  void* base = nullptr;
  CHECK(MPI_Win_shared_query(win, 0, &size, &unit, &base) == MPI_ERR_RMA_FLAVOR);
  CHECK(MPI_Win_shared_query(allocated, 999, &size, &unit, &base) == MPI_ERR_RANK);
  CHECK(MPI_Win_attach(win, &word, -1) == MPI_ERR_SIZE);
  CHECK(MPI_Win_attach(win, nullptr, 8) == MPI_ERR_BASE);
  SUCCEEDS(MPI_Win_attach(win, &word, 8));
  CHECK(MPI_Win_attach(win, &word, 8) == MPI_ERR_RMA_ATTACH);
  SUCCEEDS(MPI_Win_detach(win, &word));
  CHECK(MPI_Win_detach(win, &word) == MPI_ERR_BASE);
  SUCCEEDS(MPI_Win_free(&win));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  predefined_attributes();
  own_attributes();
  names_and_hints();
  groups_and_conversions();
  error_handlers();
  creation_errors();
  MPI_Win win = MPI_WIN_NULL;
  void* base = nullptr;
  SUCCEEDS(MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  synchronization_errors(win);
  access_errors(win);
  accumulate_errors(win);
  flavor_errors(win);
  SUCCEEDS(MPI_Win_free(&win));
  alignment_errors();
  const int code = result();
  MPI_Finalize();
  return code;
}
