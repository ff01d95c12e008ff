// How a node is set up for RoCE, from sysfs and mlnx_qos.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::HasSubstr;

/// As the stage's script prints it of one HCA: GIDs as sysfs has them, then mlnx_qos -i.
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

/// A folder like sysfs of a node with one HCA of Ethernet and one of InfiniBand, and an mlnx_qos
/// that accepts network interfaces alone.
struct RoceNode {
  test::TemporaryFolder folder;

  RoceNode() {
    write("infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
    write("infiniband/mlx5_0/ports/1/gid_attrs/types/3", "RoCE v2\n");
    write("infiniband/mlx5_0/ports/1/gids/3", "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
    write("infiniband/mlx5_0/device/net/eth4/mtu", "9000\n");
    write("infiniband/mlx5_1/ports/1/link_layer", "InfiniBand\n");
    write("bin/mlnx_qos",
          "#!/bin/sh\n[ \"$1 $2\" = '-i eth4' ] || exit 1\n"
          "echo 'Priority trust state: dscp'\n"
          "echo '\tenabled     0   0   0   1   0   0   0   0'\n");
    std::filesystem::permissions(folder.path() / "bin/mlnx_qos", std::filesystem::perms::owner_all);
  }
  void write(const std::string& name, const std::string& text) const {
    const auto path = folder.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }
  Output run() const {
    auto script = prepared("roce")->script;
    const std::string real = "/sys/class/infiniband";
    const auto at = script.find(real);
    script.replace(at, real.size(), (folder.path() / "infiniband").string());
    return run_script(script, "PATH=" + (folder.path() / "bin").string() + ":$PATH\n");
  }
};

TEST(Roce, AsksMlnxQosByTheNameOfTheNetworkInterface) {
  const RoceNode node;

  const auto output = node.run();
  const auto found = parse(output.text);

  EXPECT_EQ(output.errors, "");
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(of_hca(*found, "roce.gid"), 3);
  EXPECT_EQ(of_hca(*found, "roce.mtu"), 9000);
  EXPECT_EQ(of_hca(*found, "roce.trust"), 1);
  EXPECT_EQ(of_hca(*found, "roce.pfc.3"), 1);
  EXPECT_EQ(value_of(*found, "roce.hcas"), 1);
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
