#pragma once

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "check.hpp"

// What the tests of files have in common.

namespace mpi_test {

/// The name of a file in the folder for temporary files, the same on all ranks of the job. The file is
/// deleted at the end.
class TestFile {
 public:
  explicit TestFile(const char* what) {
    std::array<char, 256> name = {};
    if (rank_in(MPI_COMM_WORLD) == 0) {
      // A disk that others write to may need long for a file's size or its deletion.
      const char* const usual = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
      const char* const given = std::getenv("TMPDIR");
      std::snprintf(name.data(), name.size(), "%s/librma-%s-%d", given != nullptr ? given : usual, what,
                    static_cast<int>(getpid()));
      unlink(name.data());
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    name_ = name.data();
  }
  ~TestFile() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_in(MPI_COMM_WORLD) == 0) unlink(name_.c_str());
  }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// A file that is open on all ranks of a communicator.
class OpenFile {
 public:
  OpenFile(const TestFile& path, int amode, MPI_Info info = MPI_INFO_NULL, MPI_Comm comm = MPI_COMM_WORLD) {
    SUCCEEDS(MPI_File_open(comm, path.name().c_str(), amode, info, &file_));
  }
  ~OpenFile() { SUCCEEDS(MPI_File_close(&file_)); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] MPI_File get() const { return file_; }

 private:
  MPI_File file_ = MPI_FILE_NULL;
};

[[nodiscard]] inline int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

[[nodiscard]] inline int count_of(const MPI_Status& status, MPI_Datatype type) {
  int count = -1;
  MPI_Get_count(&status, type, &count);
  return count;
}

}  // namespace mpi_test
