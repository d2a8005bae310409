#include "rmarun/hosts/frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rmarun/hosts/description.hpp"

namespace {

using rmarun::Carriage;
using rmarun::FrameReader;
using rmarun::FrameWriter;
using rmarun::Outlet;

/// What has come out of a reader.
struct Heard {
  std::map<std::pair<int, int>, std::string> output;  ///< by rank and stream
  std::vector<std::string> words;
  std::string engine;

  FrameReader reader(Carriage carriage, int ranks) {
    return {carriage,
            ranks,
            {.output =
                 [this](int rank, Outlet::Stream stream, std::string_view bytes) {
                   output[{rank, stream}] += bytes;
                 },
             .words =
                 [this](int rank, std::string_view text) {
                   words.push_back(std::to_string(rank) + ": " + std::string(text));
                 },
             .engine_text = [this](std::string_view text) { engine += text; }}};
  }
};

std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes;
  const std::string often = "\n[\x10]:<1,0";
  for (std::size_t i = 0; i < size; ++i)
    bytes += random() % 3 == 0 ? often[random() % often.size()] : static_cast<char>(random() % 256);
  return bytes;
}

/// Feeds `bytes` in pieces, as pipes deliver them.
void feed_in_pieces(std::mt19937& random, FrameReader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, 1 + random() % 700);
    reader.feed(piece);
    bytes.remove_prefix(piece.size());
  }
}

TEST(Frames, CarryAnyBytesThroughTags) {
  std::mt19937 random(1);
  constexpr int kRanks = 3;
  Heard heard;
  FrameReader reader = heard.reader(Carriage::kTagged, kRanks);
  std::map<std::pair<int, int>, std::string> sent;
  std::vector<std::string> on_the_way(kRanks);
  std::string engine;
  for (int round = 0; round < 300; ++round) {
    const int rank = static_cast<int>(random() % kRanks);
    const auto stream = random() % 2 == 0 ? Outlet::kOut : Outlet::kErr;
    const std::string bytes = random_bytes(random, random() % 300);
    sent[{rank, stream}] += bytes;
    FrameWriter writer(Carriage::kTagged, rank);
    auto& way = on_the_way[static_cast<std::size_t>(rank)];
    way += writer.output(stream, bytes);
    // The engine sends what it has read so far, which may end inside a frame.
    const std::size_t cut = round < 290 ? random() % (way.size() + 1) : way.size();
    engine += "[1," + std::to_string(rank) + "]<stdout>:" + way.substr(0, cut);
    way.erase(0, cut);
  }
  for (int rank = 0; rank < kRanks; ++rank)
    engine += "[1," + std::to_string(rank) + "]<stdout>:" + on_the_way[static_cast<std::size_t>(rank)];
  feed_in_pieces(random, reader, engine);
  EXPECT_EQ(heard.output, sent);
  EXPECT_EQ(heard.engine, "");
}

/// Daemons read 4,096 bytes at most, and what several ranks have written is mixed piece by piece.
TEST(Frames, SurviveThePiecesOfDaemons) {
  std::mt19937 random(3);
  constexpr std::size_t kPiece = 4096;
  Heard heard;
  FrameReader reader = heard.reader(Carriage::kLines, 1200);
  std::map<std::pair<int, int>, std::string> sent;
  std::map<int, std::string> pipes;
  for (const int rank : {0, 1, 12, 123, 1199}) {
    FrameWriter writer(Carriage::kLines, rank);
    for (int round = 0; round < 100; ++round) {
      const std::string bytes = random_bytes(random, 1 + random() % 3000);
      sent[{rank, Outlet::kOut}] += bytes;
      pipes[rank] += writer.output(Outlet::kOut, bytes);
      pipes[rank] += writer.words(random_bytes(random, random() % 1000));
      ASSERT_EQ(kPiece % (pipes[rank].find('\n') + 1), 0U);
    }
  }
  while (!pipes.empty()) {
    auto& [rank, pipe] = *std::next(pipes.begin(), static_cast<std::ptrdiff_t>(random() % pipes.size()));
    reader.feed(std::string_view(pipe).substr(0, kPiece));
    pipe.erase(0, kPiece);
    if (pipe.empty()) pipes.erase(rank);
  }
  EXPECT_EQ(heard.output, sent);
  EXPECT_EQ(heard.engine, "");
}

TEST(Frames, CarryAnyBytesInLines) {
  std::mt19937 random(2);
  Heard heard;
  FrameReader reader = heard.reader(Carriage::kLines, 2);
  std::map<std::pair<int, int>, std::string> sent;
  std::string engine;
  for (int round = 0; round < 200; ++round) {
    const int rank = static_cast<int>(random() % 2);
    const std::string bytes = random_bytes(random, 1 + random() % 2000);
    sent[{rank, Outlet::kErr}] += bytes;
    FrameWriter writer(Carriage::kLines, rank);
    engine += "[job@1," + std::to_string(rank) + "]<stdout>: " + writer.output(Outlet::kErr, bytes);
  }
  for (std::size_t at = 0, end = 0; (end = engine.find('\n', at)) != engine.npos; at = end + 1)
    ASSERT_LE(end - at, 1000U);
  feed_in_pieces(random, reader, engine + "srun: error: a\n");
  EXPECT_EQ(heard.output, sent);
  EXPECT_EQ(heard.engine, "srun: error: a\n");
}

