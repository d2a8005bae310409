#include "rmarun/hosts/agents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "../scratch_directory.hpp"

// Texts about remote shells that have failed, by the files of their wrapper.

namespace {

using rmarun::agents_text;
using rmarun::failed_agents_text;
using testing::HasSubstr;
using testing::Not;

class Agents : public testing::Test {
 protected:
  /// Writes the wrapper's files about a host: the state of its remote shell, and the shell's words.
  void write(const std::string& host, const std::string& state, const std::string& words) const {
    std::ofstream(directory_ + "/status." + host) << state;
    std::ofstream(directory_ + "/agent." + host) << words;
  }
  [[nodiscard]] std::string text() const { return agents_text(directory_, {"a", "b"}); }

  ScratchDirectory scratch_;
  const std::string directory_ = scratch_.path().string();
};

constexpr const char* kMissingHere = "host a: this machine does not have the remote shell\n";

TEST_F(Agents, MissingHereBeforeAndAfterTheExitCodeIsWritten) {
  const std::string words = directory_ + "/agent: 16: no-such-shell: not found\n";
  for (const char* state : {"waits\n", "", "127\n"}) {
    write("a", state, words);
    EXPECT_THAT(text(), HasSubstr(kMissingHere)) << state;
  }
}

TEST_F(Agents, MissingHereWithALongName) {
  write("a", "127\n", directory_ + "/agent: 16: /" + std::string(300, 'n') + ": not found\n");
  EXPECT_THAT(text(), HasSubstr(kMissingHere));
}

TEST_F(Agents, MissingHereByTheExitCodeIfTheShellWordsItOtherwise) {
  write("a", "127\n", directory_ + "/agent: line 16: /no/such/shell: No such file or directory\n");
  EXPECT_THAT(text(), HasSubstr(kMissingHere));
}

TEST_F(Agents, WordsOfTheHostAreNotTheWrappers) {
  write("a", "127\n", "sh: 1: orted: not found\n");
  EXPECT_THAT(text(), HasSubstr("host a: the engine's daemon is not there"));
  write("a", "255\n", directory_ + "/agent: 16: shell: Permission denied\n");
  EXPECT_THAT(text(), HasSubstr("host a: the remote shell has failed\n"));
}

TEST_F(Agents, AWrapperBetweenTwoStatesWaits) {
  write("a", "", "password: ");
  write("b", "255\n", "Permission denied\n");
  EXPECT_EQ(text(),
            "\n  host a: the remote shell has not come back\n    password: "
            "\n  host b: the remote shell has failed\n    Permission denied");
  EXPECT_THAT(failed_agents_text(directory_, {"a", "b"}), Not(HasSubstr("host a")));
}

TEST_F(Agents, SilentShellsAreNamedIfThereIsNoOther) {
  write("a", "waits\n", "");
  EXPECT_EQ(text(), "\n  host a: the remote shell has not come back");
  write("b", "255\n", "Permission denied\n");
  EXPECT_THAT(text(), Not(HasSubstr("host a")));
}

}  // namespace
