// `cupel fabric` as a person calls it, on folders and files that fabric tools would have written.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "tests/e2e/cupel_binary.h"

namespace cupel::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr int kNodes = 6;

/// As ibnetdiscover prints one leaf with a node at each port; `ports`: of node 1, 2, ...
std::string discovered(const std::array<int, kNodes>& ports) {
  std::string text = "Switch\t41 \"S-a088c20300000010\"\t\t# \"MF0;leaf1:MQM8700/U1\" lid 1\n";
  std::string hcas;
  for (int node = 1; node <= kNodes; ++node) {
    const auto guid = fmt::format("a088c203000001{:02}", node);
    const auto port = ports[static_cast<std::size_t>(node - 1)];
    text += fmt::format("[{}]\t\"H-{}\"[1]({}) \t\t# \"n{:02} mlx5_0\" lid {} 4xHDR\n", port, guid,
                        guid, node, node + 1);
    hcas += fmt::format(
        "\nCa\t1 \"H-{}\"\t\t# \"n{:02} mlx5_0\"\n[1]({}) \t\"S-a088c20300000010\"[{}]\t\t# lid {} "
        "\"MF0;leaf1:MQM8700/U1\" 4xHDR\n",
        guid, node, guid, port, node + 1);
  }
  return text + hcas;
}

std::string counted(int errors) {
  return fmt::format(
      "Errors for \"n03 mlx5_0\"\n   GUID 0xa088c20300000103 port 1: [PortRcvErrors == {}]\n\n"
      "## Summary: 7 nodes checked, 1 bad nodes found\n##          12 ports checked, 1 ports have "
      "errors beyond threshold\n## Thresholds: \n## Suppressed:\n",
      errors);
}

class FabricCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cupel-fabric-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Whole at once, as a person does it with mv.
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream{folder / "new"} << text;
    fs::rename(folder / "new", folder / name);
  }
  std::string at(const std::string& name) const { return (folder / name).string(); }

  /// With the cables of a file, where one is named.
  void write_inventory(const std::string& cables = {}) const {
    write("inventory.yaml",
          std::string{"site: test\ndefaults:\n  profile: hgx-h100-8\n"
                      "  bmc: {user: admin, password: \"env:BMC\", tls: {trust: first-use}}\n"
                      "  ssh: {user: root}\nnodes:\n"
                      "  - {name: \"n[01-06]\", bmc: {address: \"10.0.1.[11-16]\"}, "
                      "ssh: {address: \"10.0.2.[11-16]\"}}\n"} +
              (cables.empty() ? "fabric: {layout: fat-tree, hcas: [mlx5_0], group: 6}\n"
                              : "fabric: {hcas: [mlx5_0], cables: " + cables + "}\n"));
  }

  /// A folder that was filled so long before now, with so many errors of n03.
  void write_look(const std::string& name, int errors, std::chrono::minutes ago) const {
    write(name + "/ibnetdiscover.txt", discovered({1, 2, 3, 4, 5, 6}));
    write(name + "/ibqueryerrors.txt", counted(errors));
    for (const auto* file : {"/ibnetdiscover.txt", "/ibqueryerrors.txt"})
      fs::last_write_time(folder / (name + file), fs::file_time_type::clock::now() - ago);
  }

  ProcessOutcome cupel(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--state", at("state")});
    return run_cupel(std::move(words));
  }
  ProcessOutcome health(const std::string& now, const std::string& before) const {
    return cupel({"fabric", "health", at(now), "--before", at(before), "--interval", "130m"});
  }

  fs::path folder;
};

