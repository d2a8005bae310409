// The attributes of datatypes.

#include <gtest/gtest.h>

#include <vector>

#include "mpi.h"

namespace {

std::vector<long> ended;  // the values that the delete function below was called with

int copy_next(MPI_Datatype /*type*/, int /*keyval*/, void* extra, void* value, void* copy, int* flag) {
  *static_cast<void**>(copy) = static_cast<char*>(value) + 1;
  *flag = extra == nullptr ? 1 : 0;
  return MPI_SUCCESS;
}
int note_end(MPI_Datatype /*type*/, int /*keyval*/, void* value, void* /*extra*/) {
  ended.push_back(reinterpret_cast<long>(value));
  return MPI_SUCCESS;
}
int refuse_end(MPI_Datatype /*type*/, int /*keyval*/, void* value, void* extra) {
  return *static_cast<bool*>(extra) ? MPI_ERR_OTHER : note_end(MPI_DATATYPE_NULL, 0, value, nullptr);
}
int fail_to_copy(MPI_Datatype /*type*/, int /*keyval*/, void* /*extra*/, void* /*value*/, void* /*copy*/,
                 int* /*flag*/) {
  return MPI_ERR_OTHER;
}

void* as_value(long number) { return reinterpret_cast<void*>(number); }

/// Returns the value of an attribute, or -1 if it is not set.
long value_of(MPI_Datatype type, int key) {
  void* value = nullptr;
  int found = -1;
  EXPECT_EQ(MPI_Type_get_attr(type, key, static_cast<void*>(&value), &found), MPI_SUCCESS);
  return found == 1 ? reinterpret_cast<long>(value) : -1;
}

TEST(TypeAttributes, AreCopiedAndDeleted) {
  ended.clear();
  int copied = MPI_KEYVAL_INVALID;
  int kept = MPI_KEYVAL_INVALID;
  int left = MPI_KEYVAL_INVALID;
  ASSERT_EQ(MPI_Type_create_keyval(copy_next, note_end, &copied, nullptr), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &kept, nullptr), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, note_end, &left, nullptr), MPI_SUCCESS);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_contiguous(2, MPI_INT, &type), MPI_SUCCESS);
  EXPECT_EQ(value_of(type, copied), -1);
  ASSERT_EQ(MPI_Type_set_attr(type, copied, as_value(10)), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_set_attr(type, kept, as_value(20)), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_set_attr(type, left, as_value(30)), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_dup(type, &copy), MPI_SUCCESS);
  EXPECT_EQ(value_of(copy, copied), 11);
  EXPECT_EQ(value_of(copy, kept), 20);
  EXPECT_EQ(value_of(copy, left), -1);
  ASSERT_EQ(MPI_Type_delete_attr(type, left), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_delete_attr(type, left), MPI_ERR_KEYVAL);
  EXPECT_EQ(ended, (std::vector<long>{30}));
  ASSERT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
  EXPECT_EQ(ended, (std::vector<long>{30, 10}));
  // A key that is freed lives on with its attributes.
  ASSERT_EQ(MPI_Type_free_keyval(&copied), MPI_SUCCESS);
  EXPECT_EQ(copied, MPI_KEYVAL_INVALID);
  ASSERT_EQ(MPI_Type_free(&copy), MPI_SUCCESS);
  EXPECT_EQ(ended, (std::vector<long>{30, 10, 11}));
  EXPECT_EQ(MPI_Type_free_keyval(&kept), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_free_keyval(&left), MPI_SUCCESS);
}

// A handle that MPI_Type_get_contents has returned is one more handle of the same type.
TEST(TypeAttributes, EndWithTheLastHandle) {
  ended.clear();
  int key = MPI_KEYVAL_INVALID;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Datatype outer = MPI_DATATYPE_NULL;
  MPI_Datatype again = MPI_DATATYPE_NULL;
  int count = 0;
  ASSERT_EQ(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, note_end, &key, nullptr), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_contiguous(2, MPI_INT, &inner), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_contiguous(2, inner, &outer), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_set_attr(inner, key, as_value(5)), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_get_contents(outer, 1, 0, 1, &count, nullptr, &again), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_free(&again), MPI_SUCCESS);
  EXPECT_TRUE(ended.empty());
  EXPECT_EQ(value_of(inner, key), 5);
  ASSERT_EQ(MPI_Type_free(&inner), MPI_SUCCESS);
  EXPECT_EQ(ended, (std::vector<long>{5}));
  ASSERT_EQ(MPI_Type_free(&outer), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_free_keyval(&key), MPI_SUCCESS);
}

TEST(TypeAttributes, FailuresOfTheirFunctions) {
  bool refuses = true;
  int key = MPI_KEYVAL_INVALID;
  ASSERT_EQ(MPI_Type_create_keyval(fail_to_copy, refuse_end, &key, &refuses), MPI_SUCCESS);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_contiguous(2, MPI_INT, &type), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_set_attr(type, key, as_value(1)), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_dup(type, &copy), MPI_ERR_OTHER);
  EXPECT_EQ(copy, MPI_DATATYPE_NULL);
  EXPECT_EQ(MPI_Type_free(&type), MPI_ERR_OTHER);
  EXPECT_EQ(value_of(type, key), 1);
  refuses = false;
  EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_free_keyval(&key), MPI_SUCCESS);
}

TEST(TypeAttributes, HaveKeysOfTheirOwn) {
  int of_types = MPI_KEYVAL_INVALID;
  int of_comms = MPI_KEYVAL_INVALID;
  ASSERT_EQ(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_types, nullptr),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comms, nullptr),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_set_attr(MPI_INT, of_comms, nullptr), MPI_ERR_KEYVAL);
  EXPECT_EQ(MPI_Comm_set_attr(MPI_COMM_SELF, of_types, nullptr), MPI_ERR_KEYVAL);
  EXPECT_EQ(MPI_Comm_free_keyval(&of_types), MPI_ERR_KEYVAL);
  // A predefined type may have attributes.
  EXPECT_EQ(MPI_Type_set_attr(MPI_INT, of_types, as_value(3)), MPI_SUCCESS);
  EXPECT_EQ(value_of(MPI_INT, of_types), 3);
  EXPECT_EQ(MPI_Type_delete_attr(MPI_INT, of_types), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_free_keyval(&of_types), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_free_keyval(&of_comms), MPI_SUCCESS);
}

}  // namespace
