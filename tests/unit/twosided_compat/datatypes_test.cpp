// The predefined datatypes, statuses, memory, and handles as integers.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "mpi.h"

namespace {

template <class Value, class Index>
struct PairOf {
  Value value;
  Index index;
};

/// Checks the size, the extent and the true extent of a type.
void expect_bytes(MPI_Datatype type, const char* name, std::size_t size, std::size_t extent,
                  std::size_t true_extent) {
  int bytes = -1;
  ASSERT_EQ(MPI_Type_size(type, &bytes), MPI_SUCCESS) << name;
  EXPECT_EQ(static_cast<std::size_t>(bytes), size) << name;
  MPI_Count wide = -1;
  EXPECT_EQ(MPI_Type_size_c(type, &wide), MPI_SUCCESS);
  EXPECT_EQ(static_cast<std::size_t>(wide), size) << name;
  EXPECT_EQ(MPI_Type_size_x(type, &wide), MPI_SUCCESS);
  EXPECT_EQ(static_cast<std::size_t>(wide), size) << name;
  MPI_Aint lower = -1;
  MPI_Aint distance = -1;
  EXPECT_EQ(MPI_Type_get_extent(type, &lower, &distance), MPI_SUCCESS);
  EXPECT_EQ(lower, 0);
  EXPECT_EQ(static_cast<std::size_t>(distance), extent) << name;
  EXPECT_EQ(MPI_Type_get_true_extent(type, &lower, &distance), MPI_SUCCESS);
  EXPECT_EQ(static_cast<std::size_t>(distance), true_extent) << name;
  char text[MPI_MAX_OBJECT_NAME];
  int length = 0;
  EXPECT_EQ(MPI_Type_get_name(type, text, &length), MPI_SUCCESS);
  EXPECT_STREQ(text, name);
  EXPECT_EQ(static_cast<std::size_t>(length), std::string(name).size());
}
#define EXPECT_DENSE(type, c_type) expect_bytes(type, #type, sizeof(c_type), sizeof(c_type), sizeof(c_type))

TEST(MpiDatatypes, SizesAndNames) {
  EXPECT_DENSE(MPI_CHAR, char);
  EXPECT_DENSE(MPI_SHORT, short);
  EXPECT_DENSE(MPI_INT, int);
  EXPECT_DENSE(MPI_LONG, long);
  EXPECT_DENSE(MPI_LONG_LONG_INT, long long);
  EXPECT_DENSE(MPI_UNSIGNED_CHAR, unsigned char);
  EXPECT_DENSE(MPI_UNSIGNED_LONG_LONG, unsigned long long);
  EXPECT_DENSE(MPI_FLOAT, float);
  EXPECT_DENSE(MPI_DOUBLE, double);
  EXPECT_DENSE(MPI_LONG_DOUBLE, long double);
  EXPECT_DENSE(MPI_WCHAR, wchar_t);
  EXPECT_DENSE(MPI_C_BOOL, bool);
  EXPECT_DENSE(MPI_AINT, MPI_Aint);
  EXPECT_DENSE(MPI_COUNT, MPI_Count);
  EXPECT_DENSE(MPI_OFFSET, MPI_Offset);
  EXPECT_DENSE(MPI_BYTE, char);
  EXPECT_DENSE(MPI_PACKED, char);
  EXPECT_DENSE(MPI_INT64_T, std::int64_t);
  EXPECT_DENSE(MPI_DOUBLE_COMPLEX, double[2]);
  EXPECT_DENSE(MPI_C_LONG_DOUBLE_COMPLEX, long double[2]);
  EXPECT_DENSE(MPI_INTEGER, int);
  EXPECT_DENSE(MPI_LOGICAL, int);
  EXPECT_DENSE(MPI_CHARACTER, char);
  // Synonyms have the names that come first in table 3.2 of MPI 4.1.
  expect_bytes(MPI_LONG_LONG, "MPI_LONG_LONG_INT", sizeof(long long), sizeof(long long), sizeof(long long));
  expect_bytes(MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX", sizeof(float[2]), sizeof(float[2]), sizeof(float[2]));
}

TEST(MpiDatatypes, Pairs) {
  using FloatAndInt = PairOf<float, int>;
  using TwoDoubles = PairOf<double, double>;
  EXPECT_DENSE(MPI_FLOAT_INT, FloatAndInt);
  EXPECT_DENSE(MPI_2DOUBLE_PRECISION, TwoDoubles);
  expect_bytes(MPI_DOUBLE_INT, "MPI_DOUBLE_INT", 12, sizeof(PairOf<double, int>), 12);
  expect_bytes(MPI_LONG_INT, "MPI_LONG_INT", 12, sizeof(PairOf<long, int>), 12);
  expect_bytes(MPI_SHORT_INT, "MPI_SHORT_INT", 6, sizeof(PairOf<short, int>), 8);
  expect_bytes(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", 20, sizeof(PairOf<long double, int>), 20);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair), MPI_SUCCESS);
  EXPECT_EQ(pair, MPI_DOUBLE_INT);
  EXPECT_EQ(MPI_Type_get_value_index(MPI_INT, MPI_DOUBLE, &pair), MPI_SUCCESS);
  EXPECT_EQ(pair, MPI_DATATYPE_NULL);
}

TEST(MpiDatatypes, CommitFreeAndCopy) {
  MPI_Datatype type = MPI_INT;
  EXPECT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_free(&type), MPI_ERR_TYPE);
  EXPECT_EQ(type, MPI_INT);
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_dup(MPI_DOUBLE_INT, &copy), MPI_SUCCESS);
  expect_bytes(copy, "", 12, 16, 12);
  EXPECT_EQ(MPI_Type_set_name(copy, "mine"), MPI_SUCCESS);
  expect_bytes(copy, "mine", 12, 16, 12);
  EXPECT_EQ(MPI_Type_free(&copy), MPI_SUCCESS);
  EXPECT_EQ(copy, MPI_DATATYPE_NULL);
  EXPECT_EQ(MPI_Type_free(&copy), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_commit(&copy), MPI_ERR_TYPE);
  int size = 0;
  EXPECT_EQ(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_size(reinterpret_cast<MPI_Datatype>(MPI_COMM_WORLD), &size), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_size(nullptr, &size), MPI_ERR_TYPE);
}

TEST(MpiDatatypes, MatchSize) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type), MPI_SUCCESS);
  EXPECT_EQ(type, MPI_REAL8);
  EXPECT_EQ(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 8, &type), MPI_SUCCESS);
  EXPECT_EQ(type, MPI_COMPLEX8);
  EXPECT_EQ(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &type), MPI_ERR_ARG);
}

