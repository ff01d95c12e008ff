// How a node is set up for RoCE, from sysfs and mlnx_qos.
#include <gmock/gmock.h>

#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::HasSubstr;

/// As the shell script of an earlier version printed it of one HCA: GIDs as sysfs has them, then
/// mlnx_qos -i.
constexpr const char* kHca = R"(cupel-begin: mlx5_0
gid: 1 fe80:0000:0000:0000:966d:aeff:fe12:3456
gid: 3 0000:0000:0000:0000:0000:ffff:0a01:0203
gid: 5 0000:0000:0000:0000:0000:ffff:0a01:0204
Global tclass=106
tos: 106
mtu: 9000
ecn: 2 0 0
ecn: 3 1 1
ecn: 4 1 0
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
	prio:0 dscp:07,06,05,04,03,02,01,00,
PFC configuration:
	priority    0   1   2   3   4   5   6   7
	enabled     0   0   0   1   0   0   0   0   
	buffer      0   0   0   1   0   0   0   0   
tc: 0 ratelimit: unlimited, tsa: vendor
cupel-end
)";

std::optional<double> of_hca(const Findings& findings, std::string_view name) {
  return value_of(findings, name, "mlx5_0");
}

Result<Findings> parse(const std::string& text) {
  return stage("roce")->parse({}, Output{text, "", 0});
}

TEST(Roce, ReadsWhatASiteStatesOfItsLosslessClass) {
  const auto found = parse(kHca);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(of_hca(*found, "roce.gid"), 3) << "the first of an IPv4 address";
  EXPECT_EQ(of_hca(*found, "roce.mtu"), 9000);
  EXPECT_EQ(of_hca(*found, "roce.tclass"), 106);
  EXPECT_EQ(of_hca(*found, "roce.dscp"), 26);
  EXPECT_EQ(of_hca(*found, "roce.tos"), 106);
  EXPECT_EQ(of_hca(*found, "roce.trust"), 1);
  EXPECT_EQ(of_hca(*found, "roce.pfc.3"), 1);
  EXPECT_EQ(of_hca(*found, "roce.pfc.0"), 0);
  EXPECT_EQ(of_hca(*found, "roce.ecn.3"), 1);
  EXPECT_EQ(of_hca(*found, "roce.ecn.4"), 0) << "one end of two";
  EXPECT_EQ(value_of(*found, "roce.hcas", ""), 1);
  EXPECT_TRUE(found->unknown.empty());
}

/// As cupel-node prints it of the same HCA.
std::string agent_lines(const std::string& lines, const std::string& end = "done") {
  return R"({"kind":"stage","stage":"roce","protocol":1,"program":"cupel-node","version":"1"})"
         "\n" +
         lines + R"({"kind":")" + end + R"(","status":0})" + "\n";
}

constexpr const char* kMeasured =
    R"({"kind":"measured","name":"roce.gid","part":"mlx5_0","value":3})"
    "\n"
    R"({"kind":"evidence","name":"mlnx_qos","part":"mlx5_0","argv":["mlnx_qos","-i","eth4"],)"
    R"("status":0,"cut":false,"late":false,"out":"Priority trust state: dscp\n\tenabled     )"
    R"(0   0   0   1   0   0   0   0\n","err":""})"
    "\n"
    R"({"kind":"measured","name":"roce.hcas","part":"","value":1})"
    "\n";

TEST(Roce, ReadsWhatCupelNodePrints) {
  const auto found = parse(agent_lines(kMeasured));

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(of_hca(*found, "roce.gid"), 3);
  EXPECT_EQ(of_hca(*found, "roce.trust"), 1);
  EXPECT_EQ(of_hca(*found, "roce.pfc.3"), 1);
  EXPECT_EQ(value_of(*found, "roce.hcas"), 1);
  EXPECT_TRUE(found->unknown.empty());
}

TEST(Roce, ProvesNothingByHalfAnOutput) {
  const auto whole = agent_lines(kMeasured);

  for (const auto size : {whole.size() - 1, whole.size() / 2}) {
    const auto found = parse(whole.substr(0, size));
    ASSERT_FALSE(found) << size;
    EXPECT_THAT(found.error().what, HasSubstr("has no end"));
  }
  const auto gave_up = parse(agent_lines("{\"kind\":\"gave-up\",\"why\":\"no \\u001b[2J HCA\"}\n"));
  ASSERT_FALSE(gave_up);
  EXPECT_EQ(gave_up.error().what, "no [2J HCA");
}

TEST(Roce, TakesNoMeasureOfAnotherStageAndNoneTwice) {
  const auto found =
      parse(agent_lines(std::string{kMeasured} +
                        R"({"kind":"measured","name":"gpu.count","part":"","value":8})"
                        "\n"
                        R"({"kind":"measured","name":"roce.gid","part":"mlx5_0","value":5})"
                        "\n"
                        R"({"kind":"measured","name":"roce.mtu","part":"mlx5_0","value":null})"
                        "\n"));

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(of_hca(*found, "roce.gid"), 3);
  EXPECT_EQ(value_of(*found, "gpu.count"), std::nullopt);
  EXPECT_EQ(of_hca(*found, "roce.mtu"), std::nullopt);
}

TEST(Roce, DoesNotTakeAProgramThatCannotRunForANodeWithoutRoce) {
  const auto found =
      stage("roce")->parse({}, Output{"", "cupel-node: there is no subcommand 'stage'\n", 64});

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("there is no subcommand 'stage'"));
}

TEST(Roce, SaysWhatWasNotReportedAndTakesNoneOfItForZero) {
  const auto found = parse("cupel-begin: mlx5_1\nmtu: 1500\ncupel-end\n");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "roce.pfc.3", "mlx5_1"), std::nullopt);
  EXPECT_EQ(value_of(*found, "roce.gid", "mlx5_1"), std::nullopt);
  EXPECT_EQ(found->unknown.size(), 3u);
}

TEST(Roce, ProvesNothingWhereNoPortIsEthernet) {
  const auto found = parse("");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_THAT(found.error().what, HasSubstr("Ethernet"));
}

TEST(Roce, TakesNoNumberThatIsNone) {
  const auto found = parse(
      "cupel-begin: mlx5_0\ngid: 999 0000:0000:0000:0000:0000:ffff:0a01:0203\ngid: x y\nmtu: -1\n"
      "ecn: 9 1 1\nGlobal tclass=x\ncupel-end\n");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->measurements.size(), 1u) << "the number of HCAs alone";
}

}  // namespace
}  // namespace cupel::burnin
