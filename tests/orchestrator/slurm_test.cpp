#include "orchestrator/handoff/slurm.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "base/text.h"
#include "inventory/expected_parts.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"
#include "orchestrator/handoff/gres_conf.h"
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

SlurmNode known_node(std::string name, std::string gres) {
  SlurmNode node;
  node.name = std::move(name);
  node.cpus = 128;
  node.gres = std::move(gres);
  return node;
}

GresFindings found_in(std::string_view text, std::string gres,
                      const std::map<std::string, std::string>& included = {}) {
  const std::vector nodes{known_node("n1", gres), known_node("n2", gres)};
  return gres_findings(
      "gres.conf", text, nodes, [&](const std::string& name) -> std::optional<std::string> {
        const auto found = included.find(name);
        return found == included.end() ? std::nullopt : std::optional{found->second};
      });
}

std::vector<std::string> faults_of(std::string_view text, std::string gres = "gpu:h100:8(S:0-1)") {
  return found_in(text, std::move(gres)).faults;
}

TEST(GresConf, IsWellWhereItSaysWhatSlurmHas) {
  EXPECT_THAT(faults_of("# all\nNodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n"),
              ElementsAre());
  EXPECT_THAT(faults_of("name = gpu type = h100 \\\n file = /dev/nvidia[0-7] Cores=0-63 # x\n"),
              ElementsAre());
  EXPECT_THAT(faults_of("Name=gpu File=/dev/nvidia[0-7]\nName=shard Count=8\n", "gpu:8,shard:8"),
              ElementsAre());
  EXPECT_THAT(faults_of("AutoDetect=nvml\n"), ElementsAre());
  EXPECT_THAT(faults_of("AutoDetect=nvml\nName=gpu Type=h100 File=/dev/nvidia[0-3]\n"),
              ElementsAre())
      << "slurmd compares these with what it finds";
  EXPECT_THAT(faults_of("AutoDetect=nvml\nNodeName=n[1-2] AutoDetect=off Name=gpu Type=h100 "
                        "File=/dev/nvidia[0-7]\n"),
              ElementsAre());
}

// Each of these was given to slurmd 22.05 -G, which takes it.
TEST(GresConf, IsReadAsSlurmReadsIt) {
  EXPECT_THAT(faults_of("Name=gpu Type=h100 File=/dev/nvidia[0-3],\\\n/dev/nvidia[4-7]\n"),
              ElementsAre())
      << "nothing comes between the parts of a line that goes on";
  EXPECT_THAT(faults_of("NodeName=n1,,n2, Name=gpu Type=H100 File=/dev/nvidia[0-7],\r\n"),
              ElementsAre());
  EXPECT_THAT(faults_of("\tNAME=GPU TYPE=h100 FILE=\"/dev/nvidia[0-7]\" COUNT+=8 \\# \\\n\n"),
              ElementsAre(HasSubstr("no KEY=VALUE")))
      << "an escaped # begins no comment";
  EXPECT_THAT(
      faults_of("NAME=GPU TYPE=h100 FILE=\"/dev/nvidia[0-7]\" COUNT+=8\\ # on\n Cores=0-62:2"),
      ElementsAre());
  EXPECT_THAT(faults_of("NodeName=cpu[1-9] Name=gpu Count=0\nNodeName=n[1-2] Name=gpu Type=h100 "
                        "File=/dev/nvidia[0-7] Cores=[0-63]\n"),
              ElementsAre());
  EXPECT_THAT(faults_of("Name=gpu File=/dev/nvidia0\n", "gpu"), ElementsAre());
  EXPECT_THAT(faults_of("Name=gpu Type=h100 File=/dev/nvidia0\n", "gpu:h100"), ElementsAre());
  EXPECT_THAT(faults_of("Name=gpu Type=h100 File=/dev/nvidia[0-1]\n", "gpu:h100:no_consume:2"),
              ElementsAre());
  EXPECT_THAT(faults_of("Name=gpu Type=h100 File=/dev/nvidia[0-1]\n", "gpu:2"), ElementsAre())
      << "slurm.conf may leave types out";
  EXPECT_THAT(faults_of("Name=gpu Count=0\n", ""), ElementsAre());
  EXPECT_THAT(faults_of("AutoDetect=nvml\nName=gpu Type=h100 Count=8\n"), ElementsAre())
      << "slurmd fills in the files";
}

