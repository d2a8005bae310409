#include "rmarun/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace {

using rmarun::names_this_host;
using rmarun::slots_of_file;
using rmarun::slots_of_list;
using testing::HasSubstr;

/// A file that is removed at the end.
class HostFile {
 public:
  explicit HostFile(const std::string& text) {
    const int file = ::mkstemp(path_.data());
    EXPECT_GE(file, 0);
    ::close(file);
    std::ofstream(path_) << text;
  }
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;
  ~HostFile() { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "hostsXXXXXX";
};

TEST(Hosts, KnowThisHostByItsNames) {
  for (const char* const name :
       {"localhost", "LOCALHOST", "127.0.0.1", "::1", "node1", "Node1", "node1.cluster.org"})
    EXPECT_TRUE(names_this_host(name, "node1")) << name;
  for (const char* const name : {"node2", "node", "node11", "node2.cluster.org", "", "10.0.0.1"})
    EXPECT_FALSE(names_this_host(name, "node1")) << name;
  EXPECT_TRUE(names_this_host("node1", "node1.cluster.org"));
  EXPECT_FALSE(names_this_host("node1.elsewhere.org", "node1.cluster.org"));
}

TEST(Hosts, CountTheSlotsOfAList) {
  const auto slots = slots_of_list("localhost:2,,127.0.0.1:3");
  ASSERT_TRUE(slots.ok()) << slots.status().text();
  EXPECT_EQ(slots.value().hosts, 2);
  EXPECT_EQ(slots.value().slots, 5);
  EXPECT_TRUE(slots.value().limit);
  EXPECT_FALSE(slots_of_list("localhost:2,localhost").value().limit) << "one has as many as it likes";
}

TEST(Hosts, RefuseListsThatSayNothing) {
  for (const char* const list : {"", ",", "localhost:x", "localhost:-1", ":3", "localhost:3x"})
    EXPECT_FALSE(slots_of_list(list).ok()) << list;
}

TEST(Hosts, ReadFilesOfOpenMpiAndMpich) {
  const HostFile file(
      "# comment\n\nlocalhost slots=2 max_slots=4 # two\n  localhost:3\nuser@127.0.0.1   slots=1\n[::1]:4\n");
  const auto slots = slots_of_file(file.path());
  ASSERT_TRUE(slots.ok()) << slots.status().text();
  EXPECT_EQ(slots.value().hosts, 4);
  EXPECT_EQ(slots.value().slots, 10);
  EXPECT_TRUE(slots.value().limit);
}

TEST(Hosts, NameTheFileThatCannotBeUsed) {
  const HostFile other("localhost\nelsewhere slots=2\n");
  EXPECT_THAT(std::string(slots_of_file(other.path()).status().text()),
              HasSubstr("'elsewhere' is another host"));
  EXPECT_THAT(std::string(slots_of_file(other.path()).status().text()), HasSubstr(other.path()));
  const HostFile empty("# nothing\n");
  EXPECT_THAT(std::string(slots_of_file(empty.path()).status().text()), HasSubstr("names no host"));
  EXPECT_THAT(std::string(slots_of_file("/no/such/file").status().text()), HasSubstr("/no/such/file"));
  const HostFile wrong("localhost slots=many\n");
  EXPECT_THAT(std::string(slots_of_file(wrong.path()).status().text()), HasSubstr("slots=many"));
}

}  // namespace
