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

  Ran measure(const std::string& faults, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"--set", "wait=4m"};
    words.insert(words.end(), more.begin(), more.end());
    return rehearse("fabric", faults, words);
  }
  Ran rehearse(const std::string& playbook, const std::string& faults,
               const std::vector<std::string>& more) const {
    std::ofstream{folder / "rack.yaml"} << kRack << faults;
    std::vector<std::string> words{CUPEL_BINARY,
                                   "rehearse",
                                   playbook,
                                   "--rack",
                                   (folder / "rack.yaml").string(),
                                   "--folder",
                                   (folder / "rack").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {}, std::chrono::seconds{600});
  }

  std::string show(const std::string& node) const {
    return run({CUPEL_BINARY, "--state", (folder / "rack" / "state").string(), "show", node}, {},
               std::chrono::seconds{60})
        .out;
  }

  /// What is reported to exchange next, of the links that the run found slow.
  std::string after_swap() const {
    const auto state = folder / "rack" / "state";
    return run({CUPEL_BINARY, "--state", state.string(), "fabric", "after-swap", "--inventory",
                (folder / "rack" / "inventory.yaml").string()},
               {}, std::chrono::seconds{60})
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
  const auto next = after_swap();
  EXPECT_THAT(next, HasSubstr("2 slow links")) << next;
  EXPECT_THAT(next, HasSubstr("next: exchange the plugs of leaf1-r2/2,leaf1-r2/1, then: cupel run "
                              "fabric --nodes 'f01-n[1-3]' --set exchanged=leaf1-r2/2,leaf1-r2/1"));
  EXPECT_THAT(next, HasSubstr("next: exchange the plugs of leaf2-r1/5,leaf2-r1/4, then: cupel run "
                              "fabric --nodes 'f01-n[1-9]' --set routing=by-destination"));
}

TEST_F(LongFabricRunTest, TracesASlowUplinkByPortCountersWhereRoutingIsNotKnown) {
  const auto ran = measure(R"(faults:
  - {node: f01-n4, fault: uplink-slow, part: mlx5_0, share: 0.4}
)");

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  for (const auto* node : {"f01-n4", "f01-n5", "f01-n6"})
    EXPECT_THAT(show(node), AllOf(HasSubstr("port:leaf2-r1/4"), HasSubstr("fabric.switch.loss")));
  EXPECT_THAT(ran.out, HasSubstr("6 pass, 3 fail")) << ran.out;
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

TEST_F(LongFabricRunTest, NamesNodesWhoseNcclIsSlowOrDoesNotBeginThoughTheirLinksAreClean) {
  const auto ran = measure(R"(faults:
  - {node: f01-n3, fault: nccl-setting, setting: NCCL_IB_HCA, value: "=mlx5_0"}
  - {node: f01-n7, fault: ports-blocked}
)");

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("7 pass, 2 fail")) << ran.out;
  EXPECT_THAT(show("f01-n3"),
              AllOf(HasSubstr("f01-n3: nccl.loss"), Not(HasSubstr(": fabric.link.loss"))));
  EXPECT_THAT(show("f01-n7"), AllOf(HasSubstr("nccl.absent"), HasSubstr("met none of its")));
}

TEST_F(LongFabricRunTest, OfANewRackIsMeasuredAfterTheNodesThemselves) {
  const auto ran = rehearse("new-rack", R"(faults:
  - {node: f01-n3, fault: nccl-setting, setting: NCCL_IB_HCA, value: "=mlx5_0"}
  - {node: f01-n8, fault: cable-slow, part: mlx5_6, share: 0.5}
)",
                            {"--set", "soak=6m", "--set", "canary=9", "--set", "power=no"});

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("7 pass, 2 fail")) << ran.out;
  EXPECT_THAT(show("f01-n3"), HasSubstr("nccl.loss"));
  EXPECT_THAT(show("f01-n8"), HasSubstr("fabric.link.loss"));
}

