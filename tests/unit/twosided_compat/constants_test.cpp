// The constants have the values of the ABI, and the types have its sizes.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "mpi.h"

namespace {

template <class Handle>
std::uint64_t number_of_handle(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

struct Value {
  const char* name;
  std::int64_t found;
  std::int64_t expected;
};

// A table, because hundreds of expectations in one function take the sanitizers' builds minutes.
#define HANDLE(name, value) Value{#name, static_cast<std::int64_t>(number_of_handle(name)), value},
#define NUMBER(name, value) Value{#name, name, value},
const Value kValues[] = {
#include "abi_values.inc"
};
#undef HANDLE
#undef NUMBER

TEST(MpiConstants, HaveTheValuesOfTheAbi) {
  for (const Value& value : kValues) EXPECT_EQ(value.found, value.expected) << value.name;
  EXPECT_EQ(MPI_VERSION, 5);
  EXPECT_EQ(MPI_SUBVERSION, 0);
  EXPECT_EQ(MPI_ABI_VERSION, 1);
  EXPECT_EQ(MPI_ABI_SUBVERSION, 0);
  EXPECT_EQ(MPI_DISPLACEMENT_CURRENT, -1);
}

TEST(MpiConstants, Addresses) {
  EXPECT_EQ(number_of_handle(MPI_BOTTOM), 0U);
  EXPECT_EQ(number_of_handle(MPI_IN_PLACE), 1U);
  EXPECT_EQ(number_of_handle(MPI_BUFFER_AUTOMATIC), 2U);
  EXPECT_EQ(number_of_handle(MPI_UNWEIGHTED), 10U);
  EXPECT_EQ(number_of_handle(MPI_WEIGHTS_EMPTY), 11U);
  EXPECT_EQ(MPI_STATUS_IGNORE, nullptr);
  EXPECT_EQ(MPI_STATUSES_IGNORE, nullptr);
  EXPECT_EQ(MPI_ERRCODES_IGNORE, nullptr);
  EXPECT_EQ(MPI_ARGV_NULL, nullptr);
  EXPECT_EQ(MPI_ARGVS_NULL, nullptr);
  EXPECT_EQ(number_of_handle(MPI_COMM_NULL_COPY_FN), 0U);
  EXPECT_EQ(number_of_handle(MPI_COMM_DUP_FN), 1U);
  EXPECT_EQ(number_of_handle(MPI_TYPE_DUP_FN), 1U);
  EXPECT_EQ(number_of_handle(MPI_WIN_DUP_FN), 1U);
  EXPECT_EQ(number_of_handle(MPI_DUP_FN), 1U);
  EXPECT_EQ(number_of_handle(MPI_CONVERSION_FN_NULL), 0U);
  EXPECT_EQ(MPI_LONG_LONG_INT, MPI_LONG_LONG);
  EXPECT_EQ(MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX);
}

TEST(MpiConstants, Types) {
  EXPECT_EQ(sizeof(MPI_Status), 32U);
  EXPECT_EQ(offsetof(MPI_Status, MPI_SOURCE), 0U);
  EXPECT_EQ(offsetof(MPI_Status, MPI_TAG), 4U);
  EXPECT_EQ(offsetof(MPI_Status, MPI_ERROR), 8U);
  EXPECT_EQ(sizeof(MPI_Aint), sizeof(void*));
  EXPECT_EQ(sizeof(MPI_Count), 8U);
  EXPECT_EQ(sizeof(MPI_Offset), 8U);
  EXPECT_EQ(sizeof(MPI_Comm), sizeof(void*));
}

// The handles of types of fixed size carry the binary logarithm of the size.
TEST(MpiConstants, SizesThatHandlesCarry) {
  for (std::uintptr_t handle = 0x240; handle < 0x300; ++handle) {
    if (handle >= 0x280 && handle < 0x2c0) continue;  // not assigned
    int size = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Type_size(reinterpret_cast<MPI_Datatype>(handle), &size) != MPI_SUCCESS) continue;
    EXPECT_EQ(size, 1 << ((handle >> 3U) & 7U)) << "handle " << handle;
  }
}

}  // namespace
