// MPI_T: the library has no variables, events or categories, and says so.

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

TEST_F(MpiToolOpen, HasNothing) {
  for (const auto count : {MPI_T_cvar_get_num, MPI_T_pvar_get_num, MPI_T_source_get_num, MPI_T_event_get_num,
                           MPI_T_category_get_num, MPI_T_category_changed}) {
    number = -1;
    EXPECT_EQ(count(&number), MPI_SUCCESS);
    EXPECT_EQ(number, 0);
    EXPECT_EQ(count(nullptr), MPI_T_ERR_INVALID);
  }
}

TEST_F(MpiToolOpen, KnowsNoIndex) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  MPI_T_cvar_handle variable = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_event_registration event = nullptr;
  MPI_T_source_order order = MPI_T_SOURCE_ORDERED;
  MPI_Count ticks = 0;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Aint place = 0;
  EXPECT_EQ(
      MPI_T_cvar_get_info(0, name.data(), &length, &number, &type, &values, nullptr, nullptr, &other, &other),
      MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(MPI_T_pvar_get_info(0, name.data(), &length, &number, &other, &type, &values, nullptr, nullptr,
                                &other, &other, &other, &other),
            MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(MPI_T_cvar_handle_alloc(0, nullptr, &variable, &number), MPI_T_ERR_INVALID_INDEX);
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

TEST_F(MpiToolOpen, KnowsNoName) {
  EXPECT_EQ(MPI_T_cvar_get_index("a", &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_EQ(MPI_T_pvar_get_index("a", MPI_T_PVAR_CLASS_COUNTER, &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_EQ(MPI_T_event_get_index("a", &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_EQ(MPI_T_category_get_index("a", &number), MPI_T_ERR_INVALID_NAME);
}

TEST_F(MpiToolOpen, HasSessionsWithoutHandles) {
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_session second = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  ASSERT_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  ASSERT_EQ(MPI_T_pvar_session_create(&second), MPI_SUCCESS);
  EXPECT_NE(session, second);
  EXPECT_EQ(MPI_T_pvar_handle_alloc(session, 0, nullptr, &handle, &number), MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(MPI_T_pvar_handle_free(session, &handle), MPI_T_ERR_INVALID_HANDLE);
  for (const auto change : {MPI_T_pvar_start, MPI_T_pvar_stop, MPI_T_pvar_reset}) {
    EXPECT_EQ(change(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    EXPECT_EQ(change(session, handle), MPI_T_ERR_INVALID_HANDLE);
  }
  EXPECT_EQ(MPI_T_pvar_read(session, handle, &number), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_pvar_write(session, handle, &number), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_EQ(MPI_T_pvar_readreset(session, handle, &number), MPI_T_ERR_INVALID_HANDLE);
  const MPI_T_pvar_session freed = session;
  EXPECT_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  EXPECT_EQ(session, MPI_T_PVAR_SESSION_NULL);
  EXPECT_EQ(MPI_T_pvar_start(freed, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
  EXPECT_EQ(MPI_T_pvar_session_free(&session), MPI_T_ERR_INVALID_SESSION);
  EXPECT_EQ(MPI_T_pvar_session_free(&second), MPI_SUCCESS);
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