TEST_F(LongFabricRunTest, RunsCollectivesToTheEndWithoutANodeThatDiesInThem) {
  const auto ran = measure(R"(faults:
  - {node: f01-n5, fault: kernel-panic, under: collective}
)");

  EXPECT_NE(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(show("f01-n5"), Not(HasSubstr("f01-n5  pass")));
  for (const auto* node : {"f01-n4", "f01-n6", "f01-n8"})
    EXPECT_THAT(show(node), AllOf(HasSubstr("pass"), HasSubstr("nccl.absent"))) << node;
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

/// With the programs that the nodes have, among them cupel-node: nothing is brought to the machine
/// that runs the tests.
Ran run_on_nodes(Site& site, const std::string& playbook) {
  const std::filesystem::path tools = site.sshd->file("path"), none = site.folder / "no-programs";
  std::filesystem::create_directory(none);
  // A copy: a job finds programs beside the one that looks after it first.
  if (!std::filesystem::exists(tools / "cupel-node"))
    std::filesystem::copy_file(NODE_BINARY, tools / "cupel-node");
  return site.run({"--programs", none.string(), "run", playbook, "--programs-on-nodes"});
}

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

  const auto ran = run_on_nodes(*site, "pairs.yaml");

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
  const auto ran = run_on_nodes(*site, "pairs.yaml");

  EXPECT_EQ(planned.status, 0) << planned.err;
  EXPECT_THAT(site->run({"show", "s01-n01"}).out, HasSubstr("fabric.flows")) << ran.out;
  EXPECT_THAT(site->run({"show", "s01-n04"}).out,
              HasSubstr("the inventory's cable plan (fabric:) does not have the node"));
}

/// As cupel-burn behaves in a group of nodes, each of two GPUs, that are one sshd. The files `deaf`
/// and `stuck` beside it name an address that reaches nobody, and one whose ranks hang.
constexpr const char* kBurnStandIn = R"sh(#!/bin/sh
folder=$(dirname "$0")
set -- $* -- $SSH_CONNECTION
command=$1 make= base=0 ranks=0
while [ "$1" != -- ]; do
  case "$1" in
    --make-id) make=yes ;;
    --rank-base) base=$2 ;;
    --ranks) ranks=$2 ;;
  esac
  shift
done
here=$4
start() {
  echo '{"kind":"start","program":"cupel-burn","version":"0","protocol":1,"command":"'$1'","nccl":"2.28.9","gpus":[],"parameters":{}}'
}
finish() {
  echo '{"kind":"end","seconds":1,"faults":0,"complete":'$1',"stopped":false}'
  exit $2
}
start $command
if [ $command = nccl-id ]; then
  read -r id
  if [ "$(cat "$folder/deaf" 2>/dev/null)" = "$here" ]; then
    echo '{"kind":"error","code":"nccl","message":"no TCP connection to the first node"}'
    finish false 2
  fi
  finish true 0
fi
if [ -n "$make" ]; then
  digits=$(echo "$here" | tr . ' ' | xargs printf '%02x%02x%02x%02x')
  id=9a5de56de6ae7fa60200987b$digits$(printf '%0224d' 0)
  echo '{"kind":"nccl-id","id":"'$id'","address":"'$here'","port":39035,"nccl":"2.28.9"}'
else
  read -r id
fi
met=$folder/$(echo "$id" | cut -c1-32)
mkdir -p "$met"
mkfifo "$met/go$base"
: >"$met/here$base"
# The last one to come wakes the others.
if [ "$(ls "$met" | grep -c ^here)" -ge $((ranks / 2)) ] && mkdir "$met/last" 2>/dev/null; then
  for go in "$met"/go*; do
    [ "$go" = "$met/go$base" ] || timeout 20 sh -c 'echo > "$1"' - "$go"
  done
elif ! timeout 20 cat "$met/go$base" >/dev/null; then
  echo '{"kind":"error","code":"nccl","message":"not all others came"}'
  finish false 2
fi
echo '{"kind":"joined","base":'$base',"here":2,"of":'$ranks'}'
stuck=$(cat "$folder/stuck" 2>/dev/null)
if [ -n "$stuck" ]; then
  entered=7,7
  [ "$stuck" = "$here" ] && entered=7,6
  echo '{"kind":"hang","part":"","doing":"all_reduce","seconds":60}'
  echo '{"kind":"ranks","base":'$base',"of":'$ranks',"entered":['$entered'],"doing":"all_reduce of 64 KiB"}'
  finish false 3
