#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "rmarun/hosts/engine_environment.hpp"
#include "rmarun/hosts/engine_names.hpp"
#include "rmarun/hosts/engine_search.hpp"
#include "rmarun/hosts/host_addresses.hpp"
#include "rmarun/hosts/host_list.hpp"

// What an engine gets to know of the hosts, and of the environment.

namespace {

using rmarun::address_of_end;
using rmarun::decides_start;
using rmarun::engine_name;
using rmarun::EngineKind;
using rmarun::host_of_end;
using rmarun::kind_of_version;

TEST(EngineNames, AreTheHosts) {
  for (const char* const name : {"a", "a.x.org", "b.x.org", "10.0.0.1", "n01-ib"})
    EXPECT_EQ(engine_name({.name = name}, "head"), name);
}

TEST(EngineNames, AreOneNameForThisHost) {
  for (const char* const name : {"localhost", "head", "head.x.org", "::1"})
    EXPECT_EQ(engine_name({.name = name}, "head.x.org"), "head.x.org");
  EXPECT_EQ(engine_name({.name = "localhost", .port = 2222}, "head"), "localhost");
}

TEST(EngineNames, HaveNoCharacterThatTheEngineRefuses) {
  std::set<std::string> names;
  for (const char* const name : {"fd99::1:1", "fd99::1:2", "fe80::1%eth0", "x_y", "x-y"})
    names.insert(engine_name({.name = name}, "head"));
  EXPECT_EQ(names.size(), 5U);
  for (const std::string& name : names) EXPECT_EQ(name.find_first_of(":%_[]"), std::string::npos) << name;
}

TEST(Engines, AreKnownByTheirVersions) {
  const std::map<std::string, std::optional<EngineKind>> kinds = {
      {"mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to", EngineKind::kMpirun},
      {"mpirun (Open MPI) 3.1.6\n", EngineKind::kMpirun},
      {"mpirun (Open MPI) 5.0.7\n\nReport bugs to", EngineKind::kPrterun},
      {"mpirun (Open MPI) 10.0.0rc1\n", EngineKind::kPrterun},
      {"prterun (PRRTE) 3.0.8\n", EngineKind::kPrterun},
      {"prte 4.0.0\n", EngineKind::kPrterun},
      {"slurm 23.02.6\n", EngineKind::kSrun},
      {"slurm-wlm 22.05.8\n", EngineKind::kSrun},
      {"HYDRA build details:\n    Version:      4.0.2\n", std::nullopt},
      {"Intel(R) MPI Library for Linux* OS, Version 2021.5\n", std::nullopt},
      {"true (GNU coreutils) 9.1\n", std::nullopt},
      {"srun: fatal: Could not establish a configuration source\n", std::nullopt},
      {"", std::nullopt}};
  for (const auto& [text, kind] : kinds) EXPECT_EQ(kind_of_version(text), kind) << text;
}

TEST(HostAddresses, AreReadFromTheSystemsTables) {
  EXPECT_EQ(address_of_end("0201630A:1F90"), "10.99.1.2");
  EXPECT_EQ(address_of_end("0000000000000000FFFF00000201630A:1F90"), "10.99.1.2");
  EXPECT_EQ(address_of_end("000099FD00000000000000000200010A:1F90"),
            "fd9900000000000000000000"
            "0a010002");
  for (const char* const none : {"", ":", "0201630:1", "xyz"}) EXPECT_EQ(address_of_end(none), "") << none;
}

TEST(HostAddresses, NameAHostThatAloneHasThem) {
  const std::string directory = testing::TempDir() + "addresses_test." + std::to_string(::getpid());
  std::filesystem::create_directory(directory);
  std::ofstream(directory + "/agent.a") << "welcome\nrmarun-address 10.99.1.1\r\nrmarun-address 172.17.0.1\n";
  std::ofstream(directory + "/agent.b") << "rmarun-address 10.99.1.2\nrmarun-address 172.17.0.1\n";
  EXPECT_EQ(host_of_end(directory, "0101630A:0016"), "a");
  EXPECT_EQ(host_of_end(directory, "0201630A:0016"), "b");
  EXPECT_EQ(host_of_end(directory, "0301630A:0016"), "");
  EXPECT_EQ(host_of_end(directory, "010011AC:0016"), "");
  EXPECT_EQ(host_of_end(directory, ""), "");
  std::filesystem::remove_all(directory);
  EXPECT_EQ(host_of_end(directory, "0101630A:0016"), "");
}

TEST(EngineEnvironment, LacksWhatDecidesTheStart) {
  for (const char* const variable :
       {"OMPI_MCA_orte_default_hostfile", "OMPI_MCA_plm", "OMPI_MCA_plm_rsh_agent",
        "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_ras", "OMPI_MCA_ess", "OMPI_MCA_oob",
        "OMPI_MCA_hwloc_base_binding_policy", "PRTE_MCA_prte_default_hostfile",
        "PRTE_MCA_rmaps_default_mapping_policy", "PMIX_MCA_plm_ssh_agent"})
    EXPECT_TRUE(decides_start(variable, false)) << variable;
  for (const char* const variable :
       {"OMPI_MCA_btl", "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_pml", "OMPI_MCA_osc", "PMIX_MCA_gds",
        "PMIX_MCA_psec", "PATH", "OMPI_MCA_", "OMPI_MCA_platform", "OMPI_MCA_oob_tcp_if_include",
        "OMPI_MCA_oob_tcp_dynamic_ipv4_ports", "PRTE_MCA_prte_if_exclude", "orte_default_hostfile"})
    EXPECT_FALSE(decides_start(variable, false)) << variable;
}

TEST(EngineEnvironment, NamesNoNetworkBesideTheCommandLine) {
  EXPECT_TRUE(decides_start("OMPI_MCA_oob_tcp_if_exclude", true));
  EXPECT_TRUE(decides_start("PRTE_MCA_prte_if_include", true));
  EXPECT_FALSE(decides_start("OMPI_MCA_oob_tcp_dynamic_ipv4_ports", true));
}

}  // namespace
