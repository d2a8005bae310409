// Handles as numbers, and the error handlers of objects that programs seldom have.

#include <gtest/gtest.h>

#include "mpi.h"

namespace {

TEST(MpiHandles, PredefinedOnesHaveTheirNumbersOfTheAbi) {
  EXPECT_EQ(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
  EXPECT_EQ(MPI_Comm_fromint(0x102), MPI_COMM_SELF);
  EXPECT_EQ(MPI_Group_toint(MPI_GROUP_EMPTY), 0x109);
  EXPECT_EQ(MPI_Group_fromint(0x108), MPI_GROUP_NULL);
  EXPECT_EQ(MPI_File_toint(MPI_FILE_NULL), 0x118);
  EXPECT_EQ(MPI_File_fromint(0x118), MPI_FILE_NULL);
  EXPECT_EQ(MPI_Win_toint(MPI_WIN_NULL), 0x110);
  EXPECT_EQ(MPI_Win_fromint(0x110), MPI_WIN_NULL);
  EXPECT_EQ(MPI_Session_toint(MPI_SESSION_NULL), 0x120);
  EXPECT_EQ(MPI_Session_fromint(0x120), MPI_SESSION_NULL);
  EXPECT_EQ(MPI_Message_toint(MPI_MESSAGE_NO_PROC), 0x129);
  EXPECT_EQ(MPI_Message_fromint(0x128), MPI_MESSAGE_NULL);
  EXPECT_EQ(MPI_Request_toint(MPI_REQUEST_NULL), 0x180);
  EXPECT_EQ(MPI_Request_fromint(0x180), MPI_REQUEST_NULL);
  EXPECT_EQ(MPI_Type_toint(MPI_INTEGER), 0x219);
  EXPECT_EQ(MPI_Type_fromint(0x219), MPI_INTEGER);
}

TEST(MpiHandles, ThoseOfTheProgramComeBack) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int value = 0;
  ASSERT_EQ(MPI_Comm_dup(MPI_COMM_SELF, &comm), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_group(comm, &group), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_dup(MPI_INT, &type), MPI_SUCCESS);
  ASSERT_EQ(MPI_Isend(&value, 1, MPI_INT, 0, 0, comm, &request), MPI_SUCCESS);
  ASSERT_EQ(MPI_Mprobe(0, 0, comm, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
  const int numbers[] = {MPI_Comm_toint(comm), MPI_Group_toint(group), MPI_Type_toint(type),
                         MPI_Request_toint(request), MPI_Message_toint(message)};
  for (const int number : numbers) EXPECT_FALSE(number >= 0 && number < 0x1000) << number;
  EXPECT_EQ(MPI_Comm_fromint(numbers[0]), comm);
  EXPECT_EQ(MPI_Group_fromint(numbers[1]), group);
  EXPECT_EQ(MPI_Type_fromint(numbers[2]), type);
  EXPECT_EQ(MPI_Request_fromint(numbers[3]), request);
  EXPECT_EQ(MPI_Message_fromint(numbers[4]), message);
  EXPECT_EQ(MPI_Comm_toint(comm), numbers[0]);  // the same number every time
  EXPECT_EQ(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
  EXPECT_EQ(MPI_Group_free(&group), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
}

int handled = 0;
void of_window(MPI_Win* /*win*/, int* code, ...) { handled = *code; }
void of_session(MPI_Session* /*session*/, int* code, ...) { handled = *code; }
void of_file(MPI_File* file, int* code, ...) {
  EXPECT_EQ(*file, MPI_FILE_NULL);
  handled = *code;
}

// There are no windows and sessions yet, so their calls find no object.
TEST(MpiHandles, ErrorHandlersOfOtherObjects) {
  MPI_Errhandler window = MPI_ERRHANDLER_NULL;
  MPI_Errhandler session = MPI_ERRHANDLER_NULL;
  MPI_Errhandler file = MPI_ERRHANDLER_NULL;
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  ASSERT_EQ(MPI_Win_create_errhandler(of_window, &window), MPI_SUCCESS);
  ASSERT_EQ(MPI_Session_create_errhandler(of_session, &session), MPI_SUCCESS);
  ASSERT_EQ(MPI_File_create_errhandler(of_file, &file), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_set_errhandler(MPI_COMM_SELF, window), MPI_ERR_ERRHANDLER);
  EXPECT_EQ(MPI_Win_set_errhandler(MPI_WIN_NULL, window), MPI_ERR_WIN);
  EXPECT_EQ(MPI_Win_get_errhandler(MPI_WIN_NULL, &found), MPI_ERR_WIN);
  EXPECT_EQ(MPI_Win_call_errhandler(MPI_WIN_NULL, MPI_ERR_OTHER), MPI_ERR_WIN);
  EXPECT_EQ(MPI_Session_set_errhandler(MPI_SESSION_NULL, session), MPI_ERR_SESSION);
  EXPECT_EQ(MPI_Session_get_errhandler(MPI_SESSION_NULL, &found), MPI_ERR_SESSION);
  EXPECT_EQ(MPI_Session_call_errhandler(MPI_SESSION_NULL, MPI_ERR_OTHER), MPI_ERR_SESSION);
  ASSERT_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, file), MPI_SUCCESS);
  handled = 0;
  EXPECT_EQ(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS);
  EXPECT_EQ(handled, MPI_ERR_IO);
  EXPECT_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), MPI_SUCCESS);
  for (MPI_Errhandler* const handler : {&window, &session, &file})
    EXPECT_EQ(MPI_Errhandler_free(handler), MPI_SUCCESS);
}

}  // namespace
