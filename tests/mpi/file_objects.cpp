// What a file is beside its data: modes, size, view, pointers, consistency, error handler, and the
// calls that are wrong.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "check.hpp"
#include "file_forms.hpp"

namespace {

using namespace mpi_test;

constexpr int kReadWrite = MPI_MODE_CREATE | MPI_MODE_RDWR;

void test_size_and_group(const TestFile& path) {
  const OpenFile file(path, kReadWrite);
  int amode = 0;
  SUCCEEDS(MPI_File_get_amode(file.get(), &amode));
  CHECK(amode == kReadWrite);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  SUCCEEDS(MPI_File_get_group(file.get(), &group));
  SUCCEEDS(MPI_Comm_group(MPI_COMM_WORLD, &world));
  int relation = -1;
  SUCCEEDS(MPI_Group_compare(group, world, &relation));
  CHECK(relation == MPI_IDENT);
  SUCCEEDS(MPI_Group_free(&group));
  SUCCEEDS(MPI_Group_free(&world));
  MPI_Offset size = -1;
  SUCCEEDS(MPI_File_set_size(file.get(), 5000));
  SUCCEEDS(MPI_File_get_size(file.get(), &size));
  CHECK(size == 5000);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_File_preallocate(file.get(), 4000));
  SUCCEEDS(MPI_File_get_size(file.get(), &size));
  CHECK(size == 5000);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_File_preallocate(file.get(), 6000));
  SUCCEEDS(MPI_File_get_size(file.get(), &size));
  CHECK(size == 6000);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_File_set_size(file.get(), 10));
  SUCCEEDS(MPI_File_get_size(file.get(), &size));
  CHECK(size == 10);
  CHECK(class_of(MPI_File_set_size(file.get(), -1)) == MPI_ERR_ARG);
  if (size_of(MPI_COMM_WORLD) > 1) {
    const int rank = rank_in(MPI_COMM_WORLD);
    CHECK(class_of(MPI_File_set_size(file.get(), rank)) == MPI_ERR_NOT_SAME);
    CHECK(class_of(MPI_File_preallocate(file.get(), rank)) == MPI_ERR_NOT_SAME);
    CHECK(class_of(MPI_File_seek_shared(file.get(), rank, MPI_SEEK_SET)) == MPI_ERR_NOT_SAME);
    CHECK(class_of(MPI_File_set_atomicity(file.get(), rank == 0 ? 0 : 1)) == MPI_ERR_NOT_SAME);
  }
  CHECK(class_of(MPI_File_preallocate(file.get(), -1)) == MPI_ERR_ARG);
  SUCCEEDS(MPI_File_sync(file.get()));
}

void test_append(const TestFile& path) {
  const OpenFile file(path, MPI_MODE_WRONLY | MPI_MODE_APPEND);
  MPI_Offset position = -1;
  SUCCEEDS(MPI_File_get_position(file.get(), &position));
  CHECK(position == 10);
  SUCCEEDS(MPI_File_get_position_shared(file.get(), &position));
  CHECK(position == 10);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
}

/// Wrong arguments of one rank make a call on the file itself fail on all.
void test_arguments_of_ranks(const TestFile& path) {
  const bool wrong = rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  const auto open = [&](const char* name, int amode) {
    MPI_File file = MPI_FILE_NULL;
    return class_of(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file));
  };
  const char* const name = path.name().c_str();
  CHECK(open(name, wrong ? MPI_MODE_RDWR | MPI_MODE_RDONLY : MPI_MODE_RDWR) == MPI_ERR_AMODE);
  CHECK(open(wrong ? nullptr : name, MPI_MODE_RDWR) == MPI_ERR_ARG);
  CHECK(open(wrong ? "" : name, MPI_MODE_RDWR) == MPI_ERR_BAD_FILE);
  const OpenFile file(path, MPI_MODE_RDWR);
  CHECK(class_of(MPI_File_set_size(file.get(), wrong ? -1 : 100)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_preallocate(file.get(), wrong ? -1 : 100)) == MPI_ERR_ARG);
}

