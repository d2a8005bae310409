#include "rmarun/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

using rmarun::NoJob;
using rmarun::Options;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

std::variant<Options, NoJob> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "rmarun");
  return rmarun::parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, HaveDefaults) {
  const auto options = std::get<Options>(parse({"prog"}));
  EXPECT_EQ(options.ranks(), 1);
  EXPECT_EQ(options.bind, rmarun::Bind::kNone);
  EXPECT_FALSE(options.label);
  EXPECT_FALSE(options.timeout_seconds);
  ASSERT_EQ(options.programs.size(), 1U);
  EXPECT_TRUE(options.programs[0].environment.empty());
  EXPECT_EQ(options.programs[0].directory, "");
  EXPECT_THAT(options.programs[0].command, ElementsAre("prog"));
}

TEST(Options, AreAllRead) {
  const auto options = std::get<Options>(parse({"-n", "12", "--env", "A=1", "--env", "B=x=[y,z]", "--bind",
                                                "core", "--label", "--timeout", "2.5", "prog", "arg"}));
  EXPECT_EQ(options.ranks(), 12);
  EXPECT_EQ(options.bind, rmarun::Bind::kCore);
  EXPECT_TRUE(options.label);
  EXPECT_EQ(options.timeout_seconds, 2.5);
  EXPECT_THAT(options.programs[0].environment, ElementsAre(Pair("A", "1"), Pair("B", "x=[y,z]")));
  EXPECT_THAT(options.programs[0].command, ElementsAre("prog", "arg"));
}

TEST(Options, RoomForMoreRanks) {
  EXPECT_EQ(std::get<Options>(parse({"-n", "3", "prog"})).seats(), 3);
  EXPECT_EQ(std::get<Options>(parse({"-n", "3", "--universe", "8", "prog"})).seats(), 8);
  EXPECT_EQ(std::get<Options>(parse({"-usize", "8", "-n", "3", "prog", ":", "-n", "4", "prog"})).seats(), 8);
  EXPECT_EQ(std::get<NoJob>(parse({"-n", "3", "--universe", "2", "prog"})).exit_code, 2);
  EXPECT_EQ(std::get<NoJob>(parse({"--universe", "8", "--hosts", "a:2,b:2", "prog"})).exit_code, 2);
}

TEST(Options, EndAtTheProgram) {
  const auto options =
      std::get<Options>(parse({"-n", "2", "prog", "-n", "3", "--label", "", "[a,b]", "--", "--help"}));
  EXPECT_EQ(options.ranks(), 2);
  EXPECT_FALSE(options.label);
  EXPECT_THAT(options.programs[0].command,
              ElementsAre("prog", "-n", "3", "--label", "", "[a,b]", "--", "--help"));
}

TEST(Options, EndAtTwoDashes) {
  const auto options = std::get<Options>(parse({"-n", "2", "--", "-odd-name", "-n", "3"}));
  EXPECT_EQ(options.ranks(), 2);
  EXPECT_THAT(options.programs[0].command, ElementsAre("-odd-name", "-n", "3"));
}

TEST(Options, EnvironmentTakesOneValueEach) {
  const auto options = std::get<Options>(parse({"--env", "A=", "C=3"}));
  EXPECT_THAT(options.programs[0].environment, ElementsAre(Pair("A", "")));
  EXPECT_THAT(options.programs[0].command, ElementsAre("C=3"));
}

TEST(Options, HelpIsNoError) {
  const auto no_job = std::get<NoJob>(parse({"--help"}));
  EXPECT_EQ(no_job.exit_code, 0);
  EXPECT_THAT(no_job.out, HasSubstr("--bind"));
  EXPECT_EQ(no_job.err, "");
}

class WrongOptions : public testing::TestWithParam<std::vector<const char*>> {};

TEST_P(WrongOptions, AreRefusedWithAText) {
  const auto parsed = parse(GetParam());
  ASSERT_TRUE(std::holds_alternative<NoJob>(parsed));
  const auto& no_job = std::get<NoJob>(parsed);
  EXPECT_EQ(no_job.exit_code, 2);
  EXPECT_EQ(no_job.out, "");
  EXPECT_THAT(no_job.err, StartsWith("rmarun: "));
}

