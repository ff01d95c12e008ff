#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "inventory/load.h"
#include "inventory/slurm_topology.h"
#include "tests/support/captures.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Loaded load(std::string_view fabric, std::string_view profile = "hgx-h100-8") {
  return parse_inventory(fmt::format(R"(
site: test
defaults:
  profile: {}
  bmc: {{user: admin, password: "env:BMC", tls: {{trust: first-use}}}}
  ssh: {{user: root}}
nodes:
  - {{name: "n[01-08]", bmc: {{address: "10.0.1.[11-18]"}}, ssh: {{address: "10.0.2.[11-18]"}}}}
fabric:
{})",
                                     profile, fabric),
                         "site.yaml", ".");
}

std::vector<std::string> texts(const std::vector<Problem>& problems) {
  std::vector<std::string> found;
  for (const auto& problem : problems)
    found.push_back(to_string(problem.where) + ": " + problem.what);
  return found;
}

TEST(ReadFabric, MakesThePlanOfARule) {
  const auto loaded = load(
      "  layout: rail-optimised\n"
      "  hcas: [mlx5_0, mlx5_1, mlx5_6, mlx5_7]\n"
      "  group: 4\n"
      "  spines: 2\n"
      "  ports_per_cage: 2\n"
      "  leaf: \"l{group}-{rail}\"\n"
      "  switches: [{name: spine2, guid: \"0xb0cf0e0300000700\", location: \"rack s1, U40\"}]\n");

  ASSERT_TRUE(loaded.inventory) << ::testing::PrintToString(texts(loaded.problems));
  const auto& fabric = loaded.inventory->fabric->fabric;
  const FabricMap map{fabric};
  EXPECT_EQ(map.rail_port("n06", 2), (RailPort{"mlx5_6", "l2-3", 2}));
  EXPECT_EQ(map.find_switch("spine2")->guid, "b0cf0e0300000700");
  EXPECT_EQ(map.find_switch("spine2")->location, "rack s1, U40");
}

TEST(ReadFabric, ReportsAllProblemsAtOnceWithTheirPlaces) {
  const auto loaded = load(
      "  layout: torus\n"
      "  hcas: [mlx5_0, mlx5_0]\n"
      "  group: 4\n"
      "  spines: 1\n"
      "  leaf: \"leaf{group}\"\n"
      "  switches: [{name: spine9}]\n"
      "  gruop: 5\n");

  EXPECT_THAT(texts(loaded.problems),
              ::testing::AllOf(
                  ::testing::Contains("site.yaml:10:11: layout must be rail-optimised or fat-tree"),
                  ::testing::Contains(HasSubstr("leaf must have {rail}")),
                  ::testing::Contains(HasSubstr("goes to a switch 'spine9'")),
                  ::testing::Contains(HasSubstr("unknown key 'gruop'")),
                  ::testing::Contains(HasSubstr("mlx5_0 stands twice")),
                  ::testing::Contains(HasSubstr("two switches are named 'leaf1'"))))
      << ::testing::PrintToString(texts(loaded.problems));
}

TEST(ReadFabric, TakesWhatNcclMustKnowOfTheNetwork) {
  const auto loaded = load(
      "  hcas: [mlx5_0]\n  group: 8\n"
      "  nccl: {interface: bond0, environment: \"NCCL_IB_SL=1 NCCL_IB_TC=106\", address: any}\n");

  ASSERT_TRUE(loaded.inventory) << ::testing::PrintToString(texts(loaded.problems));
  const NcclSettings expected{.interface = "bond0",
                              .environment = {{"NCCL_IB_SL", "1"}, {"NCCL_IB_TC", "106"}},
                              .any_address = true};
  EXPECT_EQ(loaded.inventory->fabric->nccl, expected);
}

TEST(ReadFabric, RefusesForNcclWhatAShellOrAnotherProgramWouldRead) {
  const auto loaded = load(
      "  hcas: [mlx5_0]\n  group: 8\n"
      "  nccl: {interface: \"eth0; reboot\", environment: \"NCCL_IB_SL=$(id) PATH=/tmp\", "
      "address: all, speed: 1}\n");

  EXPECT_THAT(texts(loaded.problems),
              ::testing::AllOf(
                  ::testing::Contains("site.yaml:12:21: interface must be a network interface, not "
                                      "'eth0; reboot'"),
                  ::testing::Contains(HasSubstr("environment must be NAME=VALUE")),
                  ::testing::Contains(HasSubstr("address must be inventory or any")),
                  ::testing::Contains(HasSubstr("unknown key 'speed'"))))
      << ::testing::PrintToString(texts(loaded.problems));
}

