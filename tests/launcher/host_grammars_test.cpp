#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "rmarun/hosts/allocation.hpp"
#include "rmarun/hosts/host_list.hpp"

// Hosts as all launchers write them, against a model: random mentions of hosts, of which the model adds the
// slots, are written in each grammar and read back.

namespace {

using rmarun::Host;
using testing::HasSubstr;

/// One mention of a host.
struct Mention {
  std::string name;
  std::optional<int> slots{};
  std::string user{};
  int port = 0;
};

class Grammars : public testing::Test {
 protected:
  void SetUp() override {
    const char* const given = std::getenv("LIBRMA_TEST_SEED");
    const auto seed = static_cast<unsigned>(given == nullptr ? 7 : std::strtoul(given, nullptr, 10));
    fmt::print("LIBRMA_TEST_SEED={}\n", seed);
    random_.seed(seed);
  }
  void TearDown() override { ::unlink(path_.c_str()); }

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance() { return below(2) == 0; }
  template <typename T>
  const T& one_of(const std::vector<T>& choice) {
    return choice[below(choice.size())];
  }

  std::vector<Mention> mentions(bool remote_shell = true, bool addresses = true) {
    static const std::vector<std::string> kNames = {
        "a", "b-1", "node01.example.org", "N7", "x_y", "10.0.0.17", "fe80::1%eth0", "::1", "node2"};
    std::vector<Mention> result;
    for (std::size_t left = 1 + below(12); left > 0; --left) {
      Mention mention{.name = one_of(kNames)};
      if (!addresses && mention.name.find(':') != std::string::npos) mention.name = "plain";
      if (chance()) mention.slots = static_cast<int>(below(9));
      if (remote_shell && below(4) == 0) mention.user = "u.ser-1";
      if (remote_shell && below(4) == 0) mention.port = 1 + static_cast<int>(below(65535));
      result.push_back(std::move(mention));
    }
    return result;
  }

  /// The model: a host stands where it is first mentioned. Mentions without a number count as one slot if
  /// there are several.
  static std::vector<std::string> model(const std::vector<Mention>& mentions) {
    std::vector<Host> hosts;
    for (const Mention& each : mentions) {
      const auto same = std::ranges::find(hosts, each.name, &Host::name);
      if (same == hosts.end()) {
        hosts.push_back({.name = each.name, .user = each.user, .port = each.port, .slots = each.slots});
      } else {
        same->slots = same->slots.value_or(1) + each.slots.value_or(1);
        if (!each.user.empty()) same->user = each.user;
        if (each.port != 0) same->port = each.port;
      }
    }
    return shown(hosts);
  }

  static std::vector<std::string> shown(const std::vector<Host>& hosts) {
    std::vector<std::string> result;
    for (const Host& host : hosts)
      result.push_back(fmt::format("{}@{} {} {}", host.user, host.name, host.slots.value_or(-1), host.port));
    return result;
  }

  /// "user@[name]:slots"
  static std::string word(const Mention& mention) {
    const bool address = mention.name.find(':') != std::string::npos;
    const bool bracket = address && mention.slots;
    return fmt::format("{}{}{}{}{}{}", mention.user, mention.user.empty() ? "" : "@", bracket ? "[" : "",
                       mention.name, bracket ? "]" : "",
                       mention.slots ? fmt::format(":{}", *mention.slots) : "");
  }

  /// A line of a host file.
  std::string line(const Mention& mention) {
    const bool name_only = chance();
    Mention first = name_only ? Mention{.name = mention.name} : mention;
    if (chance()) first.user.clear();
    std::string text = std::string(below(3), ' ') + word(first);
    std::vector<std::string> words;
    const auto assign = [&](const std::string& key, const std::string& value) {
      words.push_back(key + one_of<std::string>({"=", " ", " = ", "= ", "\t="}) + value);
    };
    if (mention.slots && !first.slots) assign("slots", std::to_string(*mention.slots));
    if (mention.user != first.user) assign(one_of<std::string>({"user", "username"}), mention.user);
    if (mention.port != 0) assign("port", std::to_string(mention.port));
    if (chance())
      assign(one_of<std::string>({"max_slots", "max-slots", "slots_max"}), std::to_string(below(20)));
    std::ranges::shuffle(words, random_);
    for (const std::string& each : words) text += (chance() ? " " : "\t") + each;
    return text + one_of<std::string>({"", " ", " # slots=x", "#x"});
  }