using Words = std::vector<const char*>;
INSTANTIATE_TEST_SUITE_P(All, WrongOptions,
                         testing::Values(Words{}, Words{"--"}, Words{"-n", "0", "prog"},
                                         Words{"-n", "-1", "prog"}, Words{"-n", "x", "prog"},
                                         Words{"-n", "99999999", "prog"}, Words{"-n"},
                                         Words{"--env", "A", "prog"}, Words{"--env", "=1", "prog"},
                                         Words{"--bind", "socket", "prog"}, Words{"--timeout", "0", "prog"},
                                         Words{"--timeout", "soon", "prog"}, Words{"--wrong", "prog"},
                                         Words{"-n", "2", "a", ":", "-n", "0", "b"}, Words{":", "b"},
                                         Words{"a", ":"}, Words{"a", ":", "-n", "2"},
                                         Words{"-n", "65536", "a", ":", "b"}, Words{"-env", "A", "1"},
                                         Words{"--label=yes", "prog"}, Words{"-np"}, Words{"-x"}));

/// Options that others have and rmarun does not: each is refused by its name.
class RefusedOptions : public testing::TestWithParam<std::vector<const char*>> {};

TEST_P(RefusedOptions, AreNamed) {
  auto words = GetParam();
  const std::string first = words.front();
  words.push_back("prog");
  const auto parsed = parse(words);
  ASSERT_TRUE(std::holds_alternative<NoJob>(parsed));
  const auto& no_job = std::get<NoJob>(parsed);
  EXPECT_EQ(no_job.exit_code, 2);
  EXPECT_EQ(no_job.out, "");
  EXPECT_THAT(no_job.err, StartsWith("rmarun: " + first));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedOptions,
    testing::Values(Words{"--mca", "btl", "self"}, Words{"-bind-to", "socket"}, Words{"--map-by", "numa"},
                    Words{"--map-by", "slot:PE=2"}, Words{"-genvnone"}, Words{"-genvlist", "A,B"},
                    Words{"-launcher", "ssh"}, Words{"--rankfile", "f"}, Words{"-path", "/bin"},
                    Words{"-configfile", "f"}, Words{"--report-bindings"}, Words{"-s", "all"},
                    Words{"--stdin", "1"}, Words{"-output-filename", "f"}, Words{"--nooversubscribe"},
                    Words{"-t", "10"}, Words{"--time", "10"}, Words{"--export", "X=1"},
                    Words{"--cpu-bind", "sockets"}, Words{"-m", "plane=2"}, Words{"--mpi", "pmi2"},
                    Words{"-binding", "user:0"}, Words{"-print-all-exitcodes"}, Words{"--timestamp-output"},
                    Words{"--merge-stderr-to-stdout"}, Words{"--display", "map"}, Words{"-localhost", "a"},
                    Words{"--nodes", "2"}, Words{"--exclusive"}, Words{"-p", "long"}, Words{"--mca"},
                    Words{"--map-by", "ppr:2:socket"}, Words{"--map-by", "ppr:2:node:PE=2"},
                    Words{"--map-by", "ppr::node"}));

TEST(Options, OfOthersSayWhatToUseInstead) {
  for (const auto& [option, instead] :
       std::map<const char*, const char*>{{"-t", "--timeout SECONDS"},
                                          {"--export", "--env NAME=VALUE"},
                                          {"--nodes", "--hosts a,b"},
                                          {"--timestamp-output", "| ts"},
                                          {"--merge-stderr-to-stdout", "2>&1"},
                                          {"-binding", "--bind core"},
                                          {"--display", "taskset"},
                                          {"--mca", "--agent COMMAND"},
                                          {"-localhost", "--hosts a:4,b:4"}}) {
    const auto no_job = std::get<NoJob>(parse({option, "x", "prog"}));
    EXPECT_THAT(no_job.err, AllOf(StartsWith(std::string("rmarun: ") + option + ": "), HasSubstr(instead)));
    EXPECT_EQ(no_job.exit_code, 2);
  }
}

/// Command lines as people type them for other launchers, and the ranks that they ask for.
struct Typed {
  std::vector<const char*> words;
  int ranks;
};
class TypedOptions : public testing::TestWithParam<Typed> {};

TEST_P(TypedOptions, AreUnderstood) {
  auto words = GetParam().words;
  words.push_back("prog");
  words.push_back("-n");
  const auto parsed = parse(words);
  ASSERT_TRUE(std::holds_alternative<Options>(parsed)) << std::get<NoJob>(parsed).err;
  const auto& options = std::get<Options>(parsed);
  EXPECT_EQ(options.ranks(), GetParam().ranks);
  EXPECT_THAT(options.programs[0].command, ElementsAre("prog", "-n"));
}