TEST_F(FabricCommands, PlanSaysWhatThePlanMeansAndListsItsCables) {
  write_inventory();
  const auto plan = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"fabric", "plan", "-i", at("inventory.yaml")};
    words.insert(words.end(), more.begin(), more.end());
    return cupel(words);
  };

  const auto text = plan({}), every = plan({"--cables"}), json = plan({"--json"});

  EXPECT_EQ(text.exit_status, 0) << text.error;
  EXPECT_THAT(text.output, HasSubstr("6 nodes with 1 rails, 1 leaves, 0 spines, 0 cores\n"
                                     "6 cables: 6 from nodes to leaves, 0 between switches\n"));
  EXPECT_THAT(text.output, ContainsRegex("RAIL +HCA OF n01 +LEAF +PORT\n +1 +mlx5_0 +leaf1 +1\n"));
  EXPECT_THAT(text.output, Not(HasSubstr("n06 mlx5_0")));
  EXPECT_EQ(every.exit_status, 0) << every.error;
  EXPECT_THAT(every.output, ContainsRegex("FROM +TO +SPEED\n"));
  EXPECT_THAT(every.output, ContainsRegex("n06 mlx5_0 \\(rail 1\\) +leaf1 port 6\n"));
  EXPECT_EQ(json.exit_status, 0) << json.error;
  const auto document = boost::json::parse(json.output).as_object();
  EXPECT_EQ(document.at("nodes").to_number<int>(), 6);
  ASSERT_EQ(document.at("cables").as_array().size(), 6u);
  EXPECT_EQ(boost::json::serialize(document.at("cables").as_array()[2]),
            R"({"from":{"device":"n03","port":1,"hca":"mlx5_0"},)"
            R"("to":{"device":"leaf1","port":3},"speed":""})");
  EXPECT_EQ(boost::json::serialize(document.at("switches").as_array()[0]),
            R"({"name":"leaf1","level":"leaf","group":0,"rail":-1,"plane":0})");
}

TEST_F(FabricCommands, PlanOfAFileListsKindsLengthsAndSerialNumbers) {
  write_inventory("cables.csv");
  write("cables.csv",
        "A-Node Name,A-Port,Z-Node Name,Z-Port,Cable Type,Cable Length,Cable Serial\n"
        "n01,mlx5_0,leaf1,1,DAC,2.5,MT2201VS00001\nn02,mlx5_0,leaf1,2,AOC,10,\n"
        "n03,mlx5_0,leaf1,3,,,\nn04,mlx5_0,leaf1,4,,,\nn05,mlx5_0,leaf1,5,,,\n"
        "n06,mlx5_0,leaf1,6,,,\n");

  const auto every = cupel({"fabric", "plan", "-i", at("inventory.yaml"), "--cables"});
  const auto json = cupel({"fabric", "plan", "-i", at("inventory.yaml"), "--json"});

  EXPECT_EQ(every.exit_status, 0) << every.error;
  EXPECT_THAT(every.output, ContainsRegex("FROM +TO +SPEED +TYPE +LENGTH +SERIAL NUMBERS\n"));
  EXPECT_THAT(every.output, ContainsRegex("n01 mlx5_0.*DAC +2.5 m +MT2201VS00001\n"));
  EXPECT_THAT(json.output, HasSubstr(R"("type":"DAC","metres":2.5E0,"serial":"MT2201VS00001")"));
}

TEST_F(FabricCommands, PlanWithoutFabricInTheInventoryIsRefused) {
  write_inventory();
  write("bare.yaml",
        "site: test\ndefaults:\n  profile: hgx-h100-8\n"
        "  bmc: {user: admin, password: \"env:BMC\", tls: {trust: first-use}}\n"
        "  ssh: {user: root}\nnodes:\n"
        "  - {name: n01, bmc: {address: 10.0.1.11}, ssh: {address: 10.0.2.11}}\n");

  const auto without = cupel({"fabric", "plan", "-i", at("bare.yaml")});

  EXPECT_EQ(without.exit_status, 2);
  EXPECT_THAT(without.error, HasSubstr("has no cable plan: add fabric:"));
}