void test_view(const TestFile& path) {
  const OpenFile file(path, MPI_MODE_RDWR);
  MPI_Offset displacement = -1;
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  std::array<char, MPI_MAX_DATAREP_STRING> name = {};
  SUCCEEDS(MPI_File_get_view(file.get(), &displacement, &etype, &filetype, name.data()));
  CHECK(displacement == 0 && etype == MPI_BYTE && filetype == MPI_BYTE &&
        std::string(name.data()) == "native");
  MPI_Datatype column = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(3, 2, 5, MPI_INT, &column));
  CHECK(class_of(MPI_File_set_view(file.get(), 0, MPI_INT, column, "native", MPI_INFO_NULL)) == MPI_ERR_TYPE);
  SUCCEEDS(MPI_Type_commit(&column));
  SUCCEEDS(MPI_File_seek(file.get(), 3, MPI_SEEK_SET));
  SUCCEEDS(MPI_File_set_view(file.get(), 8, MPI_INT, column, "internal", MPI_INFO_NULL));
  SUCCEEDS(MPI_Type_free(&column));  // the view keeps it
  SUCCEEDS(MPI_File_get_view(file.get(), &displacement, &etype, &filetype, name.data()));
  CHECK(displacement == 8 && etype == MPI_INT && std::string(name.data()) == "internal");
  int combiner = 0;
  MPI_Count counts[4];
  SUCCEEDS(MPI_Type_get_envelope_c(filetype, &counts[0], &counts[1], &counts[2], &counts[3], &combiner));
  CHECK(combiner == MPI_COMBINER_VECTOR);
  SUCCEEDS(MPI_Type_free(&filetype));
  MPI_Offset position = -1;
  SUCCEEDS(MPI_File_get_position(file.get(), &position));
  CHECK(position == 0);
  // The blocks are at 8, 28, 48, and the next tile begins at 8 + 48.
  const std::array<MPI_Offset, 8> offsets = {8, 12, 28, 32, 48, 52, 56, 60};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    SUCCEEDS(MPI_File_get_byte_offset(file.get(), static_cast<MPI_Offset>(i), &position));
    CHECK(position == offsets[i]);
  }
  CHECK(class_of(MPI_File_get_byte_offset(file.get(), -1, &position)) == MPI_ERR_ARG);
  MPI_Aint extent = -1;
  MPI_Count large = -1;
  SUCCEEDS(MPI_File_get_type_extent(file.get(), MPI_DOUBLE, &extent));
  SUCCEEDS(MPI_File_get_type_extent_c(file.get(), MPI_DOUBLE, &large));
  CHECK(extent == 8 && large == 8);
}

