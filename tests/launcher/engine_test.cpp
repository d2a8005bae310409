#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "rmarun/hosts/engine_environment.hpp"
#include "rmarun/hosts/engine_names.hpp"
#include "rmarun/hosts/host_list.hpp"

// What an engine gets to know of the hosts, and of the environment.

namespace {

using rmarun::decides_start;
using rmarun::engine_name;

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
