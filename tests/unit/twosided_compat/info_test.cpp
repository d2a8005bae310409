// Info objects, and the calls that tell of the library and its binary interface.

#include <gtest/gtest.h>

#include <string>

#include "mpi.h"

namespace {

/// Returns the value of a key, or "(none)".
std::string value_of(MPI_Info info, const char* key) {
  char value[MPI_MAX_INFO_VAL];
  int length = MPI_MAX_INFO_VAL;
  int flag = 0;
  EXPECT_EQ(MPI_Info_get_string(info, key, &length, value, &flag), MPI_SUCCESS);
  if (flag == 0) return "(none)";
  EXPECT_EQ(static_cast<std::size_t>(length), std::string(value).size() + 1);
  return value;
}

TEST(MpiInfo, KeysKeepTheirOrderAndValues) {
  MPI_Info info = MPI_INFO_NULL;
  ASSERT_EQ(MPI_Info_create(&info), MPI_SUCCESS);
  EXPECT_EQ(MPI_Info_set(info, "one", "1"), MPI_SUCCESS);
  EXPECT_EQ(MPI_Info_set(info, "two", "2"), MPI_SUCCESS);
  EXPECT_EQ(MPI_Info_set(info, "three", "3"), MPI_SUCCESS);
  EXPECT_EQ(MPI_Info_set(info, "two", "twice"), MPI_SUCCESS);
  int keys = 0;
  EXPECT_EQ(MPI_Info_get_nkeys(info, &keys), MPI_SUCCESS);
  EXPECT_EQ(keys, 3);
  char key[MPI_MAX_INFO_KEY];
  EXPECT_EQ(MPI_Info_get_nthkey(info, 1, key), MPI_SUCCESS);
  EXPECT_STREQ(key, "two");
  EXPECT_EQ(MPI_Info_get_nthkey(info, 3, key), MPI_ERR_ARG);
  EXPECT_EQ(value_of(info, "two"), "twice");
  EXPECT_EQ(value_of(info, "four"), "(none)");

  MPI_Info copy = MPI_INFO_NULL;
  ASSERT_EQ(MPI_Info_dup(info, &copy), MPI_SUCCESS);
  EXPECT_EQ(MPI_Info_delete(info, "two"), MPI_SUCCESS);
  EXPECT_EQ(MPI_Info_delete(info, "two"), MPI_ERR_INFO_NOKEY);
  EXPECT_EQ(value_of(info, "two"), "(none)");
  EXPECT_EQ(value_of(copy, "two"), "twice");
  EXPECT_EQ(MPI_Info_fromint(MPI_Info_toint(copy)), copy);
  EXPECT_EQ(MPI_Info_free(&copy), MPI_SUCCESS);
  EXPECT_EQ(copy, MPI_INFO_NULL);
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
}

TEST(MpiInfo, ShortBuffers) {
  MPI_Info info = MPI_INFO_NULL;
  ASSERT_EQ(MPI_Info_create(&info), MPI_SUCCESS);
  ASSERT_EQ(MPI_Info_set(info, "key", "abcdef"), MPI_SUCCESS);
  char value[8] = "???????";
  int flag = 0;
  EXPECT_EQ(MPI_Info_get(info, "key", 3, value, &flag), MPI_SUCCESS);  // room for 3 characters and the null
  EXPECT_EQ(flag, 1);
  EXPECT_STREQ(value, "abc");
  int length = 3;
  EXPECT_EQ(MPI_Info_get_string(info, "key", &length, value, &flag), MPI_SUCCESS);
  EXPECT_STREQ(value, "ab");
  EXPECT_EQ(length, 7);
  length = 0;
  EXPECT_EQ(MPI_Info_get_string(info, "key", &length, nullptr, &flag), MPI_SUCCESS);
  EXPECT_EQ(length, 7);
  EXPECT_EQ(MPI_Info_get_valuelen(info, "key", &length, &flag), MPI_SUCCESS);
  EXPECT_EQ(length, 6);
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
}

TEST(MpiInfo, WrongArguments) {
  MPI_Info info = MPI_INFO_NULL;
  EXPECT_EQ(MPI_Info_set(info, "key", "value"), MPI_ERR_INFO);
  EXPECT_EQ(MPI_Info_free(&info), MPI_ERR_INFO);
  ASSERT_EQ(MPI_Info_create(&info), MPI_SUCCESS);
  const std::string longest_key(MPI_MAX_INFO_KEY - 1, 'k');
  const std::string longest_value(MPI_MAX_INFO_VAL - 1, 'v');
  EXPECT_EQ(MPI_Info_set(info, longest_key.c_str(), longest_value.c_str()), MPI_SUCCESS);
  EXPECT_EQ(value_of(info, longest_key.c_str()), longest_value);
  EXPECT_EQ(MPI_Info_set(info, (longest_key + "k").c_str(), "v"), MPI_ERR_INFO_KEY);
  EXPECT_EQ(MPI_Info_set(info, "k", (longest_value + "v").c_str()), MPI_ERR_INFO_VALUE);
  EXPECT_EQ(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY);
  EXPECT_EQ(MPI_Info_set(info, "k", nullptr), MPI_ERR_INFO_VALUE);
  EXPECT_EQ(MPI_Info_set(MPI_INFO_ENV, "k", "v"), MPI_ERR_INFO);
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
}

TEST(MpiInfo, OfThisProcess) {
  EXPECT_NE(value_of(MPI_INFO_ENV, "command").find("test-twosided_compat"), std::string::npos);
  EXPECT_NE(value_of(MPI_INFO_ENV, "arch"), "(none)");
  MPI_Info info = MPI_INFO_NULL;
  ASSERT_EQ(MPI_Info_create_env(0, nullptr, &info), MPI_SUCCESS);
  EXPECT_EQ(value_of(info, "command"), value_of(MPI_INFO_ENV, "command"));
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
}

TEST(MpiAbi, TellsItsVersionAndSizes) {
  int major = 0;
  int minor = -1;
  EXPECT_EQ(MPI_Abi_get_version(&major, &minor), MPI_SUCCESS);
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 0);
  MPI_Info info = MPI_INFO_NULL;
  ASSERT_EQ(MPI_Abi_get_info(&info), MPI_SUCCESS);
  EXPECT_EQ(value_of(info, "mpi_aint_size"), "8");
  EXPECT_EQ(value_of(info, "mpi_count_size"), "8");
  EXPECT_EQ(value_of(info, "mpi_offset_size"), "8");
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
  ASSERT_EQ(MPI_Abi_get_fortran_info(&info), MPI_SUCCESS);
  EXPECT_EQ(value_of(info, "mpi_logical_size"), "4");
  EXPECT_EQ(value_of(info, "mpi_double_precision_size"), "8");
  // A type that MPI_Type_size knows is one that the library supports.
  int size = 0;
  EXPECT_EQ(MPI_Type_size(MPI_REAL2, &size), MPI_SUCCESS);
  EXPECT_EQ(size, 2);
  EXPECT_EQ(value_of(info, "mpi_real2_supported"), "true");
  EXPECT_EQ(MPI_Type_size(MPI_COMPLEX4, &size), MPI_SUCCESS);
  EXPECT_EQ(size, 4);
  EXPECT_EQ(value_of(info, "mpi_complex4_supported"), "true");
  EXPECT_EQ(value_of(info, "mpi_integer16_supported"), "true");
  EXPECT_EQ(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
}

TEST(MpiAbi, FortransTruthValues) {
  std::int32_t yes = -1;
  std::int32_t no = -1;
  int set = 0;
  EXPECT_EQ(MPI_Abi_get_fortran_booleans(4, &yes, &no, &set), MPI_SUCCESS);
  EXPECT_EQ(yes, 1);
  EXPECT_EQ(no, 0);
  EXPECT_EQ(set, 1);
  EXPECT_EQ(MPI_Abi_get_fortran_booleans(3, &yes, &no, &set), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_ERR_ABI);
  EXPECT_EQ(MPI_Abi_set_fortran_booleans(5, &yes, &no), MPI_ERR_ARG);
}

TEST(MpiAbi, Versions) {
  int version = 0;
  int subversion = 0;
  EXPECT_EQ(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
  EXPECT_EQ(version, MPI_VERSION);
  EXPECT_EQ(subversion, MPI_SUBVERSION);
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  EXPECT_EQ(MPI_Get_library_version(text, &length), MPI_SUCCESS);
  EXPECT_EQ(std::string(text).rfind("librma ", 0), 0U);
  EXPECT_EQ(static_cast<std::size_t>(length), std::string(text).size());
  char host[MPI_MAX_PROCESSOR_NAME];
  EXPECT_EQ(MPI_Get_processor_name(host, &length), MPI_SUCCESS);
  EXPECT_EQ(static_cast<std::size_t>(length), std::string(host).size());
  EXPECT_GT(MPI_Wtick(), 0.0);
  const double before = MPI_Wtime();
  EXPECT_GE(MPI_Wtime(), before);
}

}  // namespace
