// A rank ends in the middle of a job, and the launcher keeps the others alive. Collective calls on a file
// fail on the others, none waits for ever, and their own parts of the file are right. The test forks the
// ranks of each job.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "lost_job.hpp"
#include "mpi.h"

namespace {

using lost_job::end;
using lost_job::kRanks;
using lost_job::kVictim;
constexpr int kInts = 3000;

int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

class FilesLost : public testing::Test {
 protected:
  ~FilesLost() override { unlink(path_.c_str()); }

  /// Runs `body(rank, file)` on all ranks of a job. The victim ends inside of it.
  void run(const std::function<void(int, MPI_File)>& body) {
    lost_job::run([&](int rank) {
      MPI_File file = MPI_FILE_NULL;
      MPI_Info info = MPI_INFO_NULL;
      EXPECT_EQ(MPI_Info_create(&info), MPI_SUCCESS);
      EXPECT_EQ(MPI_Info_set(info, "romio_cb_write", "enable"), MPI_SUCCESS);
      EXPECT_EQ(MPI_Info_set(info, "romio_cb_read", "enable"), MPI_SUCCESS);
      EXPECT_EQ(MPI_File_open(MPI_COMM_WORLD, path_.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
                MPI_SUCCESS);
      body(rank, file);
      EXPECT_EQ(class_of(MPI_File_close(&file)), MPI_ERR_PROC_ABORTED);
      EXPECT_EQ(file, MPI_FILE_NULL);
    });
  }

  const std::string path_ = testing::TempDir() + "librma-files-lost-" + std::to_string(getpid());
};

TEST_F(FilesLost, InACollectiveWrite) {
  run([](int rank, MPI_File file) {
    MPI_Datatype column = MPI_DATATYPE_NULL;
    EXPECT_EQ(MPI_Type_vector(kInts, 1, kRanks, MPI_INT, &column), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_commit(&column), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_set_view(file, rank * 4, MPI_INT, column, "native", MPI_INFO_NULL), MPI_SUCCESS);
    std::vector<int> data(kInts, rank);
    EXPECT_EQ(MPI_File_write_at_all(file, 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    if (rank == kVictim) end();
    std::ranges::fill(data, rank + 10);
    EXPECT_EQ(class_of(MPI_File_write_at_all(file, 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE)),
              MPI_ERR_PROC_ABORTED);
    EXPECT_EQ(class_of(MPI_File_read_at_all(file, 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE)),
              MPI_ERR_PROC_ABORTED);
    // What concerns this rank alone works, and what the ranks have written is there.
    EXPECT_EQ(MPI_File_write_at(file, 0, data.data(), 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_read_at(file, 1, data.data(), kInts - 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(std::all_of(data.begin(), data.end() - 1, [&](int one) { return one == rank; }));
    EXPECT_EQ(MPI_Type_free(&column), MPI_SUCCESS);
  });
  std::array<int, 3 * kRanks> first = {};
  const int fd = open(path_.c_str(), O_RDONLY);
  EXPECT_EQ(pread(fd, first.data(), sizeof first, 0), static_cast<ssize_t>(sizeof first));
  close(fd);
  EXPECT_EQ(first, (std::array<int, 3 * kRanks>{10, 11, 2, 0, 1, 2, 0, 1, 2}));
}

TEST_F(FilesLost, InTheMiddleOfItsOwnWrites) {
  run([](int rank, MPI_File file) {
    std::vector<int> data(kInts);
    for (int i = 0; i < kInts; ++i) {
      if (rank == kVictim && i == kInts / 2) end();
      data[static_cast<std::size_t>(i)] = rank * kInts + i;
      const MPI_Offset at = 4 * (MPI_Offset{rank} * kInts + i);
      EXPECT_EQ(
          MPI_File_write_at(file, at, &data[static_cast<std::size_t>(i)], 1, MPI_INT, MPI_STATUS_IGNORE),
          MPI_SUCCESS);
    }
  });
  std::vector<int> all(static_cast<std::size_t>(kRanks) * kInts);
  const int fd = open(path_.c_str(), O_RDONLY);
  // The victim has written the first half of its part, which is the last one.
  EXPECT_EQ(pread(fd, all.data(), all.size() * sizeof(int), 0),
            static_cast<ssize_t>(sizeof(int)) * (kVictim * kInts + kInts / 2));
  close(fd);
  for (int i = 0; i < kVictim * kInts + kInts / 2; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
}

}  // namespace
