#include "orchestrator/handoff/slurm.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "inventory/expected_parts.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"
#include "orchestrator/handoff/scontrol.h"
#include "orchestrator/handoff/slurm_conf.h"
#include "tests/support/captures.h"
#include "tests/support/damage.h"

namespace cupel::handoff {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As slurm 22.05 prints it for a drained node.
constexpr std::string_view kDrained =
    "NodeName=node01 Arch=x86_64 CoresPerSocket=1 CPUAlloc=0 CPUEfctv=128 CPUTot=128 CPULoad=0.52 "
    "AvailableFeatures=h100,ib ActiveFeatures=h100 Gres=gpu:h100:8(S:0-1) NodeAddr=127.0.0.1 "
    "NodeHostName=localhost Port=17001 Version=22.05.8 OS=Linux 6.1.0 #1 SMP Debian 6.1.0-1 "
    "RealMemory=1500000 AllocMem=0 FreeMem=20000 Sockets=128 Boards=1 "
    "State=IDLE+DRAIN+DYNAMIC_NORM* "
    "ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=gpu "
    "BootTime=2026-11-21T07:00:00 SlurmdStartTime=2026-11-21T07:10:00 LastBusyTime=Unknown "
    "CfgTRES=cpu=128,mem=1500000M,billing=128 AllocTRES= CapWatts=n/a CurrentWatts=0 AveWatts=0 "
    "ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s "
    "Reason=cupel: not qualified (run 3), Wanted=all [root@2026-11-21T07:11:00]\n";

TEST(ParseSlurmNode, ReadsTheLineByItsKeys) {
  const auto node = parse_slurm_node(kDrained).value();

  EXPECT_EQ(node.name, "node01");
  EXPECT_THAT(node.state, ElementsAre("IDLE", "DRAIN", "DYNAMIC_NORM", "NOT_RESPONDING"));
  EXPECT_TRUE(node.drained());
  EXPECT_FALSE(node.busy());
  EXPECT_EQ(node.reason, "cupel: not qualified (run 3), Wanted=all");
  EXPECT_EQ(node.cpus, 128);
  EXPECT_EQ(node.memory_bytes, 1500000.0 * 1024 * 1024);
  EXPECT_EQ(node.gres, "gpu:h100:8(S:0-1)");
  EXPECT_THAT(node.features, ElementsAre("h100", "ib"));
}

TEST(ParseSlurmNode, IsIdleWhereItHasNoJobsAndWouldTakeOne) {
  const auto idle = [](const std::string& state) {
    return parse_slurm_node("NodeName=a State=" + state).value().idle();
  };

  EXPECT_TRUE(idle("IDLE"));
  EXPECT_TRUE(idle("IDLE+CLOUD"));
  for (const auto* state :
       {"MIXED", "ALLOCATED", "IDLE+COMPLETING", "IDLE+DRAIN", "IDLE*", "IDLE+PLANNED", "RESERVED",
        "IDLE+MAINTENANCE", "IDLE+CLOUD+POWERED_DOWN", "DOWN", "UNKNOWN"})
    EXPECT_FALSE(idle(state)) << state;
}

TEST(ParseSlurmNode, RefusesWhatIsNoNode) {
  for (const auto text : {"", "Node none not found", "slurm_load_node error: x"})
    EXPECT_EQ(parse_slurm_node(text).error().code, Code::kMalformed) << text;
}

TEST(OneLineReason, FitsIntoSlurmsTools) {
  EXPECT_EQ(one_line_reason("a \"b\" 'c'\x1b[31m\nd"), "a b c[31md");
  EXPECT_LE(one_line_reason(std::string(5000, 'x')).size(), 240);
}

TEST(WithShortUrls, LeavesTheCauseInFrontOfWhatTheToolsCutOff) {
  const std::string path = "/redfish/v1/Chassis/HGX_Chassis_0/PCIeDevices/HGX_GPU_SXM_1";
  EXPECT_EQ(with_short_urls("step bmc-facts: https://10.0.0.1" + path + ": HTTP 401; see http://b" +
                            path),
            "step bmc-facts: https://10.0.0.1/... HTTP 401; see http://b/...");
  EXPECT_EQ(with_short_urls("https://10.0.0.1/redfish/v1: refused"),
            "https://10.0.0.1/redfish/v1: refused");
  for (const auto* same : {"", "no URL", "://", "a://", "https://", "x ://y"})
    EXPECT_EQ(with_short_urls(same), same);
}

inventory::Inventory two_nodes() {
  inventory::Inventory inventory;
  inventory::Profile profile;
  profile.name = "p";
  profile.gpu_type = "h100";
  profile.slurm_cpus = 224;
  profile.slurm_memory_bytes = 1000.0 * 1024 * 1024;
  inventory::ExpectedParts gpus;
  gpus.kind = inventory::PartKind::gpu;
  gpus.count = 8;
  profile.parts.push_back(gpus);
  inventory.profiles.emplace("p", profile);
  for (const int i : {1, 2}) {
    inventory::Node node;
    node.name = "n" + std::to_string(i);
    node.slurm_name = node.name;
    node.profile = "p";
    node.ssh.endpoint = {"10.0.0." + std::to_string(i), 22};
    inventory.nodes.push_back(node);
  }
  return inventory;
}

TEST(SlurmConf, PrintsWhatTheInventoryImplies) {
  EXPECT_EQ(slurm_conf(two_nodes()),
            "# slurm.conf\n"
            "GresTypes=gpu\n"
            "NodeName=n[1-2] NodeAddr=10.0.0.[1-2] CPUs=224 RealMemory=1000 Gres=gpu:h100:8 "
            "State=UNKNOWN\n"
            "PartitionName=gpu Nodes=n[1-2] State=UP\n"
            "# gres.conf\n"
            "NodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n");
}

TEST(SlurmConf, DoesNotZipWhatDoesNotFoldAlike) {
  auto inventory = two_nodes();
  std::swap(inventory.nodes[0].ssh.endpoint, inventory.nodes[1].ssh.endpoint);

  const auto text = slurm_conf(inventory);

  EXPECT_THAT(text, HasSubstr("NodeName=n1 NodeAddr=10.0.0.2 "));
  EXPECT_THAT(text, HasSubstr("NodeName=n2 NodeAddr=10.0.0.1 "));
}

TEST(SlurmConf, SaysWhereSlurmDisagrees) {
  const auto inventory = two_nodes();
  auto node = parse_slurm_node(kDrained).value();

  const auto found = disagreements(inventory.profiles.at("p"), node);

  EXPECT_THAT(found, ElementsAre("node01: Slurm has CPUs=128, the profile says 224"));
}

TEST(ScontrolPing, PartsTheLinesOfAnErrorOfScontrol) {
  const cupel::test::TemporaryFolder folder;
  const auto program = folder.path() / "scontrol";
  std::ofstream{program}
      << "#!/bin/sh\nprintf 'scontrol: error: one\\nscontrol: fatal: two\\n' >&2; exit 1\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  asio::io_context io{1};
  const auto answer = run_to_end(io, Scontrol{""}.ping(Deadline::in(std::chrono::seconds{60})));
  ::setenv("PATH", path.c_str(), 1);

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what,
            "scontrol ended with exit status 1: scontrol: error: one; scontrol: fatal: two");
}

TEST(SlurmNodeTest, IsReadOrRefusedHoweverItsLineWasDamaged) {
  std::mt19937 random{20261121};
  const std::string line =
      "NodeName=n1 CPUTot=224 RealMemory=1945600 Gres=gpu:h100:8(S:0-1) AvailableFeatures=a,b "
      "State=IDLE+DRAIN* Reason=cupel: not qualified (run 3) [root@2026-11-21T08:00:00]";
  for (int round = 0; round < 20'000; ++round) {
    const auto node = parse_slurm_node(cupel::test::damaged(line, random));

    if (node) {
      EXPECT_FALSE(node->name.empty());
      EXPECT_FALSE(node->state.empty());
    }
  }
}

}  // namespace
}  // namespace cupel::handoff