  const std::string& write(const std::vector<std::string>& lines) {
    // The last line may lack its end.
    const std::string end = one_of<std::string>({"\n", "\r\n"});
    const std::string last = chance() ? end : "";
    std::ofstream file(path_, std::ios::binary);
    file << fmt::format("{}", fmt::join(lines, end)) << last;
    return path_;
  }

  std::mt19937 random_;
  const std::string path_ = testing::TempDir() + "host_grammars." + std::to_string(::getpid());
};

constexpr int kRounds = 300;

TEST_F(Grammars, Lists) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Mention> all = mentions();
    std::string list;
    for (Mention& each : all) {
      each.port = 0;  // a list has no place for it
      list += word(each) + one_of<std::string>({",", ",,"});
    }
    const auto hosts = rmarun::hosts_of_list(list);
    ASSERT_TRUE(hosts.ok()) << list << ": " << hosts.status().text();
    EXPECT_EQ(shown(hosts.value()), model(all)) << list;
  }
}

TEST_F(Grammars, Ranges) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Mention> all;
    std::string list;
    for (std::size_t left = 1 + below(4); left > 0; --left) {
      const std::string prefix = one_of<std::string>({"n", "rack1-n", "m"});
      const std::optional<int> slots = chance() ? std::optional<int>(3) : std::nullopt;
      const std::string user = chance() ? "" : "me";
      const std::string suffix = chance() ? "" : "-ib";
      std::string ranges;
      for (std::size_t parts = 1 + below(3); parts > 0; --parts) {
        const int digits = static_cast<int>(below(4));
        const int first = static_cast<int>(below(12));
        const int last = first + static_cast<int>(below(4));
        ranges += fmt::format("{}{:0{}}", ranges.empty() ? "" : ",", first, digits);
        if (last > first || chance()) ranges += fmt::format("-{:0{}}", last, digits);
        for (int number = first; number <= last; ++number)
          all.push_back({.name = fmt::format("{}{:0{}}{}", prefix, number, digits, suffix),
                         .slots = slots,
                         .user = user});
      }
      list += fmt::format("{}{}{}[{}]{}{}", list.empty() ? "" : ",", user.empty() ? "" : "me@", prefix,
                          ranges, suffix, slots ? ":3" : "");
    }
    const auto hosts = rmarun::hosts_of_list(list);
    ASSERT_TRUE(hosts.ok()) << list << ": " << hosts.status().text();
    EXPECT_EQ(shown(hosts.value()), model(all)) << list;
  }
}

TEST_F(Grammars, Files) {
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Mention> all = mentions();
    std::vector<std::string> lines;
    for (const Mention& each : all) {
      if (below(4) == 0) lines.push_back(one_of<std::string>({"", "  \t", "# comment", "  # a slots=9"}));
      lines.push_back(line(each));
    }
    const auto hosts = rmarun::hosts_of_file(write(lines));
    ASSERT_TRUE(hosts.ok()) << hosts.status().text();
    EXPECT_EQ(shown(hosts.value()), model(all)) << testing::PrintToString(lines);
  }
}