/// Views that are none.
void test_wrong_views(const TestFile& path) {
  const OpenFile file(path, MPI_MODE_RDWR);
  const auto set = [&](MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* name) {
    return class_of(MPI_File_set_view(file.get(), displacement, etype, filetype, name, MPI_INFO_NULL));
  };
  CHECK(set(-5, MPI_BYTE, MPI_BYTE, "native") == MPI_ERR_ARG);
  CHECK(set(MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native") == MPI_ERR_ARG);
  CHECK(set(0, MPI_INT, MPI_SHORT, "native") == MPI_ERR_ARG);
  CHECK(set(0, MPI_BYTE, MPI_BYTE, "of nobody") == MPI_ERR_UNSUPPORTED_DATAREP);
  MPI_Datatype descending = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(3, 1, -2, MPI_INT, &descending));
  SUCCEEDS(MPI_Type_commit(&descending));
  CHECK(set(100, MPI_INT, descending, "native") == MPI_ERR_IO);
  SUCCEEDS(MPI_Type_free(&descending));
  MPI_Datatype overlapping = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_create_hvector(3, 2, 4, MPI_INT, &overlapping));
  SUCCEEDS(MPI_Type_commit(&overlapping));
  CHECK(set(0, MPI_INT, overlapping, "native") == MPI_ERR_IO);
  {
    // What is only read may overlap.
    const OpenFile reads(path, MPI_MODE_RDONLY);
    SUCCEEDS(MPI_File_set_view(reads.get(), 0, MPI_INT, overlapping, "native", MPI_INFO_NULL));
    std::vector<unsigned char> plain(16);
    std::vector<unsigned char> got(24);
    SUCCEEDS(MPI_File_read_at_all(reads.get(), 0, got.data(), 24, MPI_BYTE, MPI_STATUS_IGNORE));
    SUCCEEDS(MPI_File_set_view(reads.get(), 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    SUCCEEDS(MPI_File_read_at_all(reads.get(), 0, plain.data(), 16, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(std::equal(got.begin() + 8, got.begin() + 16, plain.begin() + 4));
    CHECK(std::equal(got.begin() + 16, got.end(), plain.begin() + 8));
  }
  SUCCEEDS(MPI_Type_free(&overlapping));
  SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  char letter = 0;
  CHECK(class_of(MPI_File_write_at(file.get(), 0, &letter, 1, MPI_CHAR, MPI_STATUS_IGNORE)) == MPI_ERR_IO);
  SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_contiguous(0, MPI_INT, &nothing));
  SUCCEEDS(MPI_Type_commit(&nothing));
  CHECK(set(0, nothing, MPI_INT, "native") == MPI_ERR_ARG);
  SUCCEEDS(MPI_Type_free(&nothing));
  if (size_of(MPI_COMM_WORLD) > 1) {
    const bool other = rank_in(MPI_COMM_WORLD) == 1;
    CHECK(set(0, MPI_INT, MPI_INT, other ? "external32" : "native") == MPI_ERR_NOT_SAME);
    // Types and displacements may differ.
    CHECK(set(other ? 4 : 0, other ? MPI_FLOAT : MPI_INT, MPI_INT, "external32") == MPI_SUCCESS);
    CHECK(set(0, MPI_BYTE, MPI_BYTE, "native") == MPI_SUCCESS);
  }
  // One rank's failure is all ranks'.
  const bool wrong = rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  CHECK(set(wrong ? -1 - 5 : 0, MPI_BYTE, MPI_BYTE, "native") == MPI_ERR_ARG);
  // The view is as it was.
  int value = 0;
  SUCCEEDS(MPI_File_write_at_all(file.get(), 0, &value, rank_in(MPI_COMM_WORLD) == 0 ? 1 : 0, MPI_INT,
                                 MPI_STATUS_IGNORE));
}

/// A view whose etype has no data has no place for any.
void test_empty_etype(const TestFile& path) {
  const OpenFile file(path, MPI_MODE_RDWR);
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_contiguous(0, MPI_INT, &nothing));
  SUCCEEDS(MPI_Type_commit(&nothing));
  for (const char* const name : {"native", "external32"}) {
    SUCCEEDS(MPI_File_set_view(file.get(), 4, nothing, nothing, name, MPI_INFO_NULL));
    int value = 7;
    MPI_Status status;
    SUCCEEDS(MPI_File_read_at_all(file.get(), 1, &value, 1, MPI_INT, &status));
    CHECK(count_of(status, MPI_INT) == 0 && value == 7);
    SUCCEEDS(MPI_File_write_ordered(file.get(), &value, 3, nothing, &status));
    CHECK(class_of(MPI_File_write(file.get(), &value, 1, MPI_INT, &status)) == MPI_ERR_IO);
    MPI_Offset position = -1;
    SUCCEEDS(MPI_File_seek(file.get(), 0, MPI_SEEK_END));
    SUCCEEDS(MPI_File_get_position(file.get(), &position));
    CHECK(position == 0);
    SUCCEEDS(MPI_File_get_byte_offset(file.get(), 3, &position));
    CHECK(position == 4);
  }
  SUCCEEDS(MPI_Type_free(&nothing));
}

/// The end is the first etype, in the order of the view, that begins behind the last byte of the file. Tiles
/// may reach into the next ones, and their parts may overlap if the file is only read.
void test_end_of_view(const TestFile& path) {
  {
    const OpenFile writes(path, MPI_MODE_RDWR);
    SUCCEEDS(MPI_File_set_size(writes.get(), 40));
  }
  const OpenFile file(path, MPI_MODE_RDONLY);
  const auto end_of = [&](MPI_Datatype type, MPI_Aint extent) {
    MPI_Datatype tile = MPI_DATATYPE_NULL;
    SUCCEEDS(MPI_Type_create_resized(type, 0, extent, &tile));
    SUCCEEDS(MPI_Type_commit(&tile));
    SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_INT, tile, "native", MPI_INFO_NULL));
    SUCCEEDS(MPI_Type_free(&tile));
    MPI_Offset found = -1;
    SUCCEEDS(MPI_File_seek(file.get(), 0, MPI_SEEK_END));
    SUCCEEDS(MPI_File_get_position(file.get(), &found));
    return found;
  };
  MPI_Datatype interleaved = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(3, 1, 4, MPI_INT, &interleaved));
  // The tiles are at 0, 16, 32; then at 4, 20, 36; and the last int of the third one is at 40.
  CHECK(end_of(interleaved, 4) == 8);
  CHECK(end_of(interleaved, 48) == 3);
  MPI_Datatype overlapping = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_create_hvector(3, 3, 4, MPI_INT, &overlapping));
  // 0, 4, 8, 4, 8, 12, 8, 12, 16; the tile at 20 has 20, 24, 28, 24, 28, 32, 28, 32, 36; the next is at 40.
  CHECK(end_of(overlapping, 20) == 18);
  // The tiles are at 0, 24, 48. In the second one, the last part has 32, 36, 40.
  CHECK(end_of(overlapping, 24) == 17);
  SUCCEEDS(MPI_Type_free(&interleaved));
  SUCCEEDS(MPI_Type_free(&overlapping));
}

