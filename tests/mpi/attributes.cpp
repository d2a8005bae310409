// Attributes of communicators: the predefined ones, and those of the program with its copy and delete
// functions.

#include <array>
#include <climits>
#include <cstdlib>
#include <vector>

#include "check.hpp"

namespace {

/// What the functions below were called with, in order.
std::vector<long> deleted;
int copies = 0;

int copy_plus_one(MPI_Comm /*comm*/, int /*keyval*/, void* extra, void* value, void* copy, int* flag) {
  ++copies;
  *static_cast<void**>(copy) = static_cast<char*>(value) + 1;
  *flag = extra == nullptr ? 1 : 0;
  return MPI_SUCCESS;
}

int note_deletion(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) {
  deleted.push_back(reinterpret_cast<long>(value));
  return MPI_SUCCESS;
}

int refuse_deletion(MPI_Comm /*comm*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  return MPI_ERR_OTHER;
}

int fail_to_copy(MPI_Comm /*comm*/, int /*keyval*/, void* /*extra*/, void* /*value*/, void* /*copy*/,
                 int* /*flag*/) {
  return MPI_ERR_OTHER;
}

void* value_of(long number) { return reinterpret_cast<void*>(number); }

void predefined() {
  int* value = nullptr;
  int found = 0;
  SUCCEEDS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found));
  CHECK(found == 1 && *value == INT_MAX);
  SUCCEEDS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found));
  CHECK(found == 1 && *value >= mpi_test::size_of(MPI_COMM_WORLD));
  const char* const program = std::getenv("PROGRAM");  // set in a job of several programs
  SUCCEEDS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &found));
  CHECK(found == 1 && *value == (program != nullptr ? std::atoi(program) : 0));
  SUCCEEDS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &found));
  CHECK(found == 1 && *value == 0);
  SUCCEEDS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &found));
  CHECK(found == 1 && *value >= MPI_ERR_LASTCODE);
  const int before = *value;
  int added = 0;
  SUCCEEDS(MPI_Add_error_class(&added));
  SUCCEEDS(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_LASTUSEDCODE, &value, &found));
  CHECK(*value == added && added == before + 1);
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, nullptr) != MPI_SUCCESS);
  CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB) != MPI_SUCCESS);
  int key = MPI_TAG_UB;
  CHECK(MPI_Comm_free_keyval(&key) != MPI_SUCCESS);
}

void of_the_program() {
  int copied = MPI_KEYVAL_INVALID;
  int duplicated = MPI_KEYVAL_INVALID;
  int not_copied = MPI_KEYVAL_INVALID;
  int never = 1;
  int declined = MPI_KEYVAL_INVALID;
  SUCCEEDS(MPI_Comm_create_keyval(copy_plus_one, note_deletion, &copied, nullptr));
  SUCCEEDS(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, note_deletion, &duplicated, nullptr));
  SUCCEEDS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &not_copied, nullptr));
  SUCCEEDS(MPI_Comm_create_keyval(copy_plus_one, note_deletion, &declined, &never));
  MPI_Comm parent = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);

  void* value = nullptr;
  int found = 1;
  SUCCEEDS(MPI_Comm_get_attr(parent, copied, &value, &found));
  CHECK(found == 0);
  SUCCEEDS(MPI_Comm_set_attr(parent, copied, value_of(10)));
  SUCCEEDS(MPI_Comm_set_attr(parent, duplicated, value_of(20)));
  SUCCEEDS(MPI_Comm_set_attr(parent, not_copied, value_of(30)));
  SUCCEEDS(MPI_Comm_set_attr(parent, declined, value_of(40)));
  SUCCEEDS(MPI_Comm_set_attr(parent, copied, value_of(11)));  // deletes the 10
  CHECK((deleted == std::vector<long>{10}));

  MPI_Comm child = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(parent, &child));
  CHECK(copies == 2);
  SUCCEEDS(MPI_Comm_get_attr(child, copied, &value, &found));
  CHECK(found == 1 && value == value_of(12));
  SUCCEEDS(MPI_Comm_get_attr(child, duplicated, &value, &found));
  CHECK(found == 1 && value == value_of(20));
  SUCCEEDS(MPI_Comm_get_attr(child, not_copied, &value, &found));
  CHECK(found == 0);
  SUCCEEDS(MPI_Comm_get_attr(child, declined, &value, &found));
  CHECK(found == 0);

  const int freed = copied;
  SUCCEEDS(MPI_Comm_free_keyval(&copied));
  CHECK(copied == MPI_KEYVAL_INVALID);
  SUCCEEDS(MPI_Comm_get_attr(child, freed, &value, &found));  // lives as long as its attributes
  CHECK(found == 1 && value == value_of(12));
  CHECK(MPI_Comm_set_attr(child, freed, value_of(1)) == MPI_ERR_KEYVAL);
  deleted.clear();
  SUCCEEDS(MPI_Comm_delete_attr(child, freed));
  CHECK((deleted == std::vector<long>{12}));
  CHECK(MPI_Comm_delete_attr(child, freed) == MPI_ERR_KEYVAL);
  deleted.clear();
  SUCCEEDS(MPI_Comm_free(&child));
  CHECK((deleted == std::vector<long>{20}));
  SUCCEEDS(MPI_Comm_free(&parent));
  CHECK((deleted == std::vector<long>{20, 40, 20, 11}));
  CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, freed, &value, &found) == MPI_ERR_KEYVAL);
  for (int* const key : {&duplicated, &not_copied, &declined}) SUCCEEDS(MPI_Comm_free_keyval(key));
}

