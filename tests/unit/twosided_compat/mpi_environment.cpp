// The tests of this folder run as an MPI program of one process, in which errors return.

#include <gtest/gtest.h>

#include "mpi.h"

namespace {

class MpiEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    int provided = MPI_THREAD_SINGLE;
    ASSERT_EQ(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    ASSERT_EQ(provided, MPI_THREAD_MULTIPLE);
    ASSERT_EQ(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), MPI_SUCCESS);
    ASSERT_EQ(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), MPI_SUCCESS);
  }
  void TearDown() override {
    int flag = 1;
    ASSERT_EQ(MPI_Finalized(&flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 0);
    ASSERT_EQ(MPI_Finalize(), MPI_SUCCESS);
    ASSERT_EQ(MPI_Finalized(&flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    ASSERT_EQ(MPI_Initialized(&flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
  }
};

[[maybe_unused]] const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new MpiEnvironment);

}  // namespace