INSTANTIATE_TEST_SUITE_P(
    All, TypedOptions,
    testing::Values(Typed{{"-np", "3"}, 3}, Typed{{"--np", "3"}, 3}, Typed{{"-c", "3"}, 3}, Typed{{"-n3"}, 3},
                    Typed{{"--np=3"}, 3}, Typed{{"-np=3"}, 3}, Typed{{"--n", "3"}, 3},
                    Typed{{"-host", "localhost", "-n", "2"}, 2}, Typed{{"-hosts", "localhost:4"}, 4},
                    Typed{{"-H", "localhost:1,127.0.0.1:2"}, 3}, Typed{{"--host", "localhost,localhost"}, 2},
                    Typed{{"--host=user@localhost:2"}, 2}, Typed{{"--host", "[::1]:2"}, 2},
                    Typed{{"-host", "localhost:2", "-np", "3", "-oversubscribe"}, 3}, Typed{{"-ppn", "2"}, 2},
                    Typed{{"-N", "2"}, 2}, Typed{{"-npernode", "2", "-n", "4"}, 4},
                    Typed{{"--map-by", "ppr:2:node"}, 2}, Typed{{"--map-by", "core"}, 1},
                    Typed{{"-map-by", "slot:OVERSUBSCRIBE"}, 1}, Typed{{"--map-by", ":OVERSUBSCRIBE"}, 1},
                    Typed{{"--bind-to", "none"}, 1}, Typed{{"-bind-to", "core"}, 1},
                    Typed{{"--rank-by", "slot"}, 1}, Typed{{"-bynode"}, 1}, Typed{{"--allow-run-as-root"}, 1},
                    Typed{{"--oversubscribe"}, 1}, Typed{{"-genvall"}, 1}, Typed{{"-stdin", "0"}, 1},
                    Typed{{"-s", "0"}, 1}, Typed{{"-x", "PATH"}, 1}, Typed{{"-q"}, 1},
                    Typed{{"--ntasks=3"}, 3}, Typed{{"--ntasks", "3"}, 3}, Typed{{"--ntasks-per-node=4"}, 4},
                    Typed{{"-w", "localhost:2"}, 2}, Typed{{"--nodelist=localhost:2"}, 2},
                    Typed{{"--pernode"}, 1}, Typed{{"--mpi=pmix"}, 1},
                    Typed{{"--mpi", "pmix_v4", "-n", "2"}, 2}, Typed{{"--cpu-bind=cores"}, 1},
                    Typed{{"--cpu-bind", "none"}, 1}, Typed{{"-m", "cyclic"}, 1},
                    Typed{{"--distribution=block"}, 1}, Typed{{"-rr"}, 1}, Typed{{"-D", "/usr"}, 1},
                    Typed{{"--chdir=/usr"}, 1}, Typed{{"--map-by", "ppr:2:node:oversubscribe"}, 2},
                    Typed{{"--map-by", "ppr:2:node:OVERSUBSCRIBE", "--host", "localhost:1"}, 2},
                    Typed{{"--hetero-nodes"}, 1}, Typed{{"--mca", "orte_keep_fqdn_hostnames", "1"}, 1},
                    Typed{{"-host", "localhost", "-host", "localhost:2"}, 3}));

TEST(Options, TakeParametersThatHaveOptions) {
  const auto options =
      std::get<Options>(parse({"-H", "a", "--host", "b:2", "--mca", "plm_rsh_agent", "ssh -q", "-mca",
                               "oob_tcp_if_include", "eth1", "--map-by", "node", "prog"}));
  EXPECT_EQ(options.way.agent, "ssh -q");
  EXPECT_EQ(options.way.interface, "eth1");
  EXPECT_TRUE(options.way.by_node);
  ASSERT_EQ(options.placed.size(), 2U);
  EXPECT_EQ(options.ranks(), 3);
}

TEST(Options, TakeOthersSpellings) {
  const auto options = std::get<Options>(
      parse({"-l",  "-bind-to", "core", "-timeout", "3", "-wdir", "/a",    "-x",  "A=1",  "-env",  "B",
             "2 3", "-env",     "C=4",  "-genv",    "D", "",      "--env", "E=5", "prog", "-wdir", "x"}));
  EXPECT_TRUE(options.label);
  EXPECT_EQ(options.bind, rmarun::Bind::kCore);
  EXPECT_EQ(options.timeout_seconds, 3);
  EXPECT_EQ(options.programs[0].directory, "/a");
  EXPECT_THAT(options.programs[0].environment,
              ElementsAre(Pair("A", "1"), Pair("D", ""), Pair("B", "2 3"), Pair("C", "4"), Pair("E", "5")));
  EXPECT_THAT(options.programs[0].command, ElementsAre("prog", "-wdir", "x"));
}

