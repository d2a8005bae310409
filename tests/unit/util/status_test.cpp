#include "util/status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace librma {
namespace {

TEST(Status, SuccessHasNoText) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), RMA_SUCCESS);
  EXPECT_EQ(status.text(), "");
  EXPECT_TRUE(Status().within("here").ok());
}

TEST(Status, AFailureKeepsItsCodeAndGathersContext) {
  Status status(RMA_ERR_SIZE, "too long");
  EXPECT_FALSE(status.ok());
  const Status outer = std::move(status).within("part 2").within("rma_put");
  EXPECT_EQ(outer.code(), RMA_ERR_SIZE);
  EXPECT_EQ(outer.text(), "rma_put: part 2: too long");
}

TEST(Status, ASystemFailureSaysWhatTheSystemSaid) {
  const Status status = system_failure(RMA_ERR_SYSTEM, "open /x", ENOENT);
  EXPECT_EQ(status.code(), RMA_ERR_SYSTEM);
  EXPECT_EQ(status.text(), "open /x: No such file or directory (errno 2)");
}

TEST(Result, HoldsAValueThatCanBeMovedOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result.status().ok());
  EXPECT_EQ(*result.value(), 7);
  EXPECT_EQ(*result->get(), 7);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

TEST(Result, HoldsAFailureInItsPlace) {
  Result<std::string> result(Status(RMA_ERR_NO_MEMORY, "full"));
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), RMA_ERR_NO_MEMORY);
  const Status status = std::move(result).status();
  EXPECT_EQ(status.text(), "full");
}

}  // namespace
}  // namespace librma
