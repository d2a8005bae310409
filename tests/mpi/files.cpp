// Files: opening them, their data at explicit offsets, and the errors of both.

#include <unistd.h>

#include <string>
#include <vector>

#include "check.hpp"
#include "file_case.hpp"

namespace {

using namespace mpi_test;

constexpr int kInts = 1000;

std::vector<int> numbers_of(int rank) {
  std::vector<int> numbers(kInts);
  for (int i = 0; i < kInts; ++i) numbers[static_cast<std::size_t>(i)] = rank * kInts + i;
  return numbers;
}

/// Each rank writes a block and reads that of the next one.
void test_blocks(const TestFile& path) {
  const Ring ring(MPI_COMM_WORLD);
  const OpenFile file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  const std::vector<int> mine = numbers_of(ring.rank);
  const auto bytes = static_cast<MPI_Offset>(sizeof(int)) * kInts;
  MPI_Status status;
  SUCCEEDS(MPI_File_write_at(file.get(), ring.rank * bytes, mine.data(), kInts, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == kInts);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  std::vector<int> got(kInts);
  SUCCEEDS(MPI_File_read_at_c(file.get(), ring.next * bytes, got.data(), kInts, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == kInts);
  CHECK(got == numbers_of(ring.next));
  MPI_Offset size = -1;
  SUCCEEDS(MPI_File_get_size(file.get(), &size));
  CHECK(size == ring.size * bytes);
}

/// A read that ends behind the end of the file brings what is there.
void test_end(const TestFile& path) {
  const Ring ring(MPI_COMM_WORLD);
  const OpenFile file(path, MPI_MODE_RDONLY);
  const MPI_Offset all = static_cast<MPI_Offset>(sizeof(int)) * kInts * ring.size;
  std::vector<int> got(4, -1);
  MPI_Status status;
  SUCCEEDS(MPI_File_read_at(file.get(), all - 6, got.data(), 4, MPI_INT, &status));
  CHECK(count_of(status, MPI_BYTE) == 6);
  CHECK(count_of(status, MPI_INT) == MPI_UNDEFINED);
  CHECK(got[2] == -1);
  SUCCEEDS(MPI_File_read_at(file.get(), all + 100, got.data(), 4, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 0);
}

void test_errors(const TestFile& path) {
  MPI_File file = MPI_FILE_NULL;
  const auto open = [&](const std::string& name, int amode) {
    const int code = MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, &file);
    CHECK(file == MPI_FILE_NULL);
    return class_of(code);
  };
  CHECK(open(path.name() + ".none", MPI_MODE_RDONLY) == MPI_ERR_NO_SUCH_FILE);
  CHECK(open(path.name(), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL) == MPI_ERR_FILE_EXISTS);
  CHECK(open(path.name() + "/none", MPI_MODE_RDONLY) == MPI_ERR_BAD_FILE);
  CHECK(open("/", MPI_MODE_RDONLY) == MPI_ERR_BAD_FILE);
  CHECK(open("", MPI_MODE_RDONLY) == MPI_ERR_BAD_FILE);
  CHECK(open("/proc/none/x", MPI_MODE_WRONLY | MPI_MODE_CREATE) == MPI_ERR_NO_SUCH_FILE);
  CHECK(open(path.name(), 0) == MPI_ERR_AMODE);
  CHECK(open(path.name(), MPI_MODE_RDONLY | MPI_MODE_RDWR) == MPI_ERR_AMODE);
  CHECK(open(path.name(), MPI_MODE_RDONLY | MPI_MODE_CREATE) == MPI_ERR_AMODE);
  CHECK(open(path.name(), MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL) == MPI_ERR_AMODE);
  if (size_of(MPI_COMM_WORLD) > 1) {
    const int amode = rank_in(MPI_COMM_WORLD) == 0 ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
    CHECK(open(path.name(), amode) == MPI_ERR_NOT_SAME);
  }
  CHECK(class_of(MPI_File_delete((path.name() + ".none").c_str(), MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
  int value = 0;
  CHECK(MPI_File_write_at(MPI_FILE_NULL, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_ERR_FILE);
  const OpenFile reads(path, MPI_MODE_RDONLY);
  CHECK(class_of(MPI_File_write_at_c(reads.get(), 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
        MPI_ERR_READ_ONLY);
  CHECK(class_of(MPI_File_read_at(reads.get(), -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
  const OpenFile writes(path, MPI_MODE_WRONLY);
  CHECK(class_of(MPI_File_read_at(writes.get(), 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
}

/// The text of a failure is the system's.
void test_text(const TestFile& path) {
  MPI_File file = MPI_FILE_NULL;
  const int code =
      MPI_File_open(MPI_COMM_WORLD, (path.name() + ".none").c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  std::vector<char> text(MPI_MAX_ERROR_STRING);
  int length = 0;
  SUCCEEDS(MPI_Error_string(code, text.data(), &length));
  CHECK(std::string(text.data()).find("No such file or directory") != std::string::npos);
  CHECK(length == static_cast<int>(std::string(text.data()).size()));
}

/// A file of MPI_MODE_DELETE_ON_CLOSE is gone afterwards.
void test_deletion(const TestFile& path) {
  const std::string name = path.name() + ".gone";
  MPI_File file = MPI_FILE_NULL;
  SUCCEEDS(MPI_File_open(MPI_COMM_WORLD, name.c_str(),
                         MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  CHECK(access(name.c_str(), F_OK) == 0);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
  CHECK(access(name.c_str(), F_OK) != 0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const TestFile path("files");
    test_blocks(path);
    test_end(path);
    test_errors(path);
    test_text(path);
    test_deletion(path);
  }
  const int code = result();
  MPI_Finalize();
  return code;
}
