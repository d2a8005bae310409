// MPI_T: its errors, in a process that is in no job, and that there are no events or categories.
// tests/mpi/tool.cpp has the variables of a job.

#include <gtest/gtest.h>

#include <array>

#include "mpi.h"

namespace {

/// Every call fails before MPI_T_init_thread and after the last MPI_T_finalize.
TEST(MpiTool, IsInitializedByCount) {
  int number = -1;
  int provided = -1;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  EXPECT_EQ(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  EXPECT_EQ(MPI_T_category_changed(&number), MPI_T_ERR_NOT_INITIALIZED);
  EXPECT_EQ(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
  EXPECT_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  ASSERT_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  EXPECT_EQ(provided, MPI_THREAD_SINGLE);
  ASSERT_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_finalize(), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_pvar_get_num(&number), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_finalize(), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
}

class MpiToolOpen : public testing::Test {
 protected:
  void SetUp() override {
    int provided = -1;
    ASSERT_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  }
  void TearDown() override { ASSERT_EQ(MPI_T_finalize(), MPI_SUCCESS); }

  int number = -1;
  int other = -1;
  std::array<char, 8> name = {};
  int length = 8;
  std::array<int, 2> indices = {};
};

TEST_F(MpiToolOpen, CountsWhatThereIs) {
  for (const auto count :
       {MPI_T_source_get_num, MPI_T_event_get_num, MPI_T_category_get_num, MPI_T_category_changed}) {
    number = -1;
    EXPECT_EQ(count(&number), MPI_SUCCESS);
    EXPECT_EQ(number, 0);
    EXPECT_EQ(count(nullptr), MPI_T_ERR_INVALID);
  }
  for (const auto count : {MPI_T_cvar_get_num, MPI_T_pvar_get_num}) {
    number = -1;
    EXPECT_EQ(count(&number), MPI_SUCCESS);
    EXPECT_GT(number, 0);
    EXPECT_EQ(count(nullptr), MPI_T_ERR_INVALID);
  }
}

/// A buffer that is too short gets the beginning, and the length becomes that of the whole text with the
/// null.
TEST_F(MpiToolOpen, CutsTextsShort) {
  int index = -1;
  ASSERT_EQ(MPI_T_pvar_get_index("put_bytes", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
  const auto ask = [&](char* buffer, int* bytes) {
    return MPI_T_pvar_get_info(index, buffer, bytes, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr, nullptr, nullptr);
  };
  name.fill('x');
  length = 4;
  EXPECT_EQ(ask(name.data(), &length), MPI_SUCCESS);
  EXPECT_STREQ(name.data(), "put");
  EXPECT_EQ(name[4], 'x');
  EXPECT_EQ(length, 10);
  for (const int least : {0, -1}) {
    name.fill('x');
    length = least;
    EXPECT_EQ(ask(name.data(), &length), MPI_SUCCESS);
    EXPECT_EQ(name[0], 'x');
    EXPECT_EQ(length, 10);
  }
  length = 8;
  EXPECT_EQ(ask(nullptr, &length), MPI_SUCCESS);
  EXPECT_EQ(length, 10);
  EXPECT_EQ(ask(name.data(), nullptr), MPI_SUCCESS);
  EXPECT_EQ(name[0], 'x');
  length = 1;
  EXPECT_EQ(ask(name.data(), &length), MPI_SUCCESS);
  EXPECT_STREQ(name.data(), "");
}

TEST_F(MpiToolOpen, RefusesWrongIndices) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  MPI_T_cvar_handle variable = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_event_registration event = nullptr;
  MPI_T_source_order order = MPI_T_SOURCE_ORDERED;
  MPI_Count ticks = 0;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Aint place = 0;
  int settings = 0;
  int counters = 0;
  ASSERT_EQ(MPI_T_cvar_get_num(&settings), MPI_SUCCESS);
  ASSERT_EQ(MPI_T_pvar_get_num(&counters), MPI_SUCCESS);
  for (const int index : {-1, settings}) {
    EXPECT_EQ(MPI_T_cvar_get_info(index, name.data(), &length, &number, &type, &values, nullptr, nullptr,
                                  &other, &other),
              MPI_T_ERR_INVALID_INDEX);
    EXPECT_EQ(MPI_T_cvar_handle_alloc(index, nullptr, &variable, &number), MPI_T_ERR_INVALID_INDEX);
  }
  for (const int index : {-1, counters}) {
    EXPECT_EQ(MPI_T_pvar_get_info(index, name.data(), &length, &number, &other, &type, &values, nullptr,
                                  nullptr, &other, &other, &other, &other),
              MPI_T_ERR_INVALID_INDEX);
  }
  EXPECT_EQ(MPI_T_source_get_info(0, name.data(), &length, nullptr, nullptr, &order, &ticks, &ticks, &info),
            MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(MPI_T_source_get_timestamp(0, &ticks), MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(MPI_T_event_get_info(0, name.data(), &length, &number, &type, &place, &other, &values, &info,
                                 nullptr, nullptr, &other),
            MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(MPI_T_event_handle_alloc(0, nullptr, MPI_INFO_NULL, &event), MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(MPI_T_category_get_info(0, name.data(), &length, nullptr, nullptr, &number, &number, &number),
            MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(MPI_T_category_get_num_events(0, &number), MPI_T_ERR_INVALID_INDEX);
  for (const auto list : {MPI_T_category_get_cvars, MPI_T_category_get_pvars, MPI_T_category_get_events,
                          MPI_T_category_get_categories}) {
    EXPECT_EQ(list(0, 2, indices.data()), MPI_T_ERR_INVALID_INDEX);
  }
}

TEST_F(MpiToolOpen, RefusesWrongNames) {
  EXPECT_EQ(MPI_T_cvar_get_index("a", &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_EQ(MPI_T_pvar_get_index("a", MPI_T_PVAR_CLASS_COUNTER, &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_EQ(MPI_T_pvar_get_index("put_bytes", MPI_T_PVAR_CLASS_TIMER, &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_EQ(MPI_T_event_get_index("a", &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_EQ(MPI_T_category_get_index("a", &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_EQ(MPI_T_cvar_get_index(nullptr, &number), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_cvar_get_index("RMA_EAGER", nullptr), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_pvar_get_index(nullptr, MPI_T_PVAR_CLASS_COUNTER, &number), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_pvar_get_index("put_bytes", MPI_T_PVAR_CLASS_COUNTER, nullptr), MPI_T_ERR_INVALID);
}

TEST_F(MpiToolOpen, RefusesWrongSessionsAndHandles) {
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_session second = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_handle made = MPI_T_PVAR_HANDLE_NULL;
  unsigned long long value = 5;
  EXPECT_EQ(MPI_T_pvar_session_create(nullptr), MPI_T_ERR_INVALID);
  ASSERT_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  ASSERT_EQ(MPI_T_pvar_session_create(&second), MPI_SUCCESS);
  EXPECT_NE(session, second);
  EXPECT_EQ(MPI_T_pvar_handle_alloc(session, -1, nullptr, &handle, &number), MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(MPI_T_pvar_handle_alloc(session, 0, nullptr, nullptr, &number), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_pvar_handle_alloc(session, 0, nullptr, &handle, nullptr), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_pvar_handle_free(session, nullptr), MPI_T_ERR_INVALID);
  ASSERT_EQ(MPI_T_pvar_handle_alloc(session, 0, nullptr, &made, &number), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_pvar_read(session, made, nullptr), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_pvar_read(session, made, &value), MPI_SUCCESS);
  // A handle is null, is the session's number, belongs to another session, or was freed.
  EXPECT_EQ(MPI_T_pvar_read(second, made, &value), MPI_T_ERR_INVALID_HANDLE);
  for (auto* const wrong : {handle, MPI_T_PVAR_ALL_HANDLES, reinterpret_cast<MPI_T_pvar_handle>(session)}) {
    EXPECT_EQ(MPI_T_pvar_read(session, wrong, &value), MPI_T_ERR_INVALID_HANDLE);
    EXPECT_EQ(MPI_T_pvar_write(session, wrong, &value), MPI_T_ERR_INVALID_HANDLE);
    EXPECT_EQ(MPI_T_pvar_readreset(session, wrong, &value), MPI_T_ERR_INVALID_HANDLE);
    handle = wrong;
    EXPECT_EQ(MPI_T_pvar_handle_free(session, &handle), MPI_T_ERR_INVALID_HANDLE);
  }
  for (const auto change : {MPI_T_pvar_start, MPI_T_pvar_stop, MPI_T_pvar_reset}) {
    EXPECT_EQ(change(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    EXPECT_EQ(change(session, MPI_T_PVAR_HANDLE_NULL), MPI_T_ERR_INVALID_HANDLE);
    EXPECT_EQ(change(MPI_T_PVAR_SESSION_NULL, made), MPI_T_ERR_INVALID_SESSION);
  }
  handle = made;
  EXPECT_EQ(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
  EXPECT_EQ(handle, MPI_T_PVAR_HANDLE_NULL);
  EXPECT_EQ(MPI_T_pvar_read(session, made, &value), MPI_T_ERR_INVALID_HANDLE);
  // A session takes its handles with it.
  ASSERT_EQ(MPI_T_pvar_handle_alloc(session, 0, nullptr, &made, &number), MPI_SUCCESS);
  auto* const freed = session;
  EXPECT_EQ(MPI_T_pvar_session_free(nullptr), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  EXPECT_EQ(session, MPI_T_PVAR_SESSION_NULL);
  EXPECT_EQ(MPI_T_pvar_start(freed, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
  EXPECT_EQ(MPI_T_pvar_read(freed, made, &value), MPI_T_ERR_INVALID_SESSION);
  EXPECT_EQ(MPI_T_pvar_read(second, made, &value), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_pvar_session_free(&session), MPI_T_ERR_INVALID_SESSION);
  EXPECT_EQ(MPI_T_pvar_session_free(&second), MPI_SUCCESS);
}

/// The last MPI_T_finalize ends all handles, and later ones get other numbers.
TEST_F(MpiToolOpen, EndsHandlesWithTheInterface) {
  int provided = -1;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle counter = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_cvar_handle setting = MPI_T_CVAR_HANDLE_NULL;
  unsigned long long value = 0;
  std::array<char, 100> buffer = {};
  ASSERT_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  ASSERT_EQ(MPI_T_pvar_handle_alloc(session, 0, nullptr, &counter, &number), MPI_SUCCESS);
  ASSERT_EQ(MPI_T_cvar_handle_alloc(0, nullptr, &setting, &number), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_cvar_read(setting, nullptr), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_cvar_handle_alloc(0, nullptr, nullptr, &number), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_cvar_handle_alloc(0, nullptr, &setting, nullptr), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_cvar_handle_free(nullptr), MPI_T_ERR_INVALID);
  EXPECT_EQ(MPI_T_cvar_read(setting, buffer.data()), MPI_SUCCESS);
  ASSERT_EQ(MPI_T_finalize(), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_cvar_read(setting, buffer.data()), MPI_T_ERR_NOT_INITIALIZED);
  EXPECT_EQ(MPI_T_pvar_read(session, counter, &value), MPI_T_ERR_NOT_INITIALIZED);
  EXPECT_EQ(MPI_T_cvar_get_index("RMA_EAGER", &number), MPI_T_ERR_NOT_INITIALIZED);
  EXPECT_EQ(MPI_T_pvar_get_info(0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                nullptr, nullptr, nullptr, nullptr),
            MPI_T_ERR_NOT_INITIALIZED);
  ASSERT_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_cvar_read(setting, buffer.data()), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_pvar_read(session, counter, &value), MPI_T_ERR_INVALID_SESSION);
}

TEST_F(MpiToolOpen, KnowsNoHandle) {
  MPI_T_cvar_handle variable = MPI_T_CVAR_HANDLE_NULL;
  MPI_Count ticks = 0;
  MPI_Info info = MPI_INFO_NULL;
  EXPECT_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, name.data(), &length), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &number, name.data(), &length), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_cvar_read(variable, &number), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_cvar_write(variable, &number), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_cvar_handle_free(&variable), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_handle_set_info(nullptr, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_handle_get_info(nullptr, &info), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_register_callback(nullptr, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, nullptr, nullptr),
            MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_callback_set_info(nullptr, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL),
            MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_callback_get_info(nullptr, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_handle_free(nullptr, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_set_dropped_handler(nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_read(nullptr, 0, &number), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_copy(nullptr, &number), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_get_timestamp(nullptr, &ticks), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_event_get_source(nullptr, &number), MPI_T_ERR_INVALID_HANDLE);
}

TEST(MpiHardware, NamesTheResourcesOfASplit) {
  MPI_Info info = MPI_INFO_NULL;
  std::array<char, 8> value = {};
  int length = 8;
  int found = 0;
  ASSERT_EQ(MPI_Get_hw_resource_info(&info), MPI_SUCCESS);
  EXPECT_EQ(MPI_Info_get_string(info, "mpi_shared_memory", &length, value.data(), &found), MPI_SUCCESS);
  EXPECT_EQ(found, 1);
  EXPECT_STREQ(value.data(), "true");
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
  EXPECT_EQ(MPI_Get_hw_resource_info(nullptr), MPI_ERR_ARG);
}

}  // namespace
