#include "util/process_identity.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rma {
namespace {

TEST(ProcessIdentity, StaysTheSameWhateverTheProgramIsCalled) {
  auto before = identify(getpid());
  ASSERT_TRUE(before.ok()) << before.status().text();
  EXPECT_EQ(before->process, getpid());
  EXPECT_GT(before->started, 0U);
  for (const char* const name : {") 1 2 (", "a b) S 1", "()"}) {
    ASSERT_EQ(prctl(PR_SET_NAME, name), 0);
    const auto now = identify(getpid());
    ASSERT_TRUE(now.ok()) << now.status().text();
    EXPECT_EQ(now.value(), before.value()) << name;
  }
}

TEST(ProcessIdentity, NobodyHasTheNumberOfAProcessThatEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_GT(child, 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(identify(child).status().code(), RMA_ERR_PEER_LOST);
}

}  // namespace
}  // namespace rma