TEST(GresConf, NamesWhatSlurmdDoesNotStartWith) {
  EXPECT_THAT(faults_of("AutoDetect=nvml\nName=gpu\nName=gpu File=/dev/nvidia0 CPUs=48-63,176-191\n"
                        "Name=gpu File=/dev/nvidia1 CPUs=48-63,176-191\n  Name=gpu Type=h100 "
                        "File=/dev/nvidia2\n"),
              ElementsAre(HasSubstr("gres.conf:3, 4: core 191, and n1 has 128 CPUs in Slurm"),
                          HasSubstr("gres.conf:2: no File= here"),
                          HasSubstr("gres.conf:2, 3, 4: no Type= here")));
  EXPECT_THAT(faults_of("Name=gpu Type=h100 File=/dev/nvidia[0-7] Coers=1\nnonsense\n"),
              ElementsAre(HasSubstr("gres.conf:1: 'coers' is no key"),
                          HasSubstr("gres.conf:2: what stands there is no KEY=VALUE")));
  EXPECT_THAT(faults_of("Name=gpu Type=h100 Count=7 File=/dev/nvidia[0-7]\n"),
              ElementsAre("gres.conf:1: Count=7 beside 8 files: slurmd does not start"));
  EXPECT_THAT(
      faults_of("Type=h100 Name=gpu File=/dev/nvidia[0-7]\n"
                "Name=gpu \\\n NodeName=n1 File=/dev/nvidia[0-7]\n"
                "AutoDetect=off NodeName=n2\n"),
      ElementsAre(HasSubstr("gres.conf:1: a line begins with NodeName=, Name= or AutoDetect="),
                  HasSubstr("gres.conf:2: NodeName= belongs in front of all other keys"),
                  HasSubstr("gres.conf:4: AutoDetect= in front stands alone")));
  EXPECT_THAT(faults_of("Name=gpu\nName=gpu\n", "gpu:2"),
              ElementsAre(HasSubstr("gres.conf:2: Name=gpu again"), HasSubstr("no gpu")));
  EXPECT_THAT(
      faults_of("Name=gpu MultipleFiles=/dev/nvidia0\nName=gpu File=/dev/nvidia[0-\n", "gpu:2"),
      ElementsAre(HasSubstr("gres.conf:1: MultipleFiles= names one file"),
                  HasSubstr("gres.conf:2: File='/dev/nvidia[0-'")));
}

TEST(GresConf, NamesAnAutoDetectThatIsSaidTwice) {
  EXPECT_THAT(
      faults_of("AutoDetect=nvml\nAutoDetect=off\n"),
      ElementsAre("gres.conf:2: AutoDetect=off again, after AutoDetect=nvml in gres.conf:1: the "
                  "last one counts; leave one",
                  HasSubstr("n[1-2]: gres.conf has no gpu")));
  EXPECT_THAT(
      faults_of("NodeName=n1 AutoDetect=nvml\nNodeName=n[1-2] AutoDetect=off Name=gpu "
                "Type=h100 File=/dev/nvidia[0-7]\n"),
      ElementsAre("gres.conf:2: AutoDetect differs from that of the same node in gres.conf:1: "
                  "slurmd does not start"));
  EXPECT_THAT(faults_of("AutoDetect=nvlm\n"),
              ElementsAre(HasSubstr("AutoDetect=nvlm is none of full, nvml")));
}

TEST(GresConf, NotesWhatIsNoFault) {
  const auto twice = found_in("AutoDetect=nvml\nAutoDetect=NVML\n", "gpu:8");
  const auto old =
      found_in("Name=gpu AutoDetect=off Type=h100 File=/dev/nvidia[0-7] CPUs=0-63\n", "gpu:h100:8");

  EXPECT_THAT(twice.faults, ElementsAre());
  EXPECT_THAT(twice.notes, ElementsAre(HasSubstr("gres.conf:2: AutoDetect=NVML again"),
                                       HasSubstr("n[1-2]: AutoDetect finds the GPUs, which are not "
                                                 "counted here")));
  EXPECT_THAT(old.faults, ElementsAre());
  EXPECT_THAT(old.notes, ElementsAre(HasSubstr("takes no effect without NodeName="),
                                     HasSubstr("CPUs= is the old name of Cores=")));
}

