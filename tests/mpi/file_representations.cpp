// Data representations: what is in the file, byte by byte, and what comes back.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "file_forms.hpp"

namespace {

using namespace mpi_test;

constexpr int kReadWrite = MPI_MODE_CREATE | MPI_MODE_RDWR;

std::vector<unsigned char> bytes_in(const TestFile& path) {
  std::vector<unsigned char> bytes(1000);
  const int fd = open(path.name().c_str(), O_RDONLY);
  const ssize_t got = pread(fd, bytes.data(), bytes.size(), 0);
  close(fd);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

/// Numbers are big-endian in external32, and a long has 4 bytes.
void test_external32(const TestFile& path) {
  const OpenFile file(path, kReadWrite, MPI_INFO_NULL, MPI_COMM_SELF);
  SUCCEEDS(MPI_File_set_size(file.get(), 0));
  SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
  MPI_Aint extent = 0;
  SUCCEEDS(MPI_File_get_type_extent(file.get(), MPI_LONG, &extent));
  CHECK(extent == 4);
  const std::array<long, 3> values = {1, -2, 0x01020304};
  MPI_Status status;
  SUCCEEDS(MPI_File_write(file.get(), values.data(), 3, MPI_LONG, &status));
  CHECK(count_of(status, MPI_LONG) == 3);
  const std::vector<unsigned char> wanted = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe, 1, 2, 3, 4};
  CHECK(bytes_in(path) == wanted);
  MPI_Offset position = 0;
  SUCCEEDS(MPI_File_get_position(file.get(), &position));
  CHECK(position == 3);
  std::array<long, 4> got = {};
  SUCCEEDS(MPI_File_read_at(file.get(), 1, got.data(), 4, MPI_LONG, &status));
  CHECK(count_of(status, MPI_LONG) == 2);
  CHECK(got[0] == -2 && got[1] == 0x01020304);
  const long large = 1L << 40;
  CHECK(class_of(MPI_File_write_at(file.get(), 0, &large, 1, MPI_LONG, MPI_STATUS_IGNORE)) ==
        MPI_ERR_CONVERSION);
  CHECK(bytes_in(path) == wanted);
}

/// The filetype has the sizes of the file: here two longs of 4 bytes, then a gap of one.
void test_external32_view(const TestFile& path) {
  const OpenFile file(path, kReadWrite, MPI_INFO_NULL, MPI_COMM_SELF);
  SUCCEEDS(MPI_File_set_size(file.get(), 0));
  std::vector<MPI_Datatype> types(7);
  const std::array<int, 2> lengths = {1, 1};
  const std::array<int, 2> places = {0, 1};
  const std::array<MPI_Aint, 2> in_file = {0, 4};
  const std::array<MPI_Datatype, 2> longs = {MPI_LONG, MPI_LONG};
  const int size = 3;
  const int part = 2;
  const int start = 0;
  const int kind = MPI_DISTRIBUTE_NONE;
  const int argument = MPI_DISTRIBUTE_DFLT_DARG;
  const int one = 1;
  SUCCEEDS(MPI_Type_indexed(2, lengths.data(), places.data(), MPI_LONG, &types[0]));
  SUCCEEDS(MPI_Type_create_indexed_block(2, 1, places.data(), MPI_LONG, &types[1]));
  SUCCEEDS(MPI_Type_create_hindexed(2, lengths.data(), in_file.data(), MPI_LONG, &types[2]));
  SUCCEEDS(MPI_Type_create_hindexed_block(2, 1, in_file.data(), MPI_LONG, &types[3]));
  SUCCEEDS(MPI_Type_create_struct(2, lengths.data(), in_file.data(), longs.data(), &types[4]));
  SUCCEEDS(MPI_Type_create_hvector(2, 1, 4, MPI_LONG, &types[5]));
  SUCCEEDS(MPI_Type_create_darray(1, 0, 1, &part, &kind, &argument, &one, MPI_ORDER_C, MPI_LONG, &types[6]));
  types.resize(10);
  SUCCEEDS(MPI_Type_vector(2, 1, 1, MPI_LONG, &types[7]));
  SUCCEEDS(MPI_Type_contiguous(2, MPI_LONG, &types[8]));
  SUCCEEDS(MPI_Type_contiguous_c(2, MPI_LONG, &types[9]));
  for (MPI_Datatype& type : types) {
    // All these are two neighbouring longs in the file.
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    MPI_Datatype tile = MPI_DATATYPE_NULL;
    SUCCEEDS(MPI_Type_dup(type, &copy));
    SUCCEEDS(MPI_Type_create_resized(copy, 0, 12, &tile));
    SUCCEEDS(MPI_Type_commit(&tile));
    SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_LONG, tile, "external32", MPI_INFO_NULL));
    const std::array<long, 4> values = {1, 2, 3, 4};
    SUCCEEDS(MPI_File_set_size(file.get(), 0));
    SUCCEEDS(MPI_File_write_at_all(file.get(), 0, values.data(), 4, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK((bytes_in(path) ==
           std::vector<unsigned char>{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4}));
    std::array<long, 4> got = {};
    SUCCEEDS(MPI_File_read_at_all(file.get(), 0, got.data(), 4, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK(got == values);
    SUCCEEDS(MPI_Type_free(&copy));
    SUCCEEDS(MPI_Type_free(&tile));
    SUCCEEDS(MPI_Type_free(&type));
  }
  MPI_Datatype array = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_create_subarray(1, &size, &part, &start, MPI_ORDER_C, MPI_LONG, &array));
  SUCCEEDS(MPI_Type_commit(&array));
  MPI_Count extent = 0;
  SUCCEEDS(MPI_File_get_type_extent_c(file.get(), array, &extent));
  CHECK(extent == 12);
  SUCCEEDS(MPI_Type_free(&array));
}

/// The representations of this program write each int as a letter and three digits. The extra state is the
/// letter.
int extent_of(MPI_Datatype type, MPI_Aint* extent, void* /*extra*/) {
  MPI_Aint lower = 0;
  MPI_Type_get_extent(type, &lower, extent);
  if (type == MPI_INT) *extent = 5;
  return MPI_SUCCESS;
}

int write_digits(void* memory, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position,
                 void* extra) {
  // A type of this test is one int or every second int.
  const MPI_Count distance = type == MPI_INT ? 1 : 2;
  for (MPI_Count i = 0; i < count; ++i) {
    char text[20];
    const int value = static_cast<const int*>(memory)[(position + i) * distance];
    if (value > 9999) return MPI_ERR_CONVERSION;
    std::snprintf(text, sizeof text, "%c%04d", *static_cast<const char*>(extra), value);
    std::memcpy(static_cast<char*>(file) + 5 * i, text, 5);
  }
  return MPI_SUCCESS;
}

int read_digits(void* memory, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position,
                void* extra) {
  const MPI_Count distance = type == MPI_INT ? 1 : 2;
  for (MPI_Count i = 0; i < count; ++i) {
    const std::string text(static_cast<const char*>(file) + 5 * i, 5);
    if (text[0] != *static_cast<const char*>(extra)) return MPI_ERR_CONVERSION;
    static_cast<int*>(memory)[(position + i) * distance] = std::stoi(text.substr(1));
  }
  return MPI_SUCCESS;
}

int write_few_digits(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position,
                     void* extra) {
  return write_digits(memory, type, count, file, position, extra);
}
int read_few_digits(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position,
                    void* extra) {
  return read_digits(memory, type, count, file, position, extra);
}

char letter_a = 'a';
char letter_b = 'b';

void test_registration() {
  SUCCEEDS(MPI_Register_datarep("digits", read_few_digits, write_few_digits, extent_of, &letter_a));
  SUCCEEDS(MPI_Register_datarep_c("many digits", read_digits, write_digits, extent_of, &letter_b));
  SUCCEEDS(MPI_Register_datarep(
      "as in memory", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
      [](MPI_Datatype type, MPI_Aint* extent, void*) {
        MPI_Aint lower = 0;
        return MPI_Type_get_extent(type, &lower, extent);
      },
      nullptr));
  for (const char* const name : {"digits", "native", "external32"}) {
    CHECK(class_of(MPI_Register_datarep(name, read_few_digits, write_few_digits, extent_of, &letter_a)) ==
          MPI_ERR_DUP_DATAREP);
  }
  const std::string too_long(MPI_MAX_DATAREP_STRING, 'x');
  CHECK(class_of(MPI_Register_datarep_c(too_long.c_str(), read_digits, write_digits, extent_of, &letter_a)) ==
        MPI_ERR_ARG);
}

/// The ranks write their numbers together, with every form of call.
void test_own_representation(const TestFile& path, const char* name, char letter) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  const OpenFile file(path, kReadWrite);
  MPI_Datatype part = MPI_DATATYPE_NULL;
  MPI_Datatype tile = MPI_DATATYPE_NULL;
  MPI_Datatype sparse = MPI_DATATYPE_NULL;
  // In the file an int has 5 bytes.
  const MPI_Aint place = 5 * rank;
  const int one = 1;
  SUCCEEDS(MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &part));
  SUCCEEDS(MPI_Type_create_resized(part, 0, 5 * size, &tile));
  SUCCEEDS(MPI_Type_commit(&tile));
  SUCCEEDS(MPI_Type_vector(2, 1, 2, MPI_INT, &sparse));
  SUCCEEDS(MPI_Type_commit(&sparse));
  for (int form = 0; form < kFileForms; ++form) {
    SUCCEEDS(MPI_File_set_size(file.get(), 0));
    SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_INT, tile, name, MPI_INFO_NULL));
    std::array<int, 3> values = {rank + 10, -1, rank + 100};
    MPI_Status status;
    const FileData sent = {0, values.data(), 1, sparse};
    SUCCEEDS(at_offset(file.get(), true, static_cast<FileForm>(form), form % 2 == 0, sent, &status));
    CHECK(count_of(status, MPI_INT) == 2);
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    std::string wanted;
    for (const int base : {10, 100}) {
      for (int i = 0; i < size; ++i) {
        char text[20];
        std::snprintf(text, sizeof text, "%c%04d", letter, base + i);
        wanted += text;
      }
    }
    const std::vector<unsigned char> found = bytes_in(path);
    CHECK(std::string(found.begin(), found.end()) == wanted);
    std::array<int, 3> got = {0, -1, 0};
    const FileData received = {0, got.data(), 1, sparse};
    SUCCEEDS(at_pointer(file.get(), false, static_cast<FileForm>(form), form % 2 != 0, received, &status));
    CHECK(got == values);
    // The third number is behind the end.
    std::array<int, 3> end = {-1, -1, -1};
    SUCCEEDS(MPI_File_read_at(file.get(), 1, end.data(), 3, MPI_INT, &status));
    CHECK(count_of(status, MPI_INT) == 1 && end[0] == rank + 100 && end[1] == -1);
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  }
  SUCCEEDS(MPI_Type_free(&part));
  SUCCEEDS(MPI_Type_free(&tile));
  SUCCEEDS(MPI_Type_free(&sparse));
}

