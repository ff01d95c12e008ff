#include "burnin/fabric/discovery/ufm_telemetry.h"

#include <gmock/gmock.h>

#include "tests/support/fabric_files.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::string_view kTwoSamples = R"({"timestamp": "2024-03-05 16:26:11", "values": [
  {"timestamp": 1709652347161873, "node_guid": "0x0c42a103007ab890", "port_num": 1,
   "Infiniband_SymbolErrors_u_Errors": 7, "Infiniband_LinkDowned_u_Errors": 2,
   "Infiniband_CBW_f_u_Gbps": 0},
  {"timestamp": 1709652340000000, "node_guid": "0x248a070300ef19a0", "port_num": 23,
   "Infiniband_RcvErrors_u_Errors": -5, "Infiniband_LinkRecovers_u_Errors": 1e300},
  {"node_guid": "nonsense", "port_num": 1, "Infiniband_RcvErrors_u_Errors": 1}, 5]})";

TEST(UfmTelemetry, NamesCountersAsPerfqueryAndDropsWhatIsNone) {
  const auto read = parse_ufm_telemetry(kTwoSamples);

  ASSERT_TRUE(read) << read.error().what;
  ASSERT_THAT(read->ports, SizeIs(1));
  EXPECT_EQ(read->ports[0].guid, 0x0c42a103007ab890u);
  EXPECT_THAT(read->ports[0].counters,
              ElementsAre(Pair("LinkDownedCounter", 2u), Pair("SymbolErrorCounter", 7u)));
  EXPECT_EQ(read->taken.time_since_epoch().count(), 1709652347);
}

TEST(UfmTelemetry, WithoutAPortIsAFailureToLook) {
  const auto read = parse_ufm_telemetry(R"({"values": []})");

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kNoMeasurement);
}

TEST(UfmTelemetry, ReadsTheCaptureAndJoinsItByGuid) {
  CUPEL_NEEDS_FABRIC_FILE(capture, "ufm/telemetry_small.json");
  inventory::SeenFabric seen;
  seen.devices.push_back({.guid = 0x0c42a103007ab890, .name = "n01", .hca = "mlx5_0"});

  const auto read = parse_ufm_telemetry(capture);

  ASSERT_TRUE(read) << read.error().what;
  ASSERT_THAT(read->ports, SizeIs(6));
  EXPECT_EQ(read->ports[1].counters.at("LinkDownedCounter"), 1u);
  LinkLook look;
  add_telemetry(look, *read, seen);
  EXPECT_EQ(count_of(look, {"n01", "mlx5_0", 1}, "PortRcvErrors"), 0u);
  EXPECT_EQ(count_of(look, {"n01", "mlx5_0", 2}, "PortRcvErrors"), std::nullopt);
  EXPECT_THAT(look.doubts, ElementsAre(HasSubstr("5 ports")));
}

}  // namespace
}  // namespace cupel::burnin