void functions_that_fail() {
  int stubborn = MPI_KEYVAL_INVALID;
  int uncopied = MPI_KEYVAL_INVALID;
  SUCCEEDS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_deletion, &stubborn, nullptr));
  SUCCEEDS(MPI_Comm_create_keyval(fail_to_copy, MPI_COMM_NULL_DELETE_FN, &uncopied, nullptr));
  MPI_Comm comm = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  SUCCEEDS(MPI_Comm_set_attr(comm, stubborn, value_of(5)));
  CHECK(MPI_Comm_set_attr(comm, stubborn, value_of(6)) == MPI_ERR_OTHER);
  CHECK(MPI_Comm_delete_attr(comm, stubborn) == MPI_ERR_OTHER);
  MPI_Comm copy = comm;
  CHECK(MPI_Comm_free(&copy) == MPI_ERR_OTHER);
  CHECK(copy == comm);
  void* value = nullptr;
  int found = 0;
  SUCCEEDS(MPI_Comm_get_attr(comm, stubborn, &value, &found));
  CHECK(found == 1 && value == value_of(5));

  MPI_Comm other = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  SUCCEEDS(MPI_Comm_set_attr(other, uncopied, value_of(7)));
  MPI_Comm made = MPI_COMM_NULL;
  CHECK(MPI_Comm_dup(other, &made) == MPI_ERR_OTHER);
  CHECK(made == MPI_COMM_NULL);
  SUCCEEDS(MPI_Comm_free(&other));
}

int free_own_key(MPI_Comm /*comm*/, int keyval, void* /*value*/, void* /*extra*/) {
  return MPI_Comm_free_keyval(&keyval);
}

/// A key may be freed again, by its delete function and by the program, while an attribute uses it.
void keys_freed_again() {
  int key = MPI_KEYVAL_INVALID;
  SUCCEEDS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_own_key, &key, nullptr));
  std::array<MPI_Comm, 2> comms = {};
  for (MPI_Comm& comm : comms) {
    SUCCEEDS(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    SUCCEEDS(MPI_Comm_set_attr(comm, key, value_of(1)));
  }
  SUCCEEDS(MPI_Comm_free(comms.data()));
  for (int i = 0; i < 2; ++i) {
    int copy = key;
    SUCCEEDS(MPI_Comm_free_keyval(&copy));
    CHECK(copy == MPI_KEYVAL_INVALID);
  }
  CHECK(MPI_Comm_set_attr(comms[1], key, value_of(2)) == MPI_ERR_KEYVAL);
  SUCCEEDS(MPI_Comm_free(&comms[1]));
  CHECK(MPI_Comm_free_keyval(&key) == MPI_ERR_KEYVAL);
}

int at_the_end(MPI_Comm comm, int /*keyval*/, void* value, void* extra) {
  // MPI still works here, and the attribute that was set last goes first.
  int size = 0;
  const bool works = MPI_Comm_size(comm, &size) == MPI_SUCCESS && size == 1;
  long& next = *static_cast<long*>(extra);
  if (!works || next-- != reinterpret_cast<long>(value)) std::exit(EXIT_FAILURE);
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  predefined();
  of_the_program();
  functions_that_fail();
  keys_freed_again();
  static long next = 3;
  for (long i = 1; i <= 3; ++i) {
    int key = MPI_KEYVAL_INVALID;
    SUCCEEDS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, &next));
    SUCCEEDS(MPI_Comm_set_attr(MPI_COMM_SELF, key, value_of(i)));
    SUCCEEDS(MPI_Comm_free_keyval(&key));
  }
  const int code = mpi_test::result();
  MPI_Finalize();
  return next == 0 ? code : EXIT_FAILURE;
}