TEST_F(FabricCommands, AuditPrintsFindingsMovesBySwitchAndJson) {
  write_inventory();
  write("found.txt", discovered({2, 1, 3, 4, 5, 6}));
  write("right.txt", discovered({1, 2, 3, 4, 5, 6}));
  write("empty.txt", "");
  const auto audit = [&](const char* file, std::vector<std::string> more) {
    std::vector<std::string> words{"fabric",          "audit", "-i", at("inventory.yaml"),
                                   "--ibnetdiscover", at(file)};
    words.insert(words.end(), more.begin(), more.end());
    return cupel(words);
  };

  const auto text = audit("found.txt", {}), list = audit("found.txt", {"--list"}),
             json = audit("found.txt", {"--json"});

  EXPECT_EQ(text.exit_status, 1) << text.error;
  EXPECT_THAT(text.output, HasSubstr("swapped: n01 mlx5_0 (rail 1) is in leaf1 port 2, belongs in "
                                     "leaf1 port 1; n02 mlx5_0 (rail 1) is in leaf1 port 1"));
  EXPECT_THAT(text.output,
              HasSubstr("4 of 6 cables are in their ports; 1 findings, 2 plugs to move\n"));
  EXPECT_EQ(list.exit_status, 1);
  EXPECT_EQ(list.output,
            "leaf1\n"
            "  [ ] unplug leaf1 port 2: n01 mlx5_0 (rail 1)\n"
            "  [ ] move n02 mlx5_0 (rail 1) from leaf1 port 1 to leaf1 port 2\n"
            "  [ ] plug n01 mlx5_0 (rail 1) into leaf1 port 1\n");
  EXPECT_EQ(json.exit_status, 1);
  const auto document = boost::json::parse(json.output).as_object();
  EXPECT_EQ(document.at("planned").to_number<int>(), 6);
  EXPECT_EQ(document.at("right").to_number<int>(), 4);
  ASSERT_EQ(document.at("findings").as_array().size(), 1u);
  const auto& finding = document.at("findings").as_array()[0].as_object();
  EXPECT_EQ(finding.at("fault"), "swapped");
  EXPECT_EQ(boost::json::serialize(finding.at("moves").as_array()[1]),
            R"({"cable":{"device":"n02","port":1,"hca":"mlx5_0"},)"
            R"("from":{"device":"leaf1","port":1},"to":{"device":"leaf1","port":2}})");
  EXPECT_EQ(audit("right.txt", {}).exit_status, 0);
  EXPECT_EQ(audit("empty.txt", {}).exit_status, 3);
  EXPECT_EQ(audit("nowhere.txt", {}).exit_status, 2);
}

TEST_F(FabricCommands, HealthComparesCablesWithThePlanOfTheInventoryThatIsNamed) {
  write_inventory("cables.csv");
  std::string cables = "A-Node Name,A-Port,Z-Node Name,Z-Port,Cable Length\n";
  for (int node = 1; node <= kNodes; ++node)
    cables += fmt::format("n{:02},mlx5_0,leaf1,{},3\n", node, node);
  write("cables.csv", cables);
  write_look("now", 0, std::chrono::minutes{1});
  write("now/mlxlink/n04/mlx5_0.txt",
        "State : Active\nPhysical state : LinkUp\nCable Type : Passive copper cable\n"
        "Transfer Distance [m] : 5\n");

  const auto with = cupel({"fabric", "health", at("now"), "-i", at("inventory.yaml")});
  const auto nowhere = cupel({"fabric", "health", at("now"), "-i", at("nowhere.yaml")});

  EXPECT_EQ(with.exit_status, 1) << with.output << with.error;
  EXPECT_THAT(with.output, HasSubstr("wrong-length: 5 m at n04 mlx5_0, planned 3 m"));
  EXPECT_EQ(nowhere.exit_status, 2);
}

TEST_F(FabricCommands, HealthNamesTheLinkWhoseErrorsGrewBetweenTwoFolders) {
  for (const auto* look : {"earlier", "now"})
    write(std::string{look} + "/ibnetdiscover.txt", discovered({1, 2, 3, 4, 5, 6}));
  write("earlier/ibqueryerrors.txt", counted(100));
  write("now/ibqueryerrors.txt", counted(230));

  const auto grown = health("now", "earlier");
  write("now/ibqueryerrors.txt", counted(100));
  const auto still = health("now", "earlier");

  EXPECT_EQ(grown.exit_status, 1);
  EXPECT_THAT(grown.output,
              HasSubstr("n03 mlx5_0 - leaf1 port 3\n  errors: PortRcvErrors grew by 130 "
                        "at n03 mlx5_0: 60 an hour\n  1. Clear the counters"));
  EXPECT_THAT(grown.output, HasSubstr("1 of 6 links have something wrong"));
  EXPECT_EQ(still.exit_status, 0) << still.output << still.error;
}