/// The code of a function that fails is that of the call.
void test_failing_conversion(const TestFile& path) {
  const OpenFile file(path, kReadWrite);
  int value = 0;
  SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_INT, MPI_INT, "digits", MPI_INFO_NULL));
  CHECK(class_of(MPI_File_read_at_all(file.get(), 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
        MPI_ERR_CONVERSION);
  CHECK(class_of(MPI_File_read_at(file.get(), 0, &value, 0, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE)) ==
        MPI_ERR_TYPE);
  // A function that fails on one rank: the others write behind each other.
  const int rank = rank_in(MPI_COMM_WORLD);
  value = rank == 0 ? 10000 : rank;
  const int code = MPI_File_write_ordered(file.get(), &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(class_of(code) == (rank == 0 ? MPI_ERR_CONVERSION : MPI_SUCCESS));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  if (rank > 0) {
    SUCCEEDS(MPI_File_read_at(file.get(), rank - 1, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(value == rank);
  }
  SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_INT, MPI_INT, "as in memory", MPI_INFO_NULL));
  int again = 0;
  SUCCEEDS(MPI_File_write_at_all(file.get(), rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_File_read_at_all(file.get(), rank, &again, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(again == rank);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const TestFile path("file-representations");
    if (rank_in(MPI_COMM_WORLD) == 0) {
      // Alone, because the file is read beside MPI.
      test_external32(path);
      test_external32_view(path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    test_registration();
    test_own_representation(path, "digits", 'a');
    test_own_representation(path, "many digits", 'b');
    test_failing_conversion(path);
  }
  const int code = result();
  MPI_Finalize();
  return code;
}
