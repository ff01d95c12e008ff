#include "burnin/fabric/discovery/rdma_counters.h"

#include <gmock/gmock.h>

#include "burnin/fabric/link_health.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kPrinted =
    "/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data:123456\n"
    "/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_errors:3\n"
    "/sys/class/infiniband/mlx5_0/ports/1/counters/VL15_dropped:0\n"
    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:12\n"
    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/local_ack_timeout_err:1\n"
    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan:10\n"
    "grep: /sys/class/infiniband/mlx5_1/ports/1/counters/x: Invalid argument\n"
    "/sys/class/infiniband/mlx5_1/ports/2/hw_counters/rp_cnp_handled:99\n";

TEST(RdmaCounters, AreNamedAsThoseOfThePort) {
  const auto found = parse_rdma_counters(kPrinted);

  ASSERT_TRUE(found) << found.error().what;
  const HostCounters expected{{{"mlx5_0", 1},
                               {{"PortRcvErrors", 3},
                                {"VL15Dropped", 0},
                                {"local_ack_timeout_err", 1},
                                {"out_of_sequence", 12}}},
                              {{"mlx5_1", 2}, {{"rp_cnp_handled", 99}}}};
  EXPECT_EQ(*found, expected);
}

TEST(RdmaCounters, OfEthtoolArePausesDiscardsAndErrors) {
  const auto found = parse_ethtool_counters(
      "NIC statistics:\n     rx_packets: 99\n     rx_discards_phy: 7\n     rx_prio3_pause: 41\n"
      "     rx_prio3_pause_duration: 5\n     rx_crc_errors_phy: 0\n     tx_bytes: 3\n");

  ASSERT_TRUE(found) << found.error().what;
  const CounterValues expected{
      {"rx_crc_errors_phy", 0}, {"rx_discards_phy", 7}, {"rx_prio3_pause", 41}};
  EXPECT_EQ(*found, expected);
}

TEST(RdmaCounters, ThatAreNotThereAreNoZeros) {
  for (const auto* nothing : {"", "bash: grep: command not found\n", "a/b/c:1\n"}) {
    const auto found = parse_rdma_counters(nothing);
    ASSERT_FALSE(found) << nothing;
    EXPECT_EQ(found.error().code, Code::kNoMeasurement);
    EXPECT_FALSE(parse_ethtool_counters(nothing));
  }
}

TEST(RdmaCounters, OfALinkAreJudgedAndThoseOfRoceListedAsTheyGrew) {
  LinkLook before{.taken = std::chrono::sys_seconds{}},
      after{.taken = std::chrono::sys_seconds{} + std::chrono::hours{3}};
  for (auto* look : {&before, &after})
    look->links = {{{"n01", "mlx5_0", 1}, {"leaf1", "", 1}, 4, "NDR"}};
  add_host_counters(before, "n01", *parse_rdma_counters(kPrinted));
  auto grown = *parse_rdma_counters(kPrinted);
  grown[{"mlx5_0", 1}]["out_of_sequence"] = 512;
  grown[{"mlx5_0", 1}]["PortRcvErrors"] = 4;
  add_host_counters(after, "n01", grown);

  const auto health = judge_links(&before, after);

  ASSERT_EQ(health.findings.size(), 1u);
  EXPECT_THAT(health.findings[0].defects[0].what,
              HasSubstr("PortRcvErrors grew by 1 at n01 mlx5_0"));
  EXPECT_THAT(health.listed,
              ElementsAre("out_of_sequence grew by 500 at n01 mlx5_0 in 180 minutes"));
}

TEST(RdmaCounters, OfAFolderWithoutLinksAreListedAndNotJudged) {
  LinkLook before{.taken = std::chrono::sys_seconds{}},
      after{.taken = std::chrono::sys_seconds{} + std::chrono::hours{3}};
  add_host_counters(before, "n01", *parse_rdma_counters(kPrinted));
  auto grown = *parse_rdma_counters(kPrinted);
  grown[{"mlx5_1", 2}]["rp_cnp_handled"] = 100;
  add_host_counters(after, "n01", grown);

  const auto health = judge_links(&before, after);

  EXPECT_THAT(health.findings, IsEmpty());
  EXPECT_FALSE(health.passed());
  EXPECT_THAT(health.listed,
              ElementsAre("rp_cnp_handled grew by 1 at n01 mlx5_1 port 2 in 180 minutes"));
}

}  // namespace
}  // namespace cupel::burnin