TEST_F(FabricCommands, ARepairIsFollowedUntilItHelped) {
  using std::chrono::minutes;
  write_inventory();
  write_look("a", 100, minutes{600});
  write_look("b", 230, minutes{470});
  write_look("c", 230, minutes{400});
  write_look("d", 300, minutes{270});
  write_look("e", 300, minutes{140});
  write_look("f", 300, minutes{10});
  const auto repaired = [&](const char* did, const char* ago) {
    return cupel({"fabric", "repaired", "n03/mlx5_0", "-i", at("inventory.yaml"), "--did", did,
                  "--note", "by the book", "--ago", ago});
  };

  EXPECT_THAT(health("b", "a").output, HasSubstr("  1. Clear the counters"));
  const auto recorded = repaired("reseat", "420m");
  const auto worse = health("d", "c");
  ASSERT_EQ(repaired("transceivers", "200m").exit_status, 0);
  const auto between = health("e", "d");
  const auto better = health("f", "e");
  const auto history = cupel({"fabric", "history", "leaf1/3"});

  EXPECT_EQ(recorded.exit_status, 0) << recorded.error;
  EXPECT_THAT(recorded.output, HasSubstr("recorded: reseat at n03 mlx5_0 - leaf1 port 3"));
  EXPECT_EQ(worse.exit_status, 1);
  EXPECT_THAT(worse.output, HasSubstr("  tried: reseat on "));
  EXPECT_THAT(worse.output, HasSubstr("  1. Replace the transceivers"));
  EXPECT_THAT(worse.output, HasSubstr("(by the book) did not help: was errors, now errors"));
  EXPECT_THAT(between.output, HasSubstr("not judged yet: the first look"));
  EXPECT_EQ(better.exit_status, 0) << better.output;
  EXPECT_THAT(better.output, HasSubstr("(by the book) helped: was errors, now nothing"));
  EXPECT_THAT(history.output, ContainsRegex("errors: PortRcvErrors.*reseat.*errors: "
                                            "PortRcvErrors.*transceivers.*nothing is wrong"));
}

TEST_F(FabricCommands, ARepairOfAPortThatThePlanDoesNotHaveIsNotRecorded) {
  write_inventory();

  const auto wrong =
      cupel({"fabric", "repaired", "n03/mlx5_9", "-i", at("inventory.yaml"), "--did", "reseat"});

  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_THAT(wrong.error, HasSubstr("the cable plan has no port 'n03/mlx5_9'"));
  EXPECT_THAT(cupel({"fabric", "history"}).output, HasSubstr("nothing is recorded"));
}

TEST_F(FabricCommands, HealthOfWhatCouldNotBeJudgedIsNoPass) {
  write("now/ibnetdiscover.txt", discovered({1, 2, 3, 4, 5, 6}));
  write("now/ibqueryerrors.txt", "");
  write("empty/ibnetdiscover.txt", "");

  const auto once = cupel({"fabric", "health", at("now")});
  const auto blind = cupel({"fabric", "health", at("empty")});
  const auto wrong = cupel({"fabric", "health", at("nothing")});

  EXPECT_EQ(once.exit_status, 3);
  EXPECT_THAT(once.output,
              HasSubstr("not judged: ibqueryerrors.txt: ibqueryerrors checked no node"));
  EXPECT_EQ(blind.exit_status, 3);
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_THAT(wrong.error, HasSubstr("Save one there as ibnetdiscover.txt"));
}

TEST_F(FabricCommands, WatchReportsEachMoveAndEndsWhenAllCablesAreInTheirPorts) {
  write_inventory();
  write("found.txt", discovered({2, 1, 3, 4, 6, 5}));

  RunningCupel watch{{"fabric", "audit", "-i", at("inventory.yaml"), "--ibnetdiscover",
                      at("found.txt"), "--watch"}};

  ASSERT_TRUE(watch.says("2 of 6 cables are in their ports; 2 findings"));
  write("found.txt", "");
  ASSERT_TRUE(watch.says("not judged: "));
  write("found.txt", discovered({1, 2, 3, 4, 6, 5}));
  ASSERT_TRUE(watch.says("done: Swap the plugs in leaf1 port 2"));
  ASSERT_TRUE(watch.says("4 of 6 cables are in their ports; 1 findings"));
  write("found.txt", discovered({1, 2, 3, 4, 5, 6}));
  ASSERT_TRUE(watch.says("6 of 6 cables are in their ports"));
  EXPECT_EQ(watch.wait(), 0);
}

}  // namespace
}  // namespace cupel::e2e