TEST_F(Grammars, BatchSystems) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Mention> all = mentions(false, false);
    std::vector<std::string> sge;
    std::vector<std::string> pbs;
    std::vector<Mention> each_slot;
    std::string pairs;
    for (Mention& each : all) {
      each.slots = each.slots.value_or(2);
      sge.push_back(fmt::format("{} {} all.q@{} <NULL>", each.name, *each.slots, each.name));
      pairs += fmt::format("{} {} ", each.name, *each.slots);
      for (int slot = 0; slot < *each.slots; ++slot) {
        pbs.push_back(each.name);
        each_slot.push_back({.name = each.name});
      }
    }
    const auto found = [](const std::string& variable, const std::string& value) {
      auto allocation = rmarun::find_allocation(
          [&](const char* name) -> const char* { return variable == name ? value.c_str() : nullptr; });
      EXPECT_TRUE(allocation.ok()) << allocation.status().text();
      return allocation.ok() && allocation.value() ? shown(allocation.value()->hosts)
                                                   : std::vector<std::string>();
    };
    EXPECT_EQ(found("LSB_MCPU_HOSTS", pairs), model(all));
    EXPECT_EQ(found("PE_HOSTFILE", write(sge)), model(all));
    if (each_slot.empty()) continue;
    for (Mention& each : each_slot) each.slots = 1;  // a line of these is a slot
    for (const char* const variable : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"})
      EXPECT_EQ(found(variable, write(pbs)), model(each_slot));
    // The files of the MPI operator of Kubernetes, for Open MPI and for MPICH.
    std::vector<std::string> open_mpi;
    std::vector<std::string> hydra;
    for (const Mention& each : all) {
      open_mpi.push_back(fmt::format("{} slots={}", each.name, *each.slots));
      hydra.push_back(word(each));
    }
    EXPECT_EQ(found("OMPI_MCA_orte_default_hostfile", write(open_mpi)), model(all));
    EXPECT_EQ(found("I_MPI_HYDRA_HOST_FILE", write(hydra)), model(all));
  }
}

TEST_F(Grammars, DamagedFilesGiveTheirLine) {
  static const std::vector<std::string> kDamaged = {
      "-oX",       "a;b",         "a:x",           "a:-1",       "a slots=",      "a slots",
      "a slots=-", "a sluts=3",   "a port=70000",  "a user=-oX", "a max_slots=x", "@a",
      "a b",       "a:99999999",  "[::1",          "a$(x)",      "a slots=3 4",   "a:2:3 slots=1x",
      "a port=",   "a slots=1e3", "a=2",           "a = 2",      "a slots==2",    "a slots = ",
      "= a",       "n[1-",        "n[2-1] slots=2"};
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::string> lines;
    for (const Mention& each : mentions()) lines.push_back(line(each));
    const std::size_t at = below(lines.size() + 1);
    const std::string& damaged = one_of(kDamaged);
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), damaged);
    const auto hosts = rmarun::hosts_of_file(write(lines));
    ASSERT_FALSE(hosts.ok()) << damaged;
    EXPECT_THAT(std::string(hosts.status().text()),
                HasSubstr(fmt::format("host file '{}', line {}: ", path_, at + 1)));
  }
  write({"a 4 q <NULL>", "b many q <NULL>"});
  const auto allocation = rmarun::find_allocation(
      [&](const char* name) { return std::string(name) == "PE_HOSTFILE" ? path_.c_str() : nullptr; });
  EXPECT_THAT(std::string(allocation.status().text()), HasSubstr(fmt::format("'{}', line 2: ", path_)));
}

TEST_F(Grammars, AnyBytesAreReadOrRefused) {
  for (int round = 0; round < 20 * kRounds; ++round) {
    std::string text;
    for (const Mention& each : mentions()) text += word(each) + ",n[1-3,07]:2,";
    for (std::size_t changes = 1 + below(4); changes > 0; --changes)
      text[below(text.size())] =
          static_cast<char>(one_of<int>({'[', ']', ',', ':', '-', '@', '9', 0x1b, ' ', '%'}));
    const auto hosts = rmarun::hosts_of_list(text);
    if (!hosts.ok()) {
      EXPECT_EQ(std::string(hosts.status().text()).find('\x1b'), std::string::npos);
      continue;
    }
    for (const Host& host : hosts.value()) {
      EXPECT_EQ(host.name.find_first_of(" \x1b[],@"), std::string::npos) << text;
      EXPECT_FALSE(host.name.starts_with('-')) << text;
    }
  }
}

}  // namespace