TEST(MpiStatus, CountsElements) {
  MPI_Status status = {};
  ASSERT_EQ(MPI_Status_set_elements(&status, MPI_BYTE, 12), MPI_SUCCESS);
  int count = -1;
  EXPECT_EQ(MPI_Get_count(&status, MPI_INT, &count), MPI_SUCCESS);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(MPI_Get_count(&status, MPI_DOUBLE, &count), MPI_SUCCESS);
  EXPECT_EQ(count, MPI_UNDEFINED);
  EXPECT_EQ(MPI_Get_elements(&status, MPI_DOUBLE_INT, &count), MPI_SUCCESS);
  EXPECT_EQ(count, 2);
  ASSERT_EQ(MPI_Status_set_elements(&status, MPI_BYTE, 8), MPI_SUCCESS);
  EXPECT_EQ(MPI_Get_elements(&status, MPI_DOUBLE_INT, &count), MPI_SUCCESS);
  EXPECT_EQ(count, 1);

  // More than an int can say.
  ASSERT_EQ(MPI_Status_set_elements_c(&status, MPI_INT, MPI_Count{1} << 40), MPI_SUCCESS);
  MPI_Count wide = 0;
  EXPECT_EQ(MPI_Get_count_c(&status, MPI_INT, &wide), MPI_SUCCESS);
  EXPECT_EQ(wide, MPI_Count{1} << 40);
  EXPECT_EQ(MPI_Get_elements_x(&status, MPI_INT, &wide), MPI_SUCCESS);
  EXPECT_EQ(wide, MPI_Count{1} << 40);
  EXPECT_EQ(MPI_Get_count(&status, MPI_INT, &count), MPI_SUCCESS);
  EXPECT_EQ(count, MPI_UNDEFINED);
  EXPECT_EQ(MPI_Get_count(&status, MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE);
}

TEST(MpiStatus, GettersAndSetters) {
  MPI_Status status = {};
  int value = 0;
  EXPECT_EQ(MPI_Status_set_source(&status, 3), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_set_tag(&status, 4), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_set_cancelled(&status, 1), MPI_SUCCESS);
  EXPECT_EQ(status.MPI_SOURCE, 3);
  EXPECT_EQ(status.MPI_TAG, 4);
  MPI_Fint words[MPI_F_STATUS_SIZE];
  EXPECT_EQ(MPI_Status_c2f(&status, words), MPI_SUCCESS);
  EXPECT_EQ(words[MPI_F_TAG], 4);
  MPI_Status copy = {};
  EXPECT_EQ(MPI_Status_f2c(words, &copy), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_get_source(&copy, &value), MPI_SUCCESS);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(MPI_Status_get_tag(&copy, &value), MPI_SUCCESS);
  EXPECT_EQ(value, 4);
  EXPECT_EQ(MPI_Status_get_error(&copy, &value), MPI_SUCCESS);
  EXPECT_EQ(value, MPI_ERR_TRUNCATE);
  EXPECT_EQ(MPI_Test_cancelled(&copy, &value), MPI_SUCCESS);
  EXPECT_EQ(value, 1);
}

/// A status goes to the form of the module mpi_f08 and back by each way, with all its words.
TEST(MpiStatus, ConversionsOfF08) {
  MPI_Status status = {};
  EXPECT_EQ(MPI_Status_set_source(&status, 3), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_set_tag(&status, 4), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_set_cancelled(&status, 1), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_set_elements_c(&status, MPI_BYTE, MPI_Count{1} << 40), MPI_SUCCESS);
  MPI_F08_status made = {};
  EXPECT_EQ(MPI_Status_c2f08(&status, &made), MPI_SUCCESS);
  EXPECT_EQ(made.MPI_SOURCE, 3);
  EXPECT_EQ(made.MPI_TAG, 4);
  EXPECT_EQ(made.MPI_ERROR, MPI_ERR_TRUNCATE);
  MPI_Status back = {};
  EXPECT_EQ(MPI_Status_f082c(&made, &back), MPI_SUCCESS);
  EXPECT_EQ(std::memcmp(&back, &status, sizeof status), 0);

  MPI_Fint words[MPI_F_STATUS_SIZE] = {};
  MPI_Fint expected[MPI_F_STATUS_SIZE] = {};
  EXPECT_EQ(MPI_Status_f082f(&made, words), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_c2f(&status, expected), MPI_SUCCESS);
  EXPECT_EQ(std::memcmp(words, expected, sizeof words), 0);
  MPI_F08_status again = {};
  EXPECT_EQ(MPI_Status_f2f08(words, &again), MPI_SUCCESS);
  EXPECT_EQ(std::memcmp(&again, &made, sizeof made), 0);
}

TEST(MpiMemory, AllocateAndFree) {
  double* memory = nullptr;
  ASSERT_EQ(MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &memory), MPI_SUCCESS);
  memory[(1 << 17) - 1] = 1.5;
  EXPECT_EQ(MPI_Free_mem(memory), MPI_SUCCESS);
  EXPECT_EQ(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Alloc_mem(MPI_Aint{1} << 60, MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM);
  int here = 0;
  EXPECT_EQ(MPI_Free_mem(&here), MPI_ERR_BASE);
  MPI_Aint address = 0;
  EXPECT_EQ(MPI_Get_address(&here, &address), MPI_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<MPI_Aint>(&here));
  EXPECT_EQ(MPI_Aint_add(address, 8) - address, 8);
  EXPECT_EQ(MPI_Aint_diff(address, MPI_Aint_add(address, 8)), -8);
}

TEST(MpiHandles, AsIntegers) {
  EXPECT_EQ(MPI_Comm_c2f(MPI_COMM_WORLD), 257);
  EXPECT_EQ(MPI_Type_c2f(MPI_INTEGER), 537);
  EXPECT_EQ(MPI_Comm_f2c(258), MPI_COMM_SELF);
  MPI_Info info = MPI_INFO_NULL;
  ASSERT_EQ(MPI_Info_create(&info), MPI_SUCCESS);
  const int number = MPI_Info_toint(info);
  EXPECT_GE(number, 0x1000);
  EXPECT_EQ(MPI_Info_toint(info), number);
  EXPECT_EQ(MPI_Info_fromint(number), info);
  EXPECT_EQ(MPI_Comm_fromint(number), MPI_COMM_NULL);  // an object of another kind
  ASSERT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
  EXPECT_EQ(MPI_Info_fromint(number), MPI_INFO_NULL);
  EXPECT_EQ(MPI_Info_fromint(-5), MPI_INFO_NULL);
}

// Several threads that ask for the number of one object get the same.
TEST(MpiHandles, NumbersAreStableAcrossThreads) {
  for (int round = 0; round < 100; ++round) {
    MPI_Info info = MPI_INFO_NULL;
    ASSERT_EQ(MPI_Info_create(&info), MPI_SUCCESS);
    std::vector<int> numbers(4);
    std::vector<std::thread> threads;
    for (int& number : numbers) threads.emplace_back([&number, info] { number = MPI_Info_toint(info); });
    for (std::thread& thread : threads) thread.join();
    for (const int number : numbers) EXPECT_EQ(number, numbers.front());
    ASSERT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
  }
}

}  // namespace
