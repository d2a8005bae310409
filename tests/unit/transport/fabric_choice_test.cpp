#include "transport/ofi/fabric_choice.hpp"

#include <gtest/gtest.h>
#include <rdma/fabric.h>

#include <string>
#include <utility>
#include <vector>

#include "transport/ofi/signal_guard.hpp"

namespace librma::transport {
namespace {

/// The attributes of an interface, as fi_getinfo returns them. They begin as those of provider net.
struct SampleInfo {
  SampleInfo() {
    info.tx_attr = &transmit;
    info.rx_attr = &receive;
    info.ep_attr = &endpoint;
    info.domain_attr = &domain;
    info.fabric_attr = &fabric;
    transmit.msg_order =
        FI_ORDER_SAS | FI_ORDER_WAW | FI_ORDER_RAW | FI_ORDER_SAW | FI_ORDER_WAS | FI_ORDER_RAR;
    transmit.inject_size = 128;
    transmit.iov_limit = receive.iov_limit = 4;
    endpoint.max_msg_size = ~std::size_t{0};
    domain.mr_key_size = 8;
  }
  SampleInfo(const SampleInfo&) = delete;
  SampleInfo& operator=(const SampleInfo&) = delete;

  fi_tx_attr transmit = {};
  fi_rx_attr receive = {};
  fi_ep_attr endpoint = {};
  fi_domain_attr domain = {};
  fi_fabric_attr fabric = {};
  fi_info info = {};
};

void expect_refused(const SampleInfo& sample, const std::string& why) {
  auto traits = FabricTraits::of(sample.info);
  ASSERT_FALSE(traits.ok());
  EXPECT_EQ(traits.status().code(), RMA_ERR_UNSUPPORTED);
  EXPECT_NE(traits.status().text().find(why), std::string::npos) << traits.status().text();
}

TEST(FabricTraits, TcpNamesMemoryByOffsetsAndKeepsOrder) {
  const SampleInfo sample;
  auto traits = FabricTraits::of(sample.info);
  ASSERT_TRUE(traits.ok()) << traits.status().text();
  EXPECT_TRUE(traits->offsets);
  EXPECT_TRUE(traits->ordered);
  EXPECT_FALSE(traits->provider_keys || traits->local_keys || traits->bound_regions);
  EXPECT_EQ(traits->inline_bytes, 128U);
  EXPECT_EQ(traits->gather, 4U);
  EXPECT_LE(traits->max_message, std::uint64_t{1} << 30U) << "one write must not hold up all others";
}

TEST(FabricTraits, VerbsUnderRxmNamesMemoryByAddresses) {
  SampleInfo sample;
  sample.domain.mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  sample.domain.mr_key_size = 4;
  auto traits = FabricTraits::of(sample.info);
  ASSERT_TRUE(traits.ok()) << traits.status().text();
  EXPECT_FALSE(traits->offsets);
  EXPECT_TRUE(traits->provider_keys && traits->local_keys);
}

TEST(FabricTraits, EfaKeepsNoOrder) {
  SampleInfo sample;
  sample.domain.mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  sample.transmit.msg_order = FI_ORDER_SAS;
  auto traits = FabricTraits::of(sample.info);
  ASSERT_TRUE(traits.ok()) << traits.status().text();
  EXPECT_FALSE(traits->ordered);
}

TEST(FabricTraits, CxiBindsRegistrationsToItsEndpointButItsKeysAreShort) {
  SampleInfo sample;
  sample.domain.mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED;
  sample.domain.mr_key_size = 8;
  auto traits = FabricTraits::of(sample.info);
  ASSERT_TRUE(traits.ok()) << traits.status().text();
  EXPECT_TRUE(traits->bound_regions);
  sample.domain.mr_key_size = 4;
  expect_refused(sample, "keys of 4 bytes");
  sample.domain.mr_mode |= FI_MR_PROV_KEY;
  sample.domain.mr_key_size = 8;
  expect_refused(sample, "that it chooses");
}

TEST(FabricTraits, AMessageAndItsMarkAreTwoPieces) {
  SampleInfo sample;
  sample.transmit.iov_limit = 2;
  EXPECT_TRUE(FabricTraits::of(sample.info).ok());
  sample.transmit.iov_limit = 1;
  expect_refused(sample, "iov_limit");
}

TEST(FabricTraits, Psm3AndOpxNeedContexts) {
  SampleInfo sample;
  sample.info.mode = FI_CONTEXT;
  EXPECT_TRUE(FabricTraits::of(sample.info).ok());
  sample.info.mode = FI_CONTEXT2;
  EXPECT_TRUE(FabricTraits::of(sample.info).ok());
  sample.info.mode = FI_CONTEXT | FI_MSG_PREFIX;
  expect_refused(sample, "mode bits");
}

TEST(FabricTraits, LongKeysAreRefused) {
  SampleInfo sample;
  sample.domain.mr_mode = FI_MR_RAW | FI_MR_VIRT_ADDR;
  expect_refused(sample, "FI_MR_RAW");
  sample.domain.mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  sample.domain.mr_key_size = 16;
  expect_refused(sample, "longer than 8 bytes");
}

FabricCandidate candidate(const std::string& provider, const std::string& device,
                          const std::string& unusable = "") {
  return {.provider = provider,
          .device = device,
          .fabric = "10.0.0.0/24",
          .info = nullptr,
          .traits = {},
          .unusable = unusable};
}

/// Returns the names of those that are used, in their order.
std::vector<std::string> used(std::vector<FabricCandidate> candidates, const std::string& devices,
                              const std::string& default_interface) {
  choose_fabrics(candidates, devices, default_interface);
  std::vector<std::string> names;
  for (const FabricCandidate& one : candidates) {
    if (one.unusable.empty()) names.push_back(one.provider + " " + one.device);
  }
  return names;
}

std::vector<FabricCandidate> ethernet() {
  std::vector<FabricCandidate> all;
  for (const char* const device : {"lo", "docker0", "eth0", "eth1"}) all.push_back(candidate("tcp", device));
  return all;
}

using Names = std::vector<std::string>;

TEST(FabricChoice, TheInterfaceOfTheDefaultRouteIsUsedAlone) {
  EXPECT_EQ(used(ethernet(), "", "eth0"), Names{"tcp eth0"});
}

TEST(FabricChoice, WithoutARouteTheFirstOtherThanLoIsUsed) {
  EXPECT_EQ(used(ethernet(), "", ""), Names{"tcp docker0"});
}

TEST(FabricChoice, LoIsUsedIfThereIsNoOther) {
  std::vector<FabricCandidate> all;
  all.push_back(candidate("tcp", "lo"));
  EXPECT_EQ(used(std::move(all), "", ""), Names{"tcp lo"});
}

TEST(FabricChoice, TheUserNamesSeveralInTheirOrder) {
  EXPECT_EQ(used(ethernet(), "eth1,eth0", "eth0"), (Names{"tcp eth1", "tcp eth0"}));
  EXPECT_EQ(used(ethernet(), " eth1 ,\teth0,, ", "eth0"), (Names{"tcp eth1", "tcp eth0"}));
  EXPECT_EQ(used(ethernet(), "eth7", "eth0"), Names{});
}

TEST(FabricChoice, EveryDeviceOfAFabricOfItsOwnIsUsed) {
  std::vector<FabricCandidate> all;
  for (const char* const device : {"cxi0", "cxi1"}) all.push_back(candidate("cxi", device));
  all.push_back(candidate("tcp", "eth0"));
  EXPECT_EQ(used(std::move(all), "", "eth0"), (Names{"cxi cxi0", "cxi cxi1"}));
}

TEST(FabricChoice, AProviderThatIsRefusedLeavesTheFieldToTheNext) {
  std::vector<FabricCandidate> all;
  all.push_back(candidate("opx", "hfi1_0", "its keys"));
  all.push_back(candidate("tcp", "eth0"));
  EXPECT_EQ(used(std::move(all), "", "eth0"), Names{"tcp eth0"});
}

TEST(FabricChoice, LibfabricFindsLoHereAndLeavesTheSignalsToTheProgram) {
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGSEGV, nullptr, &before), 0);
  auto found = find_fabrics({.providers = "tcp,net", .devices = "lo"});
  ASSERT_TRUE(found.ok()) << found.status().text();
  Names names;
  for (const FabricCandidate& one : found.value()) {
    if (one.unusable.empty()) names.push_back(one.device);
  }
  EXPECT_EQ(names, Names{"lo"});
  struct sigaction after = {};
  ASSERT_EQ(sigaction(SIGSEGV, nullptr, &after), 0);
  EXPECT_EQ(before.sa_sigaction, after.sa_sigaction);
}

}  // namespace
}  // namespace librma::transport