void test_seek(const TestFile& path) {
  const OpenFile file(path, MPI_MODE_RDWR);
  SUCCEEDS(MPI_File_set_size(file.get(), 101));
  SUCCEEDS(MPI_File_set_view(file.get(), 1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  const auto position = [&] {
    MPI_Offset found = -1;
    SUCCEEDS(MPI_File_get_position(file.get(), &found));
    return found;
  };
  SUCCEEDS(MPI_File_seek(file.get(), 0, MPI_SEEK_END));
  CHECK(position() == 25);
  SUCCEEDS(MPI_File_seek(file.get(), -5, MPI_SEEK_CUR));
  CHECK(position() == 20);
  CHECK(class_of(MPI_File_seek(file.get(), -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_seek(file.get(), -21, MPI_SEEK_CUR)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_seek(file.get(), 0, MPI_SEEK_SET + MPI_SEEK_CUR + MPI_SEEK_END)) == MPI_ERR_ARG);
  CHECK(position() == 20);
  SUCCEEDS(MPI_File_seek_shared(file.get(), -2, MPI_SEEK_END));
  MPI_Offset shared = -1;
  SUCCEEDS(MPI_File_get_position_shared(file.get(), &shared));
  CHECK(shared == 23);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  CHECK(class_of(MPI_File_seek_shared(file.get(), -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
}

/// Every value that the ranks write at the shared pointer is in the file once, and is read once.
void test_shared_pointer(const TestFile& path) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  const OpenFile file(path, MPI_MODE_RDWR);
  SUCCEEDS(MPI_File_set_size(file.get(), 0));
  SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  constexpr int kEach = 50;
  for (int i = 0; i < kEach; ++i) {
    int value = rank * kEach + i;
    const FileForm form = i % 2 == 0 ? FileForm::kBlocking : FileForm::kNonblocking;
    SUCCEEDS(
        at_shared_pointer(file.get(), true, form, i % 3 == 0, {0, &value, 1, MPI_INT}, MPI_STATUS_IGNORE));
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_File_seek_shared(file.get(), 0, MPI_SEEK_SET));
  std::vector<int> seen(static_cast<std::size_t>(size * kEach));
  for (int i = 0; i < kEach; ++i) {
    int value = -1;
    const FileForm form = i % 2 == 0 ? FileForm::kBlocking : FileForm::kNonblocking;
    SUCCEEDS(
        at_shared_pointer(file.get(), false, form, i % 3 == 0, {0, &value, 1, MPI_INT}, MPI_STATUS_IGNORE));
    if (value >= 0 && value < size * kEach) ++seen[static_cast<std::size_t>(value)];
  }
  SUCCEEDS(MPI_Allreduce(MPI_IN_PLACE, seen.data(), size * kEach, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(std::ranges::all_of(seen, [](int times) { return times == 1; }));
}

/// A sequential file has only its shared pointer.
void test_sequential(const TestFile& path) {
  const OpenFile file(path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  int value = 7;
  MPI_Offset offset = 0;
  CHECK(class_of(MPI_File_write_at(file.get(), 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
        MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_write(file.get(), &value, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
        MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_seek(file.get(), 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_get_position(file.get(), &offset)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_seek_shared(file.get(), 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_get_position_shared(file.get(), &offset)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_set_view(file.get(), 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)) == MPI_ERR_ARG);
  SUCCEEDS(MPI_File_write_ordered(file.get(), &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  SUCCEEDS(
      MPI_File_set_view(file.get(), MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  std::array<char, MPI_MAX_DATAREP_STRING> name = {};
  SUCCEEDS(MPI_File_get_view(file.get(), &offset, &etype, &filetype, name.data()));
  CHECK(offset == static_cast<MPI_Offset>(sizeof(int)) * size_of(MPI_COMM_WORLD));
}

/// Only one split collective operation of a file is under way, and the end is that of its beginning.
void test_split_errors(const TestFile& path) {
  MPI_File file = MPI_FILE_NULL;
  SUCCEEDS(MPI_File_open(MPI_COMM_WORLD, path.name().c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  int value = 0;
  CHECK(class_of(MPI_File_read_all_end(file, &value, MPI_STATUS_IGNORE)) == MPI_ERR_IO);
  SUCCEEDS(MPI_File_read_all_begin(file, &value, 1, MPI_INT));
  CHECK(class_of(MPI_File_read_all_begin(file, &value, 1, MPI_INT)) == MPI_ERR_IO);
  CHECK(class_of(MPI_File_write_all_end(file, &value, MPI_STATUS_IGNORE)) == MPI_ERR_IO);
  CHECK(class_of(MPI_File_close(&file)) == MPI_ERR_IO);
  SUCCEEDS(MPI_File_read_all_end(file, &value, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_File_close(&file));
}

/// In atomic mode a read sees all of another rank's write, or nothing.
void test_atomic_mode(const TestFile& path) {
  const int rank = rank_in(MPI_COMM_WORLD);
  constexpr int kInts = 500000;
  const OpenFile file(path, MPI_MODE_RDWR);
  int flag = -1;
  SUCCEEDS(MPI_File_get_atomicity(file.get(), &flag));
  CHECK(flag == 0);
  SUCCEEDS(MPI_File_set_atomicity(file.get(), 1));
  SUCCEEDS(MPI_File_get_atomicity(file.get(), &flag));
  CHECK(flag == 1);
  // Each access takes many system calls.
  MPI_Datatype blocks = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(50, kInts / 50, kInts / 25, MPI_INT, &blocks));
  SUCCEEDS(MPI_Type_commit(&blocks));
  SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_INT, blocks, "native", MPI_INFO_NULL));
  SUCCEEDS(MPI_Type_free(&blocks));
  std::vector<int> data(kInts, rank);
  SUCCEEDS(MPI_File_write_at_all(file.get(), 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < 10; ++i) {
    std::ranges::fill(data, rank);
    SUCCEEDS(MPI_File_write_at(file.get(), 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
    SUCCEEDS(MPI_File_read_at(file.get(), 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(std::ranges::all_of(data, [&](int one) { return one == data[0]; }));
  }
}

int noted = 0;
MPI_File noted_file = MPI_FILE_NULL;
void note(MPI_File* file, int* code, ...) {
  ++noted;
  noted_file = *file;
  CHECK(class_of(*code) == MPI_ERR_READ_ONLY);
}

/// A file has the error handler that MPI_FILE_NULL had when it was opened.
void test_error_handler(const TestFile& path) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  SUCCEEDS(MPI_File_create_errhandler(note, &handler));
  SUCCEEDS(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  const OpenFile file(path, MPI_MODE_RDONLY);
  SUCCEEDS(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK(class_of(MPI_File_write_at(file.get(), 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
        MPI_ERR_READ_ONLY);
  CHECK(noted == 1 && noted_file == file.get());
  CHECK(class_of(MPI_File_iwrite_at(file.get(), 0, &value, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  CHECK(noted == 2);
  SUCCEEDS(MPI_Errhandler_free(&handler));
}

/// Many operations of one file at a time, waited for in any order.
void test_requests(const TestFile& path) {
  const int rank = rank_in(MPI_COMM_WORLD);
  constexpr int kMany = 40;
  const OpenFile file(path, MPI_MODE_RDWR);
  SUCCEEDS(MPI_File_set_view(file.get(), rank * 4096, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  std::array<int, kMany> values = {};
  std::array<MPI_Request, kMany> requests;
  std::array<MPI_Status, kMany> statuses;
  for (int i = 0; i < kMany; ++i) {
    values[static_cast<std::size_t>(i)] = rank * 1000 + i;
    SUCCEEDS(MPI_File_iwrite(file.get(), &values[static_cast<std::size_t>(i)], 1, MPI_INT,
                             &requests[static_cast<std::size_t>(i)]));
  }
  SUCCEEDS(MPI_Waitall(kMany, requests.data(), statuses.data()));
  for (const MPI_Status& status : statuses) CHECK(count_of(status, MPI_INT) == 1);
  std::array<int, kMany> got = {};
  for (int i = 0; i < kMany; ++i) {
    SUCCEEDS(MPI_File_iread_at(file.get(), i, &got[static_cast<std::size_t>(i)], 1, MPI_INT,
                               &requests[static_cast<std::size_t>(i)]));
  }
  for (int left = kMany; left > 0; --left) {
    int index = -1;
    MPI_Status status;
    SUCCEEDS(MPI_Waitany(kMany, requests.data(), &index, &status));
    CHECK(count_of(status, MPI_INT) == 1);
    CHECK(got[static_cast<std::size_t>(index)] == rank * 1000 + index);
  }
  int value = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_File_iread_at(file.get(), 1, &value, 1, MPI_INT, &request));
  int flag = 0;
  while (flag == 0) SUCCEEDS(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK(value == rank * 1000 + 1);
  // The file is closed after a freed operation has ended.
  SUCCEEDS(MPI_File_iwrite_at(file.get(), 2, &value, 1, MPI_INT, &request));
  SUCCEEDS(MPI_Request_free(&request));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const TestFile path("file-objects");
    test_size_and_group(path);
    test_append(path);
    test_arguments_of_ranks(path);
    test_view(path);
    test_wrong_views(path);
    test_empty_etype(path);
    test_end_of_view(path);
    test_seek(path);
    test_shared_pointer(path);
    test_sequential(path);
    test_split_errors(path);
    test_atomic_mode(path);
    test_error_handler(path);
    test_requests(path);
  }
  const int code = result();
  MPI_Finalize();
  return code;
}