TEST(ReadFabric, TakesAUfmWithATokenOrAUserAndPassword) {
  const auto with = [](std::string_view ufm) {
    return load(fmt::format("  hcas: [mlx5_0]\n  group: 8\n  ufm: {{{}}}\n", ufm));
  };

  const auto token = with("url: \"https://ufm/\", token: \"file:ufm.token\"");
  const auto password = with("url: \"https://ufm:8443\", user: admin, password: \"env:UFM\"");

  ASSERT_TRUE(token.inventory) << ::testing::PrintToString(texts(token.problems));
  const auto& ufm = *token.inventory->fabric->ufm;
  EXPECT_EQ(ufm.url, "https://ufm");
  EXPECT_EQ(ufm.user, "");
  EXPECT_EQ(ufm.secret.kind, SecretRef::Kind::file);
  EXPECT_THAT(ufm.secret.where, HasSubstr("ufm.token"));
  ASSERT_TRUE(password.inventory) << ::testing::PrintToString(texts(password.problems));
  EXPECT_EQ(password.inventory->fabric->ufm->user, "admin");
  EXPECT_EQ(password.inventory->fabric->ufm->secret.where, "UFM");
}

TEST(ReadFabric, RefusesAUfmWithoutTlsOrWithASecretThatIsWrittenDown) {
  const auto loaded = load(
      "  hcas: [mlx5_0]\n  group: 8\n"
      "  ufm: {url: \"http://ufm\", user: admin, password: \"123456\", token: \"env:X\", "
      "ca: no-such.pem, insecure: true}\n");

  EXPECT_THAT(texts(loaded.problems),
              ::testing::AllOf(
                  ::testing::Contains(HasSubstr("url must begin with https://")),
                  ::testing::Contains(HasSubstr("ufm needs user: and password:, or token: alone")),
                  ::testing::Contains(HasSubstr("there is no file")),
                  ::testing::Contains(HasSubstr("unknown key 'insecure'"))))
      << ::testing::PrintToString(texts(loaded.problems));
  const auto written = load(
      "  hcas: [mlx5_0]\n  group: 8\n"
      "  ufm: {url: \"https://ufm\", user: admin, password: \"123456\"}\n");
  EXPECT_THAT(texts(written.problems),
              ::testing::ElementsAre(HasSubstr("must say where it is kept: env:NAME")));
  EXPECT_THAT(texts(written.problems)[0], ::testing::Not(HasSubstr("123456")));
}

TEST(ReadFabric, AsksForTheComputeHcasWhereTheProfileDoesNotListThem) {
  const auto loaded = load("  group: 8\n", "a100-8");

  EXPECT_THAT(texts(loaded.problems),
              ElementsAre(HasSubstr("the profile a100-8 does not list its compute HCAs")));
}

TEST(ReadFabric, ReportsACableFileThatIsNotThere) {
  const auto loaded = load("  hcas: [mlx5_0]\n  cables: nowhere.csv\n");

  EXPECT_THAT(texts(loaded.problems), ElementsAre(HasSubstr("nowhere.csv")));
}

TEST(ReadFabric, CallsForwardingTablesStaleThatAreOlderThanTheCables) {
  namespace fs = std::filesystem;
  const test::TemporaryFolder folder;
  const auto cables = folder.path() / "cables.csv", tables = folder.path() / "forwarding.txt";
  std::string rows = "Source,Source Port,Destination,Destination Port\n";
  for (int node = 1; node <= 8; ++node) rows += fmt::format("n{0:02},mlx5_0,leaf1,{0}\n", node);
  std::ofstream{cables} << rows;
  std::ofstream{tables}
      << "Unicast lids [0x0-0x5] of switch Lid 1 guid 0xb0cf0e0300000100 (leaf1):\n"
         "0x0002 001 : (Channel Adapter portguid 0xa088c20300000000: 'n01 "
         "mlx5_0')\n";
  const auto stale = [&](std::chrono::hours older) {
    fs::last_write_time(tables, fs::last_write_time(cables) - older);
    const auto loaded = load(fmt::format("  hcas: [mlx5_0]\n  cables: {}\n  forwarding: {}\n",
                                         cables.string(), tables.string()));
    EXPECT_TRUE(loaded.inventory) << ::testing::PrintToString(texts(loaded.problems));
    return loaded.inventory ? loaded.inventory->fabric->forwarding.stale()
                            : std::string{"not read"};
  };

  EXPECT_THAT(stale(std::chrono::hours{24}), HasSubstr("cables.csv was changed: run dump_fts"));
  EXPECT_EQ(stale(std::chrono::hours{0}), "");
  EXPECT_EQ(stale(std::chrono::hours{-24}), "");
}

TEST(SlurmTopology, HasASwitchForEachGroupAndOneAboveThem) {
  const auto loaded = load("  hcas: [mlx5_0, mlx5_1]\n  group: 4\n  spines: 2\n");
  ASSERT_TRUE(loaded.inventory) << ::testing::PrintToString(texts(loaded.problems));

  EXPECT_EQ(topology_conf(loaded.inventory->fabric->fabric),
            "SwitchName=group1 Nodes=n[01-04]\n"
            "SwitchName=group2 Nodes=n[05-08]\n"
            "SwitchName=fabric Switches=group[1-2]\n");
  EXPECT_THAT(topology_yaml(loaded.inventory->fabric->fabric),
              HasSubstr("      - switch: group2\n        nodes: n[05-08]\n"));
}

}  // namespace
}  // namespace cupel::inventory
