#include "rmarun/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "rmarun/spawn.hpp"

namespace {

using rmarun::LineAssembler;
using rmarun::Outlet;

TEST(LineAssembler, PassesOnWholeLinesOnly) {
  LineAssembler lines("");
  std::string out;
  lines.feed("one", out);
  EXPECT_EQ(out, "");
  lines.feed(" and a half\ntwo\nthr", out);
  EXPECT_EQ(out, "one and a half\ntwo\n");
  lines.feed("ee\n", out);
  EXPECT_EQ(out, "one and a half\ntwo\nthree\n");
}

TEST(LineAssembler, PutsThePrefixBeforeEachLine) {
  LineAssembler lines("[7] ");
  std::string out;
  lines.feed("a\n\nb", out);
  lines.feed("c\n", out);
  EXPECT_EQ(out, "[7] a\n[7] \n[7] bc\n");
}

TEST(LineAssembler, EndsWithWhatIsThere) {
  LineAssembler lines("[0] ");
  std::string out;
  lines.feed("whole\npart", out);
  lines.finish(out, false);
  EXPECT_EQ(out, "[0] whole\n[0] part");
  lines.finish(out, false);
  EXPECT_EQ(out, "[0] whole\n[0] part") << "nothing was left the second time";
}

TEST(LineAssembler, CompletesTheLastLineOnRequest) {
  LineAssembler lines("");
  std::string out;
  lines.feed("part", out);
  lines.finish(out, true);
  EXPECT_EQ(out, "part\n");
  lines.finish(out, true);
  EXPECT_EQ(out, "part\n");
}

TEST(LineAssembler, BoundsWhatItKeeps) {
  LineAssembler lines("> ");
  std::string out;
  const std::string piece(LineAssembler::kLongestLine / 4 + 1, 'x');
  for (int i = 0; i < 4; ++i) lines.feed(piece, out);
  EXPECT_EQ(out, "> " + piece + piece + piece + piece);
  lines.feed("end\nnext\n", out);
  EXPECT_EQ(out, "> " + piece + piece + piece + piece + "end\n> next\n");
}

/// A pipe whose ends never block.
class OutletTest : public testing::Test {
 protected:
  OutletTest() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    read_ = rmarun::Descriptor(ends[0]);
    write_ = rmarun::Descriptor(ends[1]);
  }

  std::string arrived() {
    std::string text(1 << 20, '\0');
    const ssize_t count = ::read(read_.get(), text.data(), text.size());
    text.resize(count < 0 ? 0 : static_cast<size_t>(count));
    return text;
  }

  rmarun::Descriptor read_;
  rmarun::Descriptor write_;
};

TEST_F(OutletTest, LetsNobodyInsideALine) {
  Outlet outlet({write_.get(), write_.get()});
  const std::string line = std::string(10000, 'o') + "\n";
  outlet.queue(Outlet::kOut) = line;
  outlet.queue(Outlet::kErr) = "e\n";
  ASSERT_TRUE(outlet.write_some(Outlet::kOut));
  EXPECT_FALSE(outlet.wants(Outlet::kErr)) << "stdout is inside a line";
  std::string text;
  while (outlet.wants(Outlet::kOut)) ASSERT_TRUE(outlet.write_some(Outlet::kOut));
  ASSERT_TRUE(outlet.wants(Outlet::kErr));
  ASSERT_TRUE(outlet.write_some(Outlet::kErr));
  EXPECT_TRUE(outlet.empty());
  EXPECT_EQ(arrived(), line + "e\n");
}

TEST_F(OutletTest, TakesTurnsAtTheEndsOfLines) {
  Outlet outlet({write_.get(), write_.get()});
  outlet.queue(Outlet::kOut) = "short\n" + std::string(5000, 'l') + "\n";
  outlet.queue(Outlet::kErr) = "e\n";
  ASSERT_TRUE(outlet.write_some(Outlet::kOut));
  EXPECT_EQ(arrived(), "short\n");
  EXPECT_TRUE(outlet.wants(Outlet::kErr));
}

TEST_F(OutletTest, ReportsALostReaderOnceAndDropsTheRest) {
  ::signal(SIGPIPE, SIG_IGN);
  Outlet outlet({write_.get(), write_.get()});
  read_.reset();
  outlet.queue(Outlet::kOut) = "nobody\n";
  EXPECT_FALSE(outlet.write_some(Outlet::kOut));
  EXPECT_TRUE(outlet.empty());
  outlet.queue(Outlet::kOut) = "nobody\n";
  EXPECT_TRUE(outlet.write_some(Outlet::kOut));
  EXPECT_TRUE(outlet.empty());
}

TEST_F(OutletTest, IsFullBeforeMemoryIs) {
  Outlet outlet({write_.get(), write_.get()});
  EXPECT_FALSE(outlet.full());
  outlet.queue(Outlet::kErr).assign(size_t{64} << 20, 'x');
  EXPECT_TRUE(outlet.full());
}

}  // namespace
