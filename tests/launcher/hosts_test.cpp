#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "rmarun/hosts/allocation.hpp"
#include "rmarun/hosts/host_list.hpp"
#include "rmarun/hosts/mapping.hpp"

namespace {

using rmarun::Host;
using rmarun::hosts_of_file;
using rmarun::hosts_of_list;
using rmarun::names_this_host;
using testing::ElementsAre;
using testing::HasSubstr;

/// A host as one text: "user@name/slots:port".
std::string shown(const Host& host) {
  return host.user + "@" + host.name + "/" + (host.slots ? std::to_string(*host.slots) : "-") + ":" +
         std::to_string(host.port);
}
std::vector<std::string> shown(const std::vector<Host>& hosts) {
  std::vector<std::string> result;
  for (const Host& host : hosts) result.push_back(shown(host));
  return result;
}
std::string refusal(const std::string& list) { return std::string(hosts_of_list(list).status().text()); }

class HostFile {
 public:
  explicit HostFile(const std::string& text)
      : path_(testing::TempDir() + "hosts_test." + std::to_string(::getpid())) {
    std::ofstream(path_) << text;
  }
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;
  ~HostFile() { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Hosts, KnowThisOne) {
  for (const char* const name :
       {"localhost", "LOCALHOST", "127.0.0.1", "::1", "node1", "Node1", "node1.example.org"})
    EXPECT_TRUE(names_this_host(name, "node1")) << name;
  EXPECT_TRUE(names_this_host("node1", "node1.example.org"));
  EXPECT_TRUE(names_this_host("node1.example.org", "node1.example.org"));
  for (const char* const name : {"node2", "node1.other.org", "node11", "10.0.0.1", ""})
    EXPECT_FALSE(names_this_host(name, "node1.example.org")) << name;
}

TEST(Hosts, AreReadFromAList) {
  EXPECT_THAT(shown(hosts_of_list("a:4,b").value()), ElementsAre("@a/4:0", "@b/-:0"));
  EXPECT_THAT(shown(hosts_of_list("me@a:2,[fe80::1%eth0]:3,,::1").value()),
              ElementsAre("me@a/2:0", "@fe80::1%eth0/3:0", "@::1/-:0"));
}

TEST(Hosts, ThatAreNamedTwiceAreOne) {
  EXPECT_THAT(shown(hosts_of_list("a:4,b:1,A:2").value()), ElementsAre("@a/6:0", "@b/1:0"));
  EXPECT_THAT(shown(hosts_of_list("a,b,a,a").value()), ElementsAre("@a/3:0", "@b/-:0"));
}

TEST(Hosts, AreReadFromFilesOfEveryLauncher) {
  const HostFile file(
      "# comment\n\na slots=2 max_slots=4 # two\n  b:3\nuser@c   slots 1 max-slots 2\n[::1]:4\n"
      "d\nd\nd port=2222 user=me\n");
  EXPECT_THAT(shown(hosts_of_file(file.path()).value()),
              ElementsAre("@a/2:0", "@b/3:0", "user@c/1:0", "@::1/4:0", "me@d/3:2222"));
}

TEST(Hosts, HaveBlanksAroundTheirNumbers) {
  for (const char* const text :
       {"a slots=4 max_slots=6", "a slots = 4 max_slots = 6", "a slots =4 max-slots =6",
        "a slots= 4 slots_max= 6", "a slots 4 max_slots 6\r\n", "a count=4 max_slots=6#"}) {
    const HostFile file(text);
    const auto hosts = hosts_of_file(file.path());
    ASSERT_TRUE(hosts.ok()) << text << ": " << hosts.status().text();
    EXPECT_THAT(shown(hosts.value()), ElementsAre("@a/4:0")) << text;
    EXPECT_EQ(hosts.value()[0].max_slots, 6) << text;
  }
}

TEST(Hosts, AreRangesInFilesToo) {
  const HostFile file("n[1-3] slots=2\nme@r[1-2]n[1,3]-ib:4 port=22\n[::1]:2\n");
  EXPECT_THAT(shown(hosts_of_file(file.path()).value()),
              ElementsAre("@n1/2:0", "@n2/2:0", "@n3/2:0", "me@r1n1-ib/4:22", "me@r1n3-ib/4:22",
                          "me@r2n1-ib/4:22", "me@r2n3-ib/4:22", "@::1/2:0"));
}

TEST(Hosts, WithDangerousNamesAreRefused) {
  for (const char* const list : {"-oProxyCommand=x",
                                 "a,-b:2",
                                 "a;reboot",
                                 "a$(x)",
                                 "a`x`",
                                 "a b",
                                 "a\nb",
                                 "a\x1b[2J",
                                 "a'b",
                                 "a\"b",
                                 "a|b",
                                 "a&b",
                                 "a/b",
                                 "a\\b",
                                 "-x@a",
                                 "me;x@a",
                                 "@a",
                                 "[]",
                                 "[]:2",
                                 ":2",
                                 "a*",
                                 "~a",
                                 "a=b",
                                 "a\x80"}) {
    EXPECT_FALSE(hosts_of_list(list).ok()) << list;
    EXPECT_EQ(refusal(list).find('\x1b'), std::string::npos);
    EXPECT_EQ(refusal(list).find('\n'), std::string::npos);
  }
  EXPECT_THAT(refusal("a:many"), HasSubstr("'a:many' is not HOST:SLOTS"));
  EXPECT_THAT(refusal("a:-1"), HasSubstr("HOST:SLOTS"));
  EXPECT_THAT(refusal("a:99999999"), HasSubstr("HOST:SLOTS"));
  EXPECT_THAT(refusal(","), HasSubstr("names no host"));
  EXPECT_FALSE(hosts_of_list(std::string(300, 'a')).ok());
}

TEST(Hosts, NameTheFileThatCannotBeUsed) {
  const auto why = [](const std::string& text) {
    const HostFile file(text);
    const std::string refusal(hosts_of_file(file.path()).status().text());
    EXPECT_THAT(refusal, HasSubstr(file.path()));
    return refusal;
  };
  EXPECT_THAT(why("# nothing\n"), HasSubstr("names no host"));
  EXPECT_THAT(why("a slots=many\n"), HasSubstr("slots=many"));
  EXPECT_THAT(why("a port=70000\n"), HasSubstr("port=70000"));
  EXPECT_THAT(why("a user=-oX\n"), HasSubstr("-oX"));
  EXPECT_THAT(why("a sluts=2\n"), HasSubstr("none of slots=N"));
  EXPECT_THAT(std::string(hosts_of_file("/no/such/file").status().text()),
              HasSubstr("cannot read the host file '/no/such/file': No such file"));
  EXPECT_THAT(std::string(hosts_of_file("/usr").status().text()),
              HasSubstr("cannot read the host file '/usr': Is a directory"));
}

/// Places ranks, and shows them as "a4 b2", or the refusal.
std::string placed(const std::string& list, const rmarun::Wanted& wanted) {
  const auto result = rmarun::place(hosts_of_list(list).value(), wanted, list);
  if (!result.ok()) return std::string(result.status().text());
  std::string text;
  for (const auto& each : result.value())
    text += (text.empty() ? "" : " ") + each.host.name + std::to_string(each.ranks);
  return text;
}

TEST(Hosts, GetTheirRanks) {
  EXPECT_EQ(placed("a:4,b:2", {}), "a4 b2");
  EXPECT_EQ(placed("a,b", {}), "a1 b1");
  EXPECT_EQ(placed("a:4,b:2", {.ranks = 5}), "a4 b1");
  EXPECT_EQ(placed("a:4,b:2", {.ranks = 3}), "a3");
  EXPECT_EQ(placed("a,b", {.ranks = 5}), "a3 b2");
  EXPECT_EQ(placed("a:1,b", {.ranks = 5}), "a1 b4");
  EXPECT_EQ(placed("a:4,b:2", {.per_host = 3}), "a3 b3");
  EXPECT_EQ(placed("a,b,c", {.ranks = 5, .per_host = 2}), "a2 b2 c1");
  EXPECT_EQ(placed("a:2,b:2", {.ranks = 7, .oversubscribe = true}), "a4 b3");
  EXPECT_THAT(placed("a:2,b:2", {.ranks = 5}), HasSubstr("5 ranks are more than the 4 slots of a:2,b:2"));
  EXPECT_THAT(placed("a,b", {.ranks = 5, .per_host = 2}), HasSubstr("5 ranks are more than the 4 slots"));
  EXPECT_THAT(placed("a:0", {}), HasSubstr("no slots"));
}

/// Places ranks on the hosts of a file.
std::string placed_by_file(const std::string& text, const rmarun::Wanted& wanted) {
  const HostFile file(text);
  const auto result = rmarun::place(hosts_of_file(file.path()).value(), wanted, "F");
  if (!result.ok()) return std::string(result.status().text());
  std::string shown;
  for (const auto& each : result.value())
    shown += (shown.empty() ? "" : " ") + each.host.name + std::to_string(each.ranks);
  return shown;
}

TEST(Hosts, GetNoMoreThanTheirMost) {
  const std::string file = "a slots=1 max_slots=2\nb slots=1\n";
  EXPECT_EQ(placed_by_file(file, {.ranks = 2}), "a1 b1");
  EXPECT_EQ(placed_by_file(file, {.ranks = 6, .oversubscribe = true}), "a2 b4");
  EXPECT_EQ(placed_by_file("a max_slots=2\nb\n", {.ranks = 6}), "a2 b4");
  EXPECT_EQ(placed_by_file("a max_slots=2\nb max_slots=2\n", {.ranks = 3}), "a2 b1");
  EXPECT_EQ(placed_by_file("a slots=4 max_slots=2\n", {}), "a2");
  EXPECT_THAT(placed_by_file("a slots=1 max_slots=2\n", {.ranks = 4, .oversubscribe = true}),
              HasSubstr("4 ranks are more than the 2 that max_slots of F allows"));
  EXPECT_THAT(placed_by_file("a max_slots=2\n", {.ranks = 4}), HasSubstr("max_slots of F allows"));
  EXPECT_THAT(placed_by_file(file, {.per_host = 3}), HasSubstr("more than max_slots=2 of host a allows"));
}

TEST(Hosts, GetTheirRanksInTurn) {
  const auto placed = rmarun::place(hosts_of_list("a:3,b:1,c:2").value(), {}, "").value();
  EXPECT_THAT(rmarun::hosts_by_rank(placed, false), ElementsAre("a", "a", "a", "b", "c", "c"));
  EXPECT_THAT(rmarun::hosts_by_rank(placed, true), ElementsAre("a", "b", "c", "a", "c", "a"));
}

/// The hosts that are found in an environment, or the refusal.
std::vector<std::string> found(const std::map<std::string, std::string>& environment) {
  const auto allocation = rmarun::find_allocation([&](const char* name) -> const char* {
    const auto variable = environment.find(name);
    return variable == environment.end() ? nullptr : variable->second.c_str();
  });
  if (!allocation.ok()) return {std::string(allocation.status().text())};
  if (!allocation.value()) return {};
  return shown(allocation.value()->hosts);
}

TEST(Allocations, AreFound) {
  EXPECT_TRUE(found({}).empty());
  EXPECT_THAT(found({{"SLURM_JOB_NODELIST", "n[08-10,2],m"}, {"SLURM_TASKS_PER_NODE", "4(x2),3,1(x2)"}}),
              ElementsAre("@n08/4:0", "@n09/4:0", "@n10/3:0", "@n2/1:0", "@m/1:0"));
  EXPECT_THAT(found({{"SLURM_JOB_NODELIST", "m"}}), ElementsAre("@m/-:0"));
  EXPECT_THAT(found({{"LSB_MCPU_HOSTS", "a 4 b 2 "}}), ElementsAre("@a/4:0", "@b/2:0"));
  const HostFile pbs("a\na\nb\n");
  EXPECT_THAT(found({{"PBS_NODEFILE", pbs.path()}}), ElementsAre("@a/2:0", "@b/1:0"));
  EXPECT_THAT(found({{"LSB_DJOB_HOSTFILE", pbs.path()}}), ElementsAre("@a/2:0", "@b/1:0"));
  EXPECT_THAT(
      found({{"SLURM_JOB_NODELIST", "r[1-2]n[08-09],n[1-2]-ib"}}),
      ElementsAre("@r1n08/-:0", "@r1n09/-:0", "@r2n08/-:0", "@r2n09/-:0", "@n1-ib/-:0", "@n2-ib/-:0"));
  const HostFile sge("a 4 all.q@a <NULL>\nb 2 all.q@b UNDEFINED\n");
  EXPECT_THAT(found({{"PE_HOSTFILE", sge.path()}}), ElementsAre("@a/4:0", "@b/2:0"));
}

TEST(Allocations, AreNotInEmptyVariables) {
  for (const char* const variable :
       {"SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", "PE_HOSTFILE",
        "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE",
        "I_MPI_HYDRA_HOST_FILE"}) {
    EXPECT_TRUE(found({{variable, ""}}).empty()) << variable;
  }
  EXPECT_THAT(found({{"PBS_NODEFILE", ""}, {"LSB_MCPU_HOSTS", "a 4"}}), ElementsAre("@a/4:0"));
  EXPECT_TRUE(found({{"OMPI_MCA_orte_default_hostfile", "none"}}).empty());
  EXPECT_THAT(found({{"SLURM_JOB_NODELIST", "m"}, {"SLURM_TASKS_PER_NODE", ""}}), ElementsAre("@m/-:0"));
}

TEST(Allocations, ThatCannotBeReadAreRefused) {
  for (const char* const list : {"n[1-3", "n[a-b]", "[", ",", "n[-]", "n[1-99999999]", "n[]", "n[1-2]m[",
                                 "n[2-1]", "n[1-400]m[1-400]"})
    EXPECT_THAT(found({{"SLURM_JOB_NODELIST", list}}), ElementsAre(HasSubstr("SLURM_JOB_NODELIST"))) << list;
  EXPECT_THAT(found({{"SLURM_JOB_NODELIST", "-x;y"}}), ElementsAre(HasSubstr("no name of a host")));
  for (const char* const counts : {"4(x", "4(x2", "x", "4(x)", "(x2)", "99999999"})
    EXPECT_THAT(found({{"SLURM_JOB_NODELIST", "a"}, {"SLURM_TASKS_PER_NODE", counts}}),
                ElementsAre(HasSubstr("no numbers of Slurm's")))
        << counts;
  EXPECT_THAT(found({{"PBS_NODEFILE", "/no/such/file"}}), ElementsAre(HasSubstr("/no/such/file")));
  EXPECT_THAT(found({{"PE_HOSTFILE", "/no/such/file"}}), ElementsAre(HasSubstr("cannot read the host file")));
  EXPECT_THAT(found({{"PE_HOSTFILE", "/usr"}}), ElementsAre(HasSubstr("Is a directory")));
  EXPECT_THAT(found({{"LSB_MCPU_HOSTS", "a 2 b"}}), ElementsAre(HasSubstr("no number of slots behind b")));
  EXPECT_THAT(found({{"LSB_MCPU_HOSTS", "a many"}}), ElementsAre(HasSubstr("'many' is no number")));
}

}  // namespace