TEST(Options, TakeSeveralPrograms) {
  const auto options = std::get<Options>(parse({"-n", "2", "-env", "A", "1", "a", "x", ":", "-wdir", "/",
                                                "-genv", "B", "2", "b", "-n", ":", "-np", "3", "c"}));
  EXPECT_EQ(options.ranks(), 6);
  EXPECT_THAT(options.programs_of_ranks(), ElementsAre(0, 0, 1, 2, 2, 2));
  ASSERT_EQ(options.programs.size(), 3U);
  EXPECT_THAT(options.programs[0].command, ElementsAre("a", "x"));
  EXPECT_THAT(options.programs[1].command, ElementsAre("b", "-n"));
  EXPECT_THAT(options.programs[2].command, ElementsAre("c"));
  EXPECT_THAT(options.programs[0].environment, ElementsAre(Pair("B", "2"), Pair("A", "1")));
  EXPECT_THAT(options.programs[2].environment, ElementsAre(Pair("B", "2")));
  EXPECT_EQ(options.programs[0].directory, "");
  EXPECT_EQ(options.programs[1].directory, "/");
}

TEST(Options, LeaveColonsBehindTwoDashesAlone) {
  const auto options = std::get<Options>(parse({"-n", "2", "--", "prog", ":", "x"}));
  EXPECT_EQ(options.ranks(), 2);
  EXPECT_THAT(options.programs[0].command, ElementsAre("prog", ":", "x"));
}

TEST(Options, TakeOtherHosts) {
  const auto options = std::get<Options>(
      parse({"--hosts", "a.example:2,me@b.example:4", "-n", "5", "--engine", "mpirun", "--agent",
             "ssh -i key", "--interface", "eth1", "--start-timeout", "5", "prog"}));
  EXPECT_EQ(options.ranks(), 5);
  ASSERT_EQ(options.placed.size(), 2U);
  EXPECT_EQ(options.placed[0].host.name, "a.example");
  EXPECT_EQ(options.placed[0].ranks, 2);
  EXPECT_EQ(options.placed[1].host.user, "me");
  EXPECT_EQ(options.placed[1].ranks, 3);
  EXPECT_EQ(options.way.engine, "mpirun");
  EXPECT_EQ(options.way.agent, "ssh -i key");
  EXPECT_EQ(options.way.interface, "eth1");
  EXPECT_EQ(options.way.start_seconds, 5);
}

TEST(Options, NeedNoEngineForThisHost) {
  EXPECT_TRUE(std::get<Options>(parse({"--hosts", "localhost:2,127.0.0.1:1", "prog"})).placed.empty());
  EXPECT_EQ(std::get<Options>(parse({"--hosts", "localhost:2", "--engine", "mpirun", "prog"})).placed.size(),
            1U);
}

TEST(Options, RefuseHostsThatAreOptions) {
  for (const char* const list : {"-oProxyCommand=reboot", "a,b;reboot", "a\nb", "$(reboot)"}) {
    const auto parsed = parse({"--hosts", list, "prog"});
    ASSERT_TRUE(std::holds_alternative<NoJob>(parsed)) << list;
    EXPECT_EQ(std::get<NoJob>(parsed).exit_code, 2);
  }
}

TEST(Options, CountSlots) {
  const auto parsed = parse({"-host", "localhost:2", "-n", "3", "prog"});
  EXPECT_THAT(std::get<NoJob>(parsed).err, HasSubstr("3 ranks are more than the 2 slots of localhost:2"));
}

TEST(Options, HelpIsHelpAndNothingElse) {
  for (const char* const word : {"-h", "-help", "--help", "-?"}) {
    const auto parsed = parse({word});
    EXPECT_EQ(std::get<NoJob>(parsed).exit_code, 0) << word;
    EXPECT_THAT(std::get<NoJob>(parsed).out, HasSubstr("--timeout"));
  }
  for (const char* const word : {"-host", "-hostfile", "-hosts", "-he", "--hel", "-hx"})
    EXPECT_EQ(std::get<NoJob>(parse({word, "prog"})).exit_code, 2) << word;
}

}  // namespace