fi
for name in time:us:5 algbw:GB/s:60 busbw:GB/s:90; do
  unit=${name#*:}
  echo '{"kind":"result","name":"across.'${name%%:*}'","part":"","value":'${unit#*:}',"unit":"'${unit%:*}'","labels":{"op":"all_reduce","bytes":"1073741824","ranks":"'$ranks'"},"count":1,"spread":0}'
done
finish true 0
)sh";

constexpr const char* kNcclOfNodes = R"(playbook: nccl
limits: {fabric: 1}
steps:
  - step: ssh-wait
  - stage: fabric-nccl
    group_by: all
    with: {ranks: "2", join: 20s, duration: 20s}
    claims: [{resource: fabric, scope: site, count: 1}]
  - step: verdict
)";

constexpr const char* kNcclProfile = R"(profile: lab
description: the machine that runs the tests
units: 1
power: {idle: 100, loaded: 200}
criteria:
  fabric-nccl:
    - {measure: nccl.absent, at_most: 0, unit: count, source: any}
    - {measure: nccl.all_reduce.busbw, at_least: 80, unit: GB/s, source: any}
    - {measure: nccl.undecided, parts: "*", at_most: 0, unit: count, source: any}
)";

class NcclNodesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_SITE();
    site = std::make_unique<Site>(3, Site::Slurm::none);
    tools = site->sshd->file("path");
    std::filesystem::create_directories(tools);
    std::ofstream{tools / "cupel-burn"} << kBurnStandIn;
    std::filesystem::permissions(tools / "cupel-burn", std::filesystem::perms::owner_all);
    site->write("profiles/lab.yaml", kNcclProfile);
    site->write("nccl.yaml", kNcclOfNodes);
  }
  Ran run() const { return run_on_nodes(*site, "nccl.yaml"); }
  std::string show(const std::string& node) const { return site->run({"show", node}).out; }
  /// How many nodes began the collective itself.
  int begun() const {
    int count = 0;
    for (const auto& each : std::filesystem::recursive_directory_iterator{tools})
      count += each.path().filename().string().starts_with("here") ? 1 : 0;
    return count;
  }

  std::unique_ptr<Site> site;
  std::filesystem::path tools;
};

TEST_F(NcclNodesTest, CarriesTheIdFromTheFirstNodeToTheOthersAndJudgesTheirRate) {
  const auto ran = run();

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(begun(), 3);
  for (const auto* node : {"s01-n01", "s01-n02", "s01-n03"})
    EXPECT_THAT(show(node), AllOf(HasSubstr("pass"), HasSubstr("nccl.all_reduce.busbw"))) << node;
}

TEST_F(NcclNodesTest, BeginsOnNoOtherNodeWhereOneCannotReachTheFirst) {
  std::ofstream{tools / "deaf"} << "127.70.1.3";

  const auto ran = run();

  EXPECT_NE(ran.status, 0) << ran.out << ran.err;
  EXPECT_LE(begun(), 1) << "the first one waits, nobody comes";
  EXPECT_THAT(ran.out + ran.err + show("s01-n03"), HasSubstr("no TCP connection")) << ran.out;
}

TEST_F(NcclNodesTest, NamesTheNodeWhoseRankDidNotGoOnAndLeavesTheOthersInconclusive) {
  std::ofstream{tools / "stuck"} << "127.70.1.2";

  const auto ran = run();

  EXPECT_NE(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(show("s01-n02"), AllOf(HasSubstr("fail"), HasSubstr("nccl.absent"),
                                     HasSubstr("rank 3"), HasSubstr("has not entered")));
  EXPECT_THAT(ran.out, HasSubstr("0 pass, 1 fail, 2 inconclusive"));
  for (const auto* node : {"s01-n01", "s01-n03"})
    EXPECT_THAT(show(node), HasSubstr("nccl.undecided")) << node;
}

}  // namespace
}  // namespace cupel::testing
