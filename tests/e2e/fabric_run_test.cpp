// The fabric of a virtual rack, measured by the controller as it is: cables against the plan, pairs
// in rounds over SSH, and a verdict that names the part.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

/// Nine nodes in three leaf groups, two rails, three uplinks of each leaf.
constexpr const char* kRack = R"(rack: f01
profile: dgx-h100
nodes: f01-n[1-9]
bmc: 127.67.1.[1-9]
ssh: 127.67.2.[1-9]
ports: {bmc: 0, ssh: 0}
fabric: {hcas: [mlx5_0, mlx5_6], group: 3, spines: 3, uplinks: 1}
)";

class LongFabricRunTest : public ::testing::Test {
 protected:
  LongFabricRunTest() {
    std::string made = (std::filesystem::temp_directory_path() / "cupel-fabric-XXXXXX").string();
    folder = ::mkdtemp(made.data());
  }
  ~LongFabricRunTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  Ran measure(const std::string& faults, std::vector<std::string> more = {}) const {
    std::ofstream{folder / "rack.yaml"} << kRack << faults;
    std::vector<std::string> words{CUPEL_BINARY,
                                   "rehearse",
                                   "fabric",
                                   "--rack",
                                   (folder / "rack.yaml").string(),
                                   "--folder",
                                   (folder / "rack").string(),
                                   "--set",
                                   "wait=4m"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {}, std::chrono::seconds{400});
  }

  std::string show(const std::string& node) const {
    return run({CUPEL_BINARY, "--state", (folder / "rack" / "state").string(), "show", node}, {},
               std::chrono::seconds{60})
        .out;
  }

  std::filesystem::path folder;
};

const std::vector<std::string> kByDestination{"--set", "routing=by-destination"};

TEST_F(LongFabricRunTest, NamesASlowCableOnItsNodeAndASlowUplinkOnTheNodesBehindIt) {
  const auto ran = measure(R"(faults:
  - {node: f01-n2, fault: cable-slow, part: mlx5_6, share: 0.5}
  - {node: f01-n4, fault: uplink-slow, part: mlx5_0, uplink: 1, share: 0.4}
)",
                           kByDestination);

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(show("f01-n2"), AllOf(HasSubstr("fail"), HasSubstr("fabric.link.loss"),
                                    HasSubstr("link f01-n2/mlx5_6 - leaf1-r2 port 2")));
  for (const auto* node : {"f01-n4", "f01-n5", "f01-n6"})
    EXPECT_THAT(show(node), AllOf(HasSubstr("port:leaf2-r1/5"), HasSubstr("fabric.switch.loss")));
  for (const auto* node : {"f01-n1", "f01-n3", "f01-n7", "f01-n8", "f01-n9"})
    EXPECT_THAT(show(node), Not(HasSubstr("fabric.switch.loss"))) << node;
  EXPECT_THAT(ran.out, HasSubstr("5 pass, 4 fail")) << ran.out;
}

TEST_F(LongFabricRunTest, NamesSwappedCablesOnTheirNodeAndNoOther) {
  const auto ran = measure(R"(faults:
  - {node: f01-n3, fault: cables-swapped, part: mlx5_0, with: mlx5_6}
)");

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(show("f01-n3"), AllOf(HasSubstr("fabric.cable.wrong"), HasSubstr("swapped"),
                                    HasSubstr("leaf1-r2 port 3")));
  for (const auto* node : {"f01-n1", "f01-n4", "f01-n8", "f01-n9"})
    EXPECT_THAT(show(node), HasSubstr("pass")) << node;
}

/// As ib_write_bw of perftest 6 prints it, on nodes that are one sshd: what is slow are the flows
/// of mlx5_1 of the third node.
constexpr const char* kStandIn = R"(#!/bin/sh
peer= device=
while [ $# -gt 0 ]; do
  case "$1" in
    -d) device=$2; shift 2 ;;
    -p|-D|-s) shift 2 ;;
    -*) shift ;;
    *) peer=$1; shift ;;
  esac
done
[ -n "$peer" ] || exit 0
set -- $SSH_CONNECTION
rate=39$(($$ % 2)).50
if [ "$device" = mlx5_1 ]; then
  case "$3 $peer" in *127.70.1.3*) rate=201.25 ;; esac
fi
echo ' #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]'
echo " 1048576    465000           0.00               $rate             0.046"
)";

constexpr const char* kPairsOfNodes = R"(playbook: pairs
limits: {fabric: 1}
steps:
  - step: ssh-wait
  - stage: fabric-pairs
    group_by: all
    with: {duration: 2s}
    claims: [{resource: fabric, scope: site, count: 1}]
  - step: verdict
)";

constexpr const char* kPairsProfile = R"(profile: lab
description: the machine that runs the tests
units: 1
power: {idle: 100, loaded: 200}
criteria:
  fabric-pairs:
    - {measure: fabric.flows, at_least: 1, unit: count, source: any}
    - {measure: fabric.link.loss, parts: "*", at_most: 0, unit: "%", source: any}
)";

class FabricNodesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_SITE();
    site = std::make_unique<Site>(4, Site::Slurm::none);
    const std::filesystem::path tools = site->sshd->file("path");
    std::filesystem::create_directories(tools);
    std::ofstream{tools / "ib_write_bw"} << kStandIn;
    std::filesystem::permissions(tools / "ib_write_bw", std::filesystem::perms::owner_all);
    site->write("profiles/lab.yaml", kPairsProfile);
    site->write("pairs.yaml", kPairsOfNodes);
  }
  void plan(const std::string& cables) const {
    site->write("inventory.yaml", site->read("inventory.yaml") + cables);
  }

  std::unique_ptr<Site> site;
};

TEST_F(FabricNodesTest, MeasuresPairsInRoundsOverSshAndNamesTheLink) {
  plan("fabric: {hcas: [mlx5_0, mlx5_1], group: 4}\n");

  const auto ran = site->run({"run", "pairs.yaml"});

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(site->run({"show", "s01-n03"}).out,
              AllOf(HasSubstr("mlx5_1"), HasSubstr("fabric.link.loss"),
                    HasSubstr("link s01-n03/mlx5_1 - leaf1-r2 port 3")));
  for (const auto* node : {"s01-n01", "s01-n02", "s01-n04"})
    EXPECT_THAT(site->run({"show", node}).out, AllOf(HasSubstr("pass"), HasSubstr("fabric.flows")))
        << node;
}

TEST_F(FabricNodesTest, LeavesOutNodesThatTheCablePlanDoesNotHave) {
  plan("fabric: {nodes: \"s01-n[01-02]\", hcas: [mlx5_0], group: 4}\n");

  const auto planned = site->run({"plan", "pairs.yaml", "--json"});
  const auto ran = site->run({"run", "pairs.yaml"});

  EXPECT_EQ(planned.status, 0) << planned.err;
  EXPECT_THAT(site->run({"show", "s01-n01"}).out, HasSubstr("fabric.flows")) << ran.out;
  EXPECT_THAT(site->run({"show", "s01-n04"}).out,
              HasSubstr("the inventory's cable plan (fabric:) does not have the node"));
}

}  // namespace
}  // namespace cupel::testing
