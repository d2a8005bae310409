#include "devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace librma::info {
namespace {

using testing::HasSubstr;
using testing::Not;

transport::Port made_up(const std::string& device) {
  transport::Port port;
  port.device = device;
  port.ethernet = true;
  port.mtu = IBV_MTU_4096;
  port.gid_index = 3;
  port.gid_type = "RoCE v2";
  port.gid.raw[10] = port.gid.raw[11] = 0xff;
  port.gid.raw[12] = 10;
  port.gid.raw[15] = 7;
  port.max_message = 1U << 30U;
  port.attributes.phys_port_cnt = 1;
  port.attributes.max_sge = 30;
  port.attributes.max_qp_wr = 8192;
  port.attributes.max_cqe = 4095;
  port.attributes.max_srq = 64;
  port.attributes.atomic_cap = IBV_ATOMIC_HCA;
  return port;
}

TEST(Devices, NoneIsSaid) {
  EXPECT_THAT(devices_text({}), HasSubstr("none"));
  EXPECT_THAT(devices_summary({}), HasSubstr("none"));
  EXPECT_TRUE(devices_json({}).empty());
  EXPECT_TRUE(devices_json({}).is_array());
}

TEST(Devices, UsablePortsBecomeRailsUpToFour) {
  std::vector<transport::Port> ports;
  for (const char* const name : {"a", "b", "c", "d", "e", "f"}) ports.push_back(made_up(name));
  ports[1].unusable = "it is PORT_DOWN";
  const auto choices = choose_rails(ports);
  ASSERT_EQ(choices.size(), 6U);
  const std::array<int, 6> expected = {0, -1, 1, 2, 3, -1};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(choices[i].rail, expected[i]) << i;
    EXPECT_EQ(choices[i].why_not.empty(), expected[i] >= 0) << i;
  }
  EXPECT_EQ(choices[1].why_not, "it is PORT_DOWN");
  EXPECT_THAT(choices[5].why_not, HasSubstr("4 rails are the most"));
}

TEST(Devices, ThePageShowsWhatAPortCanDo) {
  const std::string page = devices_text({made_up("mlx5_0")});
  for (const char* const part :
       {"mlx5_0 port 1: rail 0", "Ethernet", "4096", "GID 3", "RoCE v2", "::ffff:10.0.0.7", "1073741824",
        "30 pieces", "8192", "4095", "atomics on 8 bytes: yes", "shared receive queues: yes"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  transport::Port plain = made_up("ib0");
  plain.ethernet = false;
  plain.lid = 77;
  plain.gid_type = "IB";
  plain.attributes.atomic_cap = IBV_ATOMIC_NONE;
  EXPECT_THAT(devices_text({plain}), HasSubstr("InfiniBand"));
  EXPECT_THAT(devices_text({plain}), HasSubstr("LID 77"));
  EXPECT_THAT(devices_text({plain}), HasSubstr("atomics on 8 bytes: no"));
}

TEST(Devices, OfADeviceThatCannotBeAskedOnlyTheReasonIsShown) {
  transport::Port silent;
  silent.device = "mlx5_9";
  silent.unusable = "it cannot be opened: Permission denied";
  const std::string page = devices_text({silent});
  EXPECT_THAT(page, HasSubstr("mlx5_9 port 1: not used: it cannot be opened: Permission denied"));
  EXPECT_THAT(page, Not(HasSubstr("limits")));
  const auto json = devices_json({silent});
  EXPECT_EQ(json[0]["why_not_used"], silent.unusable);
  EXPECT_FALSE(json[0].contains("mtu"));
}

TEST(Devices, TheJsonHasTheSame) {
  const auto json = devices_json({made_up("mlx5_0")});
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["device"], "mlx5_0");
  EXPECT_EQ(json[0]["rail"], 0);
  EXPECT_EQ(json[0]["mtu"], 4096);
  EXPECT_EQ(json[0]["gid"]["index"], 3);
  EXPECT_EQ(json[0]["gid"]["address"], "::ffff:10.0.0.7");
  EXPECT_EQ(json[0]["atomics"], true);
}

}  // namespace
}  // namespace librma::info
