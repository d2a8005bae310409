// Communicators beside dup and split: by host, with hints and names, and the attribute functions of MPI 1.

#include <cstring>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

void by_host() {
  MPI_Comm host = MPI_COMM_NULL;
  const int rank = rank_in(MPI_COMM_WORLD);
  SUCCEEDS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &host));
  // All ranks of these tests run on one host. The key turns their order around.
  CHECK(size_of(host) == size_of(MPI_COMM_WORLD) && rank_in(host) == size_of(host) - 1 - rank);
  SUCCEEDS(MPI_Comm_disconnect(&host));
  CHECK(host == MPI_COMM_NULL);
  SUCCEEDS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &host));
  CHECK(host == MPI_COMM_NULL);
  SUCCEEDS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &host));
  CHECK(host == MPI_COMM_NULL);
}

void names_and_hints() {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  int flag = -1;
  SUCCEEDS(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
  CHECK(std::strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
  SUCCEEDS(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
  CHECK(std::strcmp(name, "MPI_COMM_NULL") == 0 && length == 13);
  SUCCEEDS(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
  CHECK(std::strcmp(name, "MPI_WIN_NULL") == 0 && length == 12);
  SUCCEEDS(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
  CHECK(std::strcmp(name, "MPI_DATATYPE_NULL") == 0 && length == 17);
  SUCCEEDS(MPI_Comm_test_inter(MPI_COMM_WORLD, &flag));
  CHECK(flag == 0);

  MPI_Info hints = MPI_INFO_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  SUCCEEDS(MPI_Info_create(&hints));
  SUCCEEDS(MPI_Info_set(hints, "mpi_assert_no_any_tag", "true"));
  SUCCEEDS(MPI_Comm_dup_with_info(MPI_COMM_WORLD, hints, &comm));
  SUCCEEDS(MPI_Comm_set_info(comm, hints));
  SUCCEEDS(MPI_Info_free(&hints));
  int result = -1;
  SUCCEEDS(MPI_Comm_compare(MPI_COMM_WORLD, comm, &result));
  CHECK(result == MPI_CONGRUENT);
  SUCCEEDS(MPI_Comm_get_info(comm, &hints));
  int keys = -1;
  SUCCEEDS(MPI_Info_get_nkeys(hints, &keys));
  CHECK(keys == 0);  // the library uses no hint
  SUCCEEDS(MPI_Info_free(&hints));
  SUCCEEDS(MPI_Comm_get_name(comm, name, &length));
  CHECK(length == 0 && name[0] == '\0');
  SUCCEEDS(MPI_Comm_set_name(comm, "the copy"));
  SUCCEEDS(MPI_Comm_get_name(comm, name, &length));
  CHECK(std::strcmp(name, "the copy") == 0 && length == 8);
  const int rank = rank_in(comm);
  int sum = -1;
  SUCCEEDS(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK(sum == size_of(comm) * (size_of(comm) - 1) / 2);
  SUCCEEDS(MPI_Comm_free(&comm));
}

int deletions = 0;
int count_deletion(MPI_Comm /*comm*/, int /*keyval*/, void* /*value*/, void* extra) {
  deletions += *static_cast<int*>(extra);
  return MPI_SUCCESS;
}

void attributes_of_mpi_1() {
  int step = 5;
  int key = MPI_KEYVAL_INVALID;
  int value = 7;
  int* found = nullptr;
  int flag = -1;
  deletions = 0;
  SUCCEEDS(MPI_Keyval_create(MPI_NULL_COPY_FN, count_deletion, &key, &step));
  SUCCEEDS(MPI_Attr_get(MPI_COMM_SELF, key, static_cast<void*>(&found), &flag));
  CHECK(flag == 0);
  SUCCEEDS(MPI_Attr_put(MPI_COMM_SELF, key, &value));
  SUCCEEDS(MPI_Attr_get(MPI_COMM_SELF, key, static_cast<void*>(&found), &flag));
  CHECK(flag == 1 && found == &value);
  MPI_Comm copy = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(MPI_COMM_SELF, &copy));
  SUCCEEDS(MPI_Attr_get(copy, key, static_cast<void*>(&found), &flag));
  CHECK(flag == 0);
  SUCCEEDS(MPI_Comm_free(&copy));
  SUCCEEDS(MPI_Attr_delete(MPI_COMM_SELF, key));
  CHECK(deletions == 5);
  SUCCEEDS(MPI_Keyval_free(&key));
  CHECK(key == MPI_KEYVAL_INVALID);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  by_host();
  names_and_hints();
  attributes_of_mpi_1();
  SUCCEEDS(MPI_Pcontrol(0));
  SUCCEEDS(MPI_Pcontrol(2, "with more arguments"));
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
