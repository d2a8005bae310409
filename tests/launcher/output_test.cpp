#include "rmarun/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "rmarun/spawn.hpp"

namespace {

using rmarun::Outlet;

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
  ASSERT_EQ(outlet.write_some(Outlet::kOut), 0);
  EXPECT_FALSE(outlet.wants(Outlet::kErr)) << "stdout is inside a line";
  std::string text;
  while (outlet.wants(Outlet::kOut)) ASSERT_EQ(outlet.write_some(Outlet::kOut), 0);
  ASSERT_TRUE(outlet.wants(Outlet::kErr));
  ASSERT_EQ(outlet.write_some(Outlet::kErr), 0);
  EXPECT_TRUE(outlet.empty());
  EXPECT_EQ(arrived(), line + "e\n");
}

TEST_F(OutletTest, TakesTurnsAtTheEndsOfLines) {
  Outlet outlet({write_.get(), write_.get()});
  outlet.queue(Outlet::kOut) = "short\n" + std::string(5000, 'l') + "\n";
  outlet.queue(Outlet::kErr) = "e\n";
  ASSERT_EQ(outlet.write_some(Outlet::kOut), 0);
  EXPECT_EQ(arrived(), "short\n");
  EXPECT_TRUE(outlet.wants(Outlet::kErr));
}

TEST_F(OutletTest, ReportsALostReaderOnceAndDropsTheRest) {
  ::signal(SIGPIPE, SIG_IGN);
  Outlet outlet({write_.get(), write_.get()});
  read_.reset();
  outlet.queue(Outlet::kOut) = "nobody\n";
  EXPECT_EQ(outlet.write_some(Outlet::kOut), EPIPE);
  EXPECT_TRUE(outlet.empty());
  outlet.queue(Outlet::kOut) = "nobody\n";
  EXPECT_EQ(outlet.write_some(Outlet::kOut), 0);
  EXPECT_TRUE(outlet.empty());
}

TEST_F(OutletTest, ReportsAFullDevice) {
  const rmarun::Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  Outlet outlet({write_.get(), full.get()});
  outlet.queue(Outlet::kErr) = "lost\n";
  EXPECT_EQ(outlet.write_some(Outlet::kErr), ENOSPC);
  outlet.queue(Outlet::kOut) = "not lost\n";
  EXPECT_EQ(outlet.write_some(Outlet::kOut), 0);
  EXPECT_EQ(arrived(), "not lost\n");
}

TEST_F(OutletTest, IsFullBeforeMemoryIs) {
  Outlet outlet({write_.get(), write_.get()});
  EXPECT_FALSE(outlet.full());
  outlet.queue(Outlet::kErr).assign(size_t{64} << 20, 'x');
  EXPECT_TRUE(outlet.full());
}

}  // namespace