TEST(Frames, CarryWordsBesideOutput) {
  for (const auto carriage : {Carriage::kTagged, Carriage::kLines}) {
    Heard heard;
    FrameReader reader = heard.reader(carriage, 5);
    FrameWriter writer(carriage, 4);
    const std::string tag = carriage == Carriage::kTagged ? "[1,4]<stdout>:" : "";
    const std::string words = "fail 127 no [program]\nhere " + std::string(1500, 'x');
    reader.feed(tag + writer.output(Outlet::kOut, "one") + writer.words(words) +
                writer.output(Outlet::kOut, "two"));
    EXPECT_THAT(heard.words, testing::ElementsAre("4: " + words));
    EXPECT_EQ((heard.output[{4, Outlet::kOut}]), "onetwo");
  }
}

TEST(Frames, LeaveTheEnginesTextAlone) {
  Heard heard;
  FrameReader reader = heard.reader(Carriage::kTagged, 2);
  reader.feed("hello\n[1,7]<stdout>:[2,0]<stdout>:[1,x]<stdout>:[1,]<stdout>:[head:123] setpgid: failed\n");
  EXPECT_TRUE(heard.output.empty());
  EXPECT_THAT(heard.engine, testing::StartsWith("hello\n"));
  EXPECT_THAT(heard.engine, testing::EndsWith(" setpgid: failed\n"));
}

TEST(Frames, BearHostileText) {
  std::mt19937 random(3);
  for (const auto carriage : {Carriage::kTagged, Carriage::kLines}) {
    Heard heard;
    FrameReader reader = heard.reader(carriage, 2);
    for (int round = 0; round < 300; ++round)
      reader.feed((random() % 2 == 0 ? "[1,1]<stdout>:\x10(" : "\x10r1;") + random_bytes(random, 500));
    for (const auto& [source, bytes] : heard.output) EXPECT_LE(source.first, 1);
  }
}

TEST(Description, SurvivesPackingWithAnyValues) {
  rmarun::Description description;
  description.version = "rmarun 1";
  description.origin = "head";
  description.directory = "/a b";
  description.carriage = Carriage::kLines;
  description.bind = rmarun::Bind::kCore;
  description.stdin_for_first = false;
  description.environment = {"A=1\n2;3'\"", "EMPTY=", "LONG=" + std::string(300'000, 'y')};
  rmarun::Program program;
  program.ranks = 3;
  program.directory = "/tmp";
  program.command = {"prog", "", "a\nb"};
  program.environment = {{"X", "1:2,3"}};
  description.programs = {program, program};
  description.hosts = {"a", "a", "b"};
  std::vector<std::string> names;
  for (const std::string& variable : rmarun::packed(description)) {
    const auto equals = variable.find('=');
    EXPECT_LT(variable.size(), 128U << 10U);
    EXPECT_EQ(variable.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                                         equals + 1),
              variable.npos);
    names.push_back(variable.substr(0, equals));
    ::setenv(names.back().c_str(), variable.c_str() + equals + 1, 1);
  }
  const auto read = rmarun::unpacked();
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(read.value().environment, description.environment);
  EXPECT_EQ(read.value().hosts, description.hosts);
  EXPECT_EQ(read.value().origin, "head");
  EXPECT_EQ(read.value().carriage, Carriage::kLines);
  EXPECT_EQ(read.value().bind, rmarun::Bind::kCore);
  EXPECT_FALSE(read.value().stdin_for_first);
  ASSERT_EQ(read.value().programs.size(), 2U);
  EXPECT_EQ(read.value().programs[1].command, program.command);
  EXPECT_EQ(read.value().programs[1].environment, program.environment);
  ::setenv("RMARUN_JOB_0", "AAAA", 1);
  EXPECT_FALSE(rmarun::unpacked().ok());
  ::unsetenv("RMARUN_JOB_0");
  EXPECT_FALSE(rmarun::unpacked().ok());
  for (const std::string& name : names) ::unsetenv(name.c_str());
  EXPECT_FALSE(rmarun::unpacked().ok());
}

TEST(Description, LeavesOutWhatIsOfThisHost) {
  for (const char* const name : {"PATH", "LD_LIBRARY_PATH", "HOME", "RMA_NETWORK", "MY_SLURM_X", "LANG"})
    EXPECT_TRUE(rmarun::goes_to_other_hosts(name)) << name;
  for (const char* const name : {"DISPLAY", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
                                 "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "TMPDIR", "PMIX_RANK", "SLURM_JOB_ID",
                                 "LS_COLORS", "BASH_FUNC_x%%", "OMPI_MCA_x", "RMARUN_VERBOSE"})
    EXPECT_FALSE(rmarun::goes_to_other_hosts(name)) << name;
}

}  // namespace
