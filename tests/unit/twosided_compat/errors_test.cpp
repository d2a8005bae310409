// Error classes, codes, strings and handlers.

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mpi.h"

namespace {

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = -1;
  EXPECT_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS) << code;
  EXPECT_EQ(static_cast<std::size_t>(length), std::string(text).size());
  return text;
}

TEST(MpiErrors, EveryClassHasATextOfItsOwn) {
  std::set<std::string> texts;
  std::vector<int> classes;
  for (int value = 0; value <= MPI_ERR_ABI; ++value) classes.push_back(value);
  for (int value = MPI_T_ERR_CANNOT_INIT; value <= MPI_T_ERR_PVAR_NO_ATOMIC; ++value)
    classes.push_back(value);
  for (const int value : classes) {
    int found = -1;
    EXPECT_EQ(MPI_Error_class(value, &found), MPI_SUCCESS);
    EXPECT_EQ(found, value);
    const std::string text = text_of(value);
    EXPECT_EQ(text.rfind("MPI_", 0), 0U) << text;
    EXPECT_TRUE(texts.insert(text).second) << text;
  }
  EXPECT_EQ(text_of(MPI_ERR_RANK).rfind("MPI_ERR_RANK: ", 0), 0U);
  int found = 0;
  EXPECT_EQ(MPI_Error_class(63, &found), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Error_class(-1, &found), MPI_ERR_ARG);
}

TEST(MpiErrors, ClassesAndCodesOfTheProgram) {
  int added_class = 0;
  int code = 0;
  ASSERT_EQ(MPI_Add_error_class(&added_class), MPI_SUCCESS);
  ASSERT_EQ(MPI_Add_error_code(added_class, &code), MPI_SUCCESS);
  EXPECT_GT(added_class, MPI_ERR_LASTCODE);
  EXPECT_GT(code, added_class);
  EXPECT_EQ(text_of(code), "");
  EXPECT_EQ(MPI_Add_error_string(code, "the dog ate it"), MPI_SUCCESS);
  EXPECT_EQ(text_of(code), "the dog ate it");
  int found = 0;
  EXPECT_EQ(MPI_Error_class(code, &found), MPI_SUCCESS);
  EXPECT_EQ(found, added_class);
  int other = 0;
  EXPECT_EQ(MPI_Add_error_code(code, &other), MPI_ERR_ARG);  // a code is no class
  EXPECT_EQ(MPI_Add_error_string(MPI_ERR_RANK, "mine"), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Remove_error_class(added_class), MPI_ERR_ARG);  // it has a code
  EXPECT_EQ(MPI_Remove_error_code(code), MPI_ERR_ARG);          // it has a string
  EXPECT_EQ(MPI_Remove_error_string(code), MPI_SUCCESS);
  EXPECT_EQ(MPI_Remove_error_string(code), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Remove_error_code(code), MPI_SUCCESS);
  EXPECT_EQ(MPI_Remove_error_class(added_class), MPI_SUCCESS);
  EXPECT_EQ(MPI_Error_class(code, &found), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Remove_error_code(MPI_ERR_RANK), MPI_ERR_ARG);
}

int handled_code = 0;
MPI_Comm handled_comm = MPI_COMM_NULL;

void remember(MPI_Comm* comm, int* code, ...) {
  handled_comm = *comm;
  handled_code = *code;
}
void remember_file(MPI_File* file, int* code, ...) {
  EXPECT_EQ(*file, MPI_FILE_NULL);
  handled_code = *code;
}

TEST(MpiErrorHandlers, HandlersOfTheProgram) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  ASSERT_EQ(MPI_Comm_create_errhandler(remember, &handler), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler), MPI_SUCCESS);
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  ASSERT_EQ(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found), MPI_SUCCESS);
  EXPECT_EQ(found, handler);
  EXPECT_EQ(MPI_Errhandler_fromint(MPI_Errhandler_toint(handler)), handler);
  EXPECT_EQ(MPI_Errhandler_free(&found), MPI_SUCCESS);
  EXPECT_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS);  // the communicator keeps it
  EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);

  EXPECT_EQ(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER), MPI_SUCCESS);
  EXPECT_EQ(handled_comm, MPI_COMM_WORLD);
  EXPECT_EQ(handled_code, MPI_ERR_OTHER);
  EXPECT_EQ(MPI_Comm_call_errhandler(MPI_COMM_WORLD, 77), MPI_ERR_ARG);  // raised there as well
  EXPECT_EQ(handled_code, MPI_ERR_ARG);
  EXPECT_EQ(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), MPI_SUCCESS);
}

TEST(MpiErrorHandlers, OfFiles) {
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  ASSERT_EQ(MPI_File_get_errhandler(MPI_FILE_NULL, &found), MPI_SUCCESS);
  EXPECT_EQ(found, MPI_ERRORS_RETURN);
  EXPECT_EQ(MPI_Errhandler_free(&found), MPI_SUCCESS);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  ASSERT_EQ(MPI_File_create_errhandler(remember_file, &handler), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler), MPI_ERR_ERRHANDLER);
  ASSERT_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, handler), MPI_SUCCESS);
  EXPECT_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS);
  handled_code = 0;
  const int code = MPI_File_delete("none", MPI_INFO_NULL);
  int error_class = MPI_SUCCESS;
  ASSERT_EQ(MPI_Error_class(code, &error_class), MPI_SUCCESS);
  EXPECT_EQ(error_class, MPI_ERR_NO_SUCH_FILE);
  EXPECT_EQ(handled_code, code);
  EXPECT_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), MPI_SUCCESS);
}

TEST(MpiErrorHandlers, WrongHandles) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  EXPECT_EQ(MPI_Errhandler_free(&handler), MPI_ERR_ERRHANDLER);
  EXPECT_EQ(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN), MPI_ERR_COMM);
  EXPECT_EQ(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
  EXPECT_EQ(MPI_Win_set_errhandler(MPI_WIN_NULL, MPI_ERRORS_RETURN), MPI_ERR_WIN);
  EXPECT_EQ(MPI_Comm_create_errhandler(nullptr, &handler), MPI_ERR_ARG);
}

TEST(MpiErrors, PortsNeedTheLauncher) {
  MPI_Comm joined = MPI_COMM_NULL;
  std::array<char, MPI_MAX_PORT_NAME> port = {};
  EXPECT_EQ(MPI_Open_port(MPI_INFO_NULL, port.data()), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(MPI_Comm_accept("none", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &joined), MPI_ERR_PORT);
}

void ignore(MPI_Comm* /*comm*/, int* /*code*/, ...) {}

// Threads that attach, ask for and use handlers of one communicator do not disturb each other.
TEST(MpiErrorHandlers, Threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 500; ++round) {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        MPI_Comm_create_errhandler(ignore, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
        MPI_Errhandler_toint(handler);
        MPI_Errhandler_free(&handler);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), MPI_SUCCESS);
}

}  // namespace