TEST(GresConf, HasWhatItIncludes) {
  constexpr std::string_view kText = "include gpu.conf\nName=shard Count=8\n";
  const auto whole = found_in(kText, "gpu:8", {{"gpu.conf", "Name=gpu File=/dev/nvidia[0-7]\n"}});
  const auto wrong = found_in(kText, "gpu:8", {{"gpu.conf", "\nName=gpu Fiel=/dev/nvidia0\n"}});
  const auto unread = found_in(kText, "gpu:8");
  const auto endless = found_in(kText, "gpu:8", {{"gpu.conf", "Include gpu.conf\n"}});

  EXPECT_TRUE(whole.is_whole);
  EXPECT_THAT(whole.faults, ElementsAre());
  EXPECT_THAT(wrong.faults, ElementsAre(HasSubstr("gpu.conf:2: 'fiel' is no key")));
  EXPECT_FALSE(unread.is_whole);
  EXPECT_THAT(unread.faults, ElementsAre()) << "not read is not wrong";
  EXPECT_THAT(unread.notes,
              ElementsAre(HasSubstr("gres.conf:1: Include 'gpu.conf' cannot be read")));
  EXPECT_THAT(endless.notes, ElementsAre(HasSubstr("8 deep: not read")));
}

TEST(GresConf, CountsGpusAndMigInstancesOfEachNode) {
  constexpr std::string_view kMig =
      "Name=gpu Type=1g.10gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap12\n"
      "Name=gpu Type=1g.10gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap21\n";

  EXPECT_THAT(faults_of(kMig, "gpu:1g.10gb:2"), ElementsAre());
  EXPECT_THAT(faults_of(kMig, "gpu:1g.10gb:7(S:0)"),
              ElementsAre("n[1-2]: gres.conf has gpu:1g.10gb:2, Slurm has gpu:1g.10gb:7: slurmctld "
                          "makes the node INVAL; each MIG instance counts in Gres="));
  EXPECT_THAT(faults_of("NodeName=n1 Name=gpu File=/dev/nvidia[0-7]\n", "gpu:8"),
              ElementsAre("n2: gres.conf has no gpu, Slurm has gpu:8: slurmctld makes the node "
                          "INVAL"));
  EXPECT_THAT(faults_of("Name=gpu File=/dev/nvidia[0-7]\n", ""),
              ElementsAre("n[1-2]: gres.conf has gpu:8, Slurm has no gpu: slurmd leaves out the "
                          "rest"))
      << "no Gres= on the NodeName line: jobs never see a GPU";
  EXPECT_THAT(faults_of("Name=gpu Count=8\n", "gpu:8"),
              ElementsAre(HasSubstr("has no gpu, Slurm has gpu:8: slurmctld makes the node INVAL; "
                                    "Name=gpu without File= counts for none")));
  EXPECT_THAT(faults_of("Name=gpu File=/dev/nvidia[0-7]\n", "gpu:h100:8"),
              ElementsAre(HasSubstr("INVAL; without Type= in gres.conf a GPU is none of a type")))
      << "slurmd 22.05 leaves out all eight";
}

TEST(GresConf, IsReadHoweverItWasDamaged) {
  std::mt19937 random{47};
  const std::string text =
      "AutoDetect=off\nNodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-7] Cores=0-3,8\n";
  for (int round = 0; round < 5'000; ++round)
    for (const auto& fault : faults_of(cupel::test::damaged(text, random))) {
      EXPECT_LE(fault.size(), 1000U);
      EXPECT_EQ(fault, cupel::valid_utf8(cupel::printable(fault)));
    }
  EXPECT_THAT(faults_of("NodeName=n[0-99999] Name=gpu\nNodeName=n[0-\n"),
              ::testing::Contains(HasSubstr("gres.conf:2: NodeName='n[0-'")));
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
