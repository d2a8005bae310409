#include "rmarun/hosts/engine_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "rmarun/hosts/remote_ranks.hpp"

// What rmarun understands of an engine's text, and its verdicts on ranks that the engine has ended.

namespace {

using rmarun::EngineText;
using rmarun::RemoteRanks;
using testing::ElementsAre;
using testing::IsEmpty;

/// Returns the sentences of a text as "KIND HOST RANK SIGNAL".
std::vector<std::string> understood(const std::string& text) {
  EngineText engine;
  auto sentences = engine.take(text);
  for (const auto& last : engine.end()) sentences.push_back(last);
  std::vector<std::string> shown;
  for (const auto& [kind, host, rank, signal] : sentences) {
    shown.push_back(std::to_string(static_cast<int>(kind)) + " " + host + " " + std::to_string(rank) + " " +
                    std::to_string(signal));
  }
  return shown;
}

const std::string kLost =
    "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[1,0],0] on node head\n"
    "  Remote daemon: [[1,0],1] on node a.x.org\n\nThis is usually due to";
const std::string kGone =
    "mpirun.openmpi has exited due to process rank 1 with PID 7365 on\nnode b exiting improperly. There "
    "are\n";
const std::string kCode =
    "Primary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction,\n";

TEST(EngineTexts, AreUnderstood) {
  EXPECT_THAT(understood(kLost), ElementsAre("0 a.x.org -1 0"));
  EXPECT_THAT(understood("process rank 3 with PID 7 on\nnode b exited on signal 9 (Killed)."),
              ElementsAre("1  3 9"));
  EXPECT_THAT(understood(kGone), ElementsAre("2  1 0"));
  EXPECT_THAT(understood(kCode), ElementsAre("3  -1 0"));
  EXPECT_THAT(understood("Sorry! the topic\n    normal-termination-but\nfrom the file"),
              ElementsAre("3  -1 0"));
  for (const char* const text :
       {"", "\n\n", "process rank x exiting improperly", "process rank 1 with PID 2 on",
        "process rank 1 exited on signal 99", "Remote daemon: x on node b"})
    EXPECT_THAT(understood(text), IsEmpty()) << text;
}

TEST(EngineTexts, KeepTheirLastLines) {
  EngineText engine;
  engine.take("-----\none \x1b[31m\n");
  engine.take("t");
  engine.take("wo");
  EXPECT_THAT(engine.last_lines(), ElementsAre("one  [31m"));
  engine.end();
  EXPECT_THAT(engine.last_lines(), ElementsAre("one  [31m", "two"));
  for (int i = 0; i < 100; ++i) engine.take("line\n");
  EXPECT_EQ(engine.last_lines().size(), 40U);
}

/// Ranks 0 and 1 on the hosts a and b have started. The engine says of codes that they are.
class EngineVerdict : public testing::Test {
 protected:
  EngineVerdict() {
    ranks_.expect_words_on_codes();
    ranks_.take(0, "start 70 a");
    ranks_.take(1, "start 71 b");
  }
  RemoteRanks ranks_{{"a", "b"}};
};

TEST_F(EngineVerdict, ACodeIsTheRanksOwnIfTheEngineSaysSo) {
  ranks_.take(1, "exit 7 0 0");
  EXPECT_TRUE(ranks_.failed());
  EXPECT_TRUE(ranks_.lacks_words());
  ranks_.take_engine_text(kCode);
  EXPECT_FALSE(ranks_.lacks_words());
  ranks_.take(0, "signal 15 0 1 0");
  ranks_.note_engine_end();
  EXPECT_EQ(ranks_.cause().why, "rank 1 (pid 71 on b) exited with code 7; ending the job");
  EXPECT_EQ(ranks_.cause().exit_code, 7);
}

TEST_F(EngineVerdict, ACodeIsOfAnAbortIfTheEngineSaysNothing) {
  ranks_.take(1, "exit 7 0 0");
  EXPECT_EQ(ranks_.cause().why, "rank 1 (pid 71 on b) exited with code 7; ending the job");  // so far
  ranks_.take(0, "signal 15 0 1 0");
  ranks_.note_engine_end();
  EXPECT_EQ(ranks_.cause().why, "rank 1 aborted the job with exit code 7");
  EXPECT_EQ(ranks_.cause().exit_code, 7);
}

TEST_F(EngineVerdict, ARankThatHasGoneComesBeforeThoseThatMissIt) {
  ranks_.take(1, "exit 0 0 0");
  ranks_.take(0, "exit 1 0 0");
  ranks_.take_engine_text(kGone);
  ranks_.note_engine_end();
  EXPECT_EQ(ranks_.cause().why,
            "rank 1 (pid 71 on b) exited with code 0 without leaving the job it had joined (rma_finalize, "
            "PMIx_Finalize) while others run; ending the job");
  EXPECT_EQ(ranks_.cause().exit_code, 1);
}

TEST_F(EngineVerdict, ARankThatHasGoneHadNotJoinedIfAnotherWaitsForThat) {
  ranks_.take(1, "exit 0 0 0");
  ranks_.take(0, "signal 15 0 1 1");
  ranks_.take_engine_text(kGone);
  const auto verdict = ranks_.cause_with_code_0();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->why,
            "rank 1 exited with code 0 without joining the job that rank 0 has joined; ending the job");
}

TEST_F(EngineVerdict, AnAbortWithCode0IsNoFailure) {
  ranks_.take(1, "exit 0 0 0");
  EXPECT_FALSE(ranks_.cause_with_code_0());
  ranks_.take(0, "signal 15 0 1 0");
  ASSERT_TRUE(ranks_.cause_with_code_0());
  EXPECT_EQ(ranks_.cause_with_code_0()->why, "");
  EXPECT_EQ(ranks_.cause_with_code_0()->exit_code, 0);
  ranks_.take_engine_text("something else\n");
  EXPECT_FALSE(ranks_.cause_with_code_0());
}

}  // namespace
